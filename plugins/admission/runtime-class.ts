import {
  ensureRecord,
  entriesAt,
  isSemanticallyEqual,
  recordAt,
  recordsAt,
  specOf,
  stringAt,
  valueAt,
} from '../../core/model/record.js';

import { podForbiddenError, mutatorPlugin, POD_CREATES } from './pod-draft.js';

/** Adds the overhead, node selector and tolerations of the pod's runtime class. */
export default mutatorPlugin('runtime-class', host => {
  const classes = host.informer('node.orchestrator.io/runtimeclasses');
  return {
    on: POD_CREATES,
    mutate: (_change, draft) => {
      const pod = specOf(draft);
      const refuse = (why: string): Error => podForbiddenError(draft.metadata, why);
      const name = stringAt(pod, 'runtimeClassName');
      const asked = recordAt(pod, 'overhead');
      if (name === '') {
        if (asked) throw refuse('pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead');
        return;
      }
      const found = classes.get('', name);
      if (!found) throw refuse(`pod rejected: RuntimeClass ${JSON.stringify(name)} not found`);
      const overhead = recordAt(found, 'overhead', 'podFixed');
      if (asked && !overhead)
        throw refuse('pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead');
      if (asked && !isSemanticallyEqual(asked, overhead))
        throw refuse("pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
      if (overhead) pod.overhead = structuredClone(overhead);
      for (const [key, value] of entriesAt(found, 'scheduling', 'nodeSelector')) {
        const selector = ensureRecord(pod, 'nodeSelector');
        const own = valueAt(selector, key);
        if (own !== undefined && own !== value) {
          throw refuse(
            `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${String(value)}; pod.spec.nodeSelector[${key}] = ${String(own)}`,
          );
        }
        selector[key] = value;
      }
      const tolerations = recordsAt(pod, 'tolerations');
      const more = recordsAt(found, 'scheduling', 'tolerations').filter(
        t => !tolerations.some(mine => isSemanticallyEqual(mine, t)),
      );
      if (more.length > 0) pod.tolerations = [...tolerations, ...structuredClone(more)];
    },
  };
});
