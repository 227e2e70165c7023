import { type Controller, controller, type Host, type Plugin } from '../../core/api/index.js';
import { WorkQueue } from './queue.js';
import { Requests } from './requests.js';

const NAME = 'system-namespaces';
const SYSTEM_NAMESPACES = ['default', 'orchestrator-system', 'orchestrator-public', 'orchestrator-node-lease'];

/** Keeps the namespaces that clients take for granted in being. */
class SystemNamespaces implements Controller {
  readonly name = NAME;
  readonly #host: Host;
  readonly #names: readonly string[];
  readonly #queue: WorkQueue;

  constructor(host: Host) {
    this.#host = host;
    this.#names = SYSTEM_NAMESPACES.map(name => host.naming.component(name));
    const requests = new Requests(host, NAME);
    const create = async (name: string): Promise<void> => {
      if (host.informer('core/namespaces').get('', name)) return;
      await requests.create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    };
    this.#queue = new WorkQueue({ name: NAME, log: host.log, workers: 4, handle: create });
    host.onClose(() => this.#queue.close());
  }

  async start(): Promise<void> {
    this.#host.watch(({ storageName, type, name }) => {
      if (storageName === 'core/namespaces' && type === 'DELETED' && this.#names.includes(name)) this.#queue.add(name);
    });
    for (const name of this.#names) this.#queue.add(name);
    await this.#queue.idle();
  }
}

/** Creates the system namespaces at the start and again when one is deleted. */
export const systemNamespaces = {
  name: 'controllers/system-namespaces',
  parse: () => ({}),
  contribute: () => [controller.of(host => new SystemNamespaces(host))],
} satisfies Plugin;
