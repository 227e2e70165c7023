import type { Pod, PodSpec } from '../../kinds/v1.js';
import type { PriorityClass } from '../../kinds/scheduling/v1.js';
import { mutator, type Mutator, validator, type Validator } from '../../core/api/admission.js';
import type { Informer, Host } from '../../core/api/host.js';
import { definePlugin } from '../../core/api/plugin.js';
import type { Plugin } from '../../core/api/point.js';
import { isAbsent } from '../../core/model/record.js';
import type { Frozen } from '../../core/model/object.js';

import { forbiddenError, parseNothing, podForbiddenError } from './podDraft.js';

const GROUP = 'scheduling.orchestrator.io';

const CLASSES = `${GROUP}/priorityclasses`;

interface Priority {
  readonly name: string;
  readonly value: number;
  readonly preemption: string;
}

/** The priority classes that exist in every cluster. */
const SYSTEM = new Map<string, number>([
  ['system-cluster-critical', 2000000000],
  ['system-node-critical', 2000001000],
]);

const ofClass = (found: PriorityClass): Priority => ({
  name: found.metadata.name ?? '',
  value: found.value,
  preemption: found.preemptionPolicy || 'PreemptLowerPriority',
});

function keepOld(pod: PodSpec, old: Frozen<PodSpec> | undefined): void {
  pod.priority ??= old?.priority;
  pod.preemptionPolicy ??= old?.preemptionPolicy;
  if (pod.priority === undefined) delete pod.priority;
  if (pod.preemptionPolicy === undefined) delete pod.preemptionPolicy;
}

/** Sets the priority of pods to that of their priority class. Clients cannot choose another value. */
function setPriorities(host: Host<'pool'>): Mutator {
  const classes = host.informer(CLASSES) as Informer<PriorityClass>;
  const globalDefault = (): Priority => {
    const marked = classes.list().filter(found => found.globalDefault === true);
    const lowest = marked.map(ofClass).sort((a, b) => a.value - b.value)[0];
    return lowest ?? { name: '', value: 0, preemption: 'PreemptLowerPriority' };
  };
  const find = (name: string): Priority | undefined => {
    const found = classes.get('', name);
    if (found) return ofClass(found);
    const value = SYSTEM.get(name);
    return value === undefined ? undefined : { name, value, preemption: 'PreemptLowerPriority' };
  };
  return {
    on: { groups: [''], resources: ['pods'], operations: ['CREATE', 'UPDATE'] },
    mutate: (change, draft) => {
      const pod = (draft as Pod).spec;
      if (change.operation === 'UPDATE') return keepOld(pod, (change.old as Frozen<Pod> | undefined)?.spec);
      const asked = pod.priorityClassName ?? '';
      const priority = asked === '' ? globalDefault() : find(asked);
      if (!priority) throw podForbiddenError(draft.metadata, `no PriorityClass with name ${asked} was found`);
      const given = pod.priority;
      if (given !== undefined && given !== priority.value) {
        throw podForbiddenError(
          draft.metadata,
          `the integer value of priority (${given}) must not be provided in pod spec; priority admission controller computed ${priority.value} from the given PriorityClass name`,
        );
      }
      const preemption = pod.preemptionPolicy ?? '';
      if (!isAbsent(pod.preemptionPolicy) && preemption !== priority.preemption) {
        throw podForbiddenError(
          draft.metadata,
          `the string value of PreemptionPolicy (${preemption}) must not be provided in pod spec; priority admission controller computed ${priority.preemption} from the given PriorityClass name`,
        );
      }
      if (priority.name !== '') pod.priorityClassName = priority.name;
      pod.priority = priority.value;
      pod.preemptionPolicy = priority.preemption;
    },
  };
}

/** Refuses the deletion of the classes of the system, which components of clusters use. */
function protectSystemClasses(host: Host<'pool'>): Validator {
  const of = { group: host.naming.group(GROUP), resource: 'priorityclasses' };
  return {
    on: { groups: [GROUP], resources: [of.resource], operations: ['DELETE'] },
    validate({ target }) {
      if (!SYSTEM.has(target.name)) return [];
      throw forbiddenError(of, target.name, 'this is a system priority class and cannot be deleted');
    },
  };
}

/** The priority of pods, and the classes that always exist. */
export default definePlugin({
  name: 'priority',
  parse: parseNothing,
  contribute: () => [mutator.of(setPriorities), validator.of(protectSystemClasses)],
}) satisfies Plugin<undefined>;
