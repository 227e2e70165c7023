import { definePlugin, type Frozen, type Host, type Mutator, mutator, type Plugin } from '../../../core/api/index.js';
import type { Pod } from '../../../kinds/v1.js';
import { podReferences } from './podReferences.js';
import { forbid } from './restriction/forbid.js';

const hasTokens = ({ spec }: Frozen<Pod>): boolean =>
  (spec.volumes ?? []).some(({ projected }) => projected?.sources?.some(source => source.serviceAccountToken));

/** Throws 403 for a mirror pod that refers to objects which only pods with a service account may use. */
function ofCreates({ naming }: Pick<Host<'pool'>, 'naming'>): Mutator {
  const mirror = naming.label('orchestrator.io/config.mirror');
  return {
    on: { groups: [''], resources: ['pods'], operations: ['CREATE'] },
    mutate: (change, draft) => {
      if (!Object.hasOwn(draft.metadata.annotations ?? {}, mirror)) return;
      // Read as if it were not a mirror pod: the references of mirror pods are not gathered.
      const pod = draft as Frozen<Pod>;
      const { serviceAccount, secrets } = podReferences(pod, '');
      const refuse = (what: string): never =>
        forbid({ change, object: draft, node: '', group: '' }, `a mirror pod may not ${what}`);
      if (serviceAccount !== '') refuse('reference service accounts');
      if (secrets.length > 0) refuse('reference secrets');
      if (hasTokens(pod)) refuse('use ServiceAccountToken volume projections');
    },
  };
}

/**
 * Restricts mirror pods of all users to fields that need no service account (spec, "Node authorization"): a
 * part of the admission plugin ServiceAccount.
 */
export default definePlugin({
  name: 'mirror-pods',
  parse: () => null,
  contribute: () => [mutator.of(ofCreates)],
}) satisfies Plugin<null>;
