import type { Informer } from '../../core/api/host.js';
import type { Pod } from '../../kinds/v1.js';
import type { RuntimeClass } from '../../kinds/node/v1.js';
import { pathSegment } from '../../core/model/names.js';
import { Refusal } from '../../core/model/refusal.js';
import { isSemanticallyEqual, ownValue } from '../../core/model/record.js';

import { podForbiddenError, mutatorPlugin, POD_CREATES } from './podDraft.js';

/** Adds the overhead, node selector and tolerations of the pod's runtime class. */
export default mutatorPlugin('runtime-class', host => {
  const classes = host.informer('node.orchestrator.io/runtimeclasses') as Informer<RuntimeClass>;
  return {
    on: POD_CREATES,
    mutate: (_change, draft) => {
      const pod = (draft as Pod).spec;
      const refuse = (why: string): Error => podForbiddenError(draft.metadata, why);
      const name = pod.runtimeClassName;
      const asked = pod.overhead;
      if (name === undefined) {
        if (asked) throw refuse('pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead');
        return;
      }
      const found = classes.get('', name);
      const malformed = pathSegment(name);
      if (name === '') throw new Refusal('', 'resource name may not be empty');
      if (malformed.length > 0)
        throw new Refusal('', `invalid resource name ${JSON.stringify(name)}: [${malformed.join(' ')}]`);
      if (!found) throw refuse(`pod rejected: RuntimeClass ${JSON.stringify(name)} not found`);
      const overhead = found.overhead?.podFixed;
      if (asked && !overhead)
        throw refuse('pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead');
      if (asked && !isSemanticallyEqual(asked, overhead))
        throw refuse("pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
      if (overhead) pod.overhead = structuredClone(overhead);
      for (const [key, value] of Object.entries(found.scheduling?.nodeSelector ?? {})) {
        const selector = (pod.nodeSelector ??= {});
        const own = ownValue(selector, key);
        if (own !== undefined && own !== value) {
          throw refuse(
            `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${own}`,
          );
        }
        selector[key] = value;
      }
      const tolerations = pod.tolerations ?? [];
      const more = (found.scheduling?.tolerations ?? []).filter(
        t => !tolerations.some(mine => isSemanticallyEqual(mine, t)),
      );
      if (more.length > 0) pod.tolerations = [...tolerations, ...structuredClone(more)];
    },
  };
});
