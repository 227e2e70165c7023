import type { Mutator, Validator } from '../../core/api/admission.js';
import { mutator, validator } from '../../core/api/admission.js';
import type { Host, Informer } from '../../core/api/host.js';
import { definePlugin } from '../../core/api/plugin.js';
import type { Pod } from '../../kinds/v1.js';
import type { RuntimeClass } from '../../kinds/node/v1.js';
import { pathSegment } from '../../core/model/names.js';
import type { Frozen } from '../../core/model/object.js';
import { Refusal } from '../../core/model/refusal.js';
import { isSemanticallyEqual, ownValue } from '../../core/model/record.js';

import { parseNothing, podForbiddenError, POD_CREATES } from './podDraft.js';

type Classes = Informer<RuntimeClass>;

const classesOf = (host: Host<'pool'>): Classes => host.informer('node.orchestrator.io/runtimeclasses') as Classes;

/** The runtime class of a pod; undefined if it names none. Throws for one that does not exist. */
function classOf(classes: Classes, { metadata, spec }: Frozen<Pod>): Frozen<RuntimeClass> | undefined {
  const name = spec.runtimeClassName;
  if (name === undefined) return undefined;
  const found = classes.get('', name);
  const malformed = pathSegment(name);
  if (name === '') throw new Refusal('', 'resource name may not be empty');
  if (malformed.length > 0)
    throw new Refusal('', `invalid resource name ${JSON.stringify(name)}: [${malformed.join(' ')}]`);
  if (!found) throw podForbiddenError(metadata, `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`);
  return found;
}

/** Adds the overhead, node selector and tolerations of the pod's runtime class. */
const addOfClass = (host: Host<'pool'>): Mutator => {
  const classes = classesOf(host);
  return {
    on: POD_CREATES,
    mutate: ({ emptied }, draft) => {
      const found = classOf(classes, draft as Pod);
      if (!found) return;
      const pod = (draft as Pod).spec;
      const refuse = (why: string): Error => podForbiddenError(draft.metadata, why);
      const asked = pod.overhead ?? (emptied?.get('spec')?.has('overhead') ? {} : undefined);
      const overhead = found.overhead?.podFixed;
      if (asked && overhead && !isSemanticallyEqual(asked, overhead))
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
};

/** Refuses pods with an overhead that their runtime class does not have. */
const checkOverhead = (host: Host<'pool'>): Validator => {
  const classes = classesOf(host);
  return {
    on: POD_CREATES,
    validate: ({ emptied }, after) => {
      const pod = after as Frozen<Pod>;
      const asked = pod.spec.overhead ?? emptied?.get('spec')?.has('overhead');
      if (asked && !classOf(classes, pod)?.overhead?.podFixed)
        throw podForbiddenError(
          pod.metadata,
          'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
        );
      return [];
    },
  };
};

/** Adds the overhead, node selector and tolerations of its runtime class to a pod. */
export default definePlugin<undefined>({
  name: 'runtime-class',
  parse: parseNothing,
  contribute: () => [mutator.of(addOfClass), validator.of(checkOverhead)],
});
