import { at, entries, get, into, list, same, spec, text } from '../resources/record.js';
import { forbidsPod, mutatorPlugin, POD_CREATES } from './pod-draft.js';

/** Pods of a runtime class get its overhead, node selector and tolerations (spec, "RuntimeClass"). */
export default mutatorPlugin('runtime-class', host => {
  const classes = host.informer('node.orchestrator.io/runtimeclasses');
  return {
    on: POD_CREATES,
    mutate: (_change, draft) => {
      const pod = spec(draft);
      const refuse = (why: string): Error => forbidsPod(draft.metadata.name, why);
      const name = text(pod, 'runtimeClassName');
      const asked = at(pod, 'overhead');
      if (name === '') {
        if (asked) throw refuse('pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead');
        return;
      }
      const found = classes.get('', name);
      if (!found) throw refuse(`pod rejected: RuntimeClass ${JSON.stringify(name)} not found`);
      const overhead = at(found, 'overhead', 'podFixed');
      if (asked && !overhead)
        throw refuse('pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead');
      if (asked && !same(asked, overhead))
        throw refuse("pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
      if (overhead) pod.overhead = structuredClone(overhead);
      for (const [key, value] of entries(at(found, 'scheduling'), 'nodeSelector')) {
        const selector = into(pod, 'nodeSelector');
        const own = get(selector, key);
        if (own !== undefined && own !== value) {
          throw refuse(
            `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${String(value)}; pod.spec.nodeSelector[${key}] = ${String(own)}`,
          );
        }
        selector[key] = value;
      }
      const tolerations = list(pod, 'tolerations');
      const more = list(at(found, 'scheduling'), 'tolerations').filter(t => !tolerations.some(mine => same(mine, t)));
      if (more.length > 0) pod.tolerations = [...tolerations, ...structuredClone(more)];
    },
  };
});
