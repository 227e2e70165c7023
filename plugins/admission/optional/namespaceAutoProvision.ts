import { type Change, type Mutator, mutator } from '../../../core/api/admission.js';
import type { Host } from '../../../core/api/host.js';
import { definePlugin } from '../../../core/api/plugin.js';
import { type Service, service } from '../../../core/api/plugin/pluginService.js';
import type { Plugin } from '../../../core/api/point.js';
import type { ApiObject } from '../../../core/model/object.js';
import { Refusal } from '../../../core/model/refusal.js';
import { forbiddenError, parseNothing } from '../podDraft.js';

const NAME = 'namespace-auto-provision';

/** Creates a namespace. Returns why it is refused; undefined if it exists now. */
async function provide(host: Pick<Host<'front'>, 'request'>, name: string): Promise<string | undefined> {
  const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
  try {
    await host.request(NAME, { method: 'POST', path: '/api/v1/namespaces', body });
    return undefined;
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown;
    return thrown.reason === 'AlreadyExists' ? undefined : thrown.message;
  }
}

/** Creates namespaces on behalf of the server: the senders of requests need no permission to create them. */
const provider = (host: Pick<Host<'front'>, 'request'>): Service => ({
  name: NAME,
  start: () => undefined,
  ask: question => provide(host, String(question)),
});

const nameOf = ({ view }: Change, { metadata }: ApiObject): string =>
  view.name || metadata.name || metadata.generateName || 'Unknown';

/** Has the namespace of a new object created if it does not exist, except in a dry run. */
function provision(host: Pick<Host<'pool'>, 'informer' | 'service'>): Mutator {
  const namespaces = host.informer('core/namespaces');
  const namespaceProvider = host.service(NAME);
  return {
    on: { operations: ['CREATE'], subresources: ['', 'binding', 'eviction', 'token'] },
    async mutate(change, draft) {
      const { namespace, group, resource } = change.target;
      if (change.dryRun || namespace === '' || (group === '' && resource === 'namespaces')) return;
      if (namespaces.get('', namespace)) return;
      const refused = await namespaceProvider.ask(namespace);
      if (refused !== undefined) throw forbiddenError(change.view.resource, nameOf(change, draft), String(refused));
    },
  };
}

/** Creates the namespace of a new object if it does not exist. */
export default definePlugin<undefined>({
  name: NAME,
  parse: parseNothing,
  contribute: () => [service.of(provider), mutator.of(provision)],
}) satisfies Plugin<undefined>;
