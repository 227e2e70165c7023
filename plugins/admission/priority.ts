import { numberAt, recordAt, specOf, stringAt, type UnknownRecord } from '../../core/model/record.js';
import type { ApiObject } from '../../core/model/object.js';

import { podForbiddenError, mutatorPlugin } from './pod-draft.js';

const CLASSES = 'scheduling.orchestrator.io/priorityclasses';

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

const ofClass = (found: ApiObject): Priority => ({
  name: found.metadata.name ?? '',
  value: numberAt(found, 'value') ?? 0,
  preemption: stringAt(found, 'preemptionPolicy') || 'PreemptLowerPriority',
});

function keepOld(pod: UnknownRecord, old: UnknownRecord | undefined): void {
  pod.priority ??= old?.priority;
  pod.preemptionPolicy ??= old?.preemptionPolicy;
  if (pod.priority === undefined) delete pod.priority;
  if (pod.preemptionPolicy === undefined) delete pod.preemptionPolicy;
}

/** Sets the priority of pods to that of their priority class. Clients cannot choose another value. */
export default mutatorPlugin('priority', host => {
  const classes = host.informer(CLASSES);
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
      const pod = specOf(draft);
      if (change.operation === 'UPDATE') return keepOld(pod, recordAt(change.old, 'spec'));
      const asked = stringAt(pod, 'priorityClassName');
      const priority = asked === '' ? globalDefault() : find(asked);
      if (!priority) throw podForbiddenError(draft.metadata.name, `no PriorityClass with name ${asked} was found`);
      const given = numberAt(pod, 'priority');
      if (given !== undefined && given !== priority.value) {
        throw podForbiddenError(
          draft.metadata.name,
          `the integer value of priority (${given}) must not be provided in pod spec; priority admission controller computed ${priority.value} from the given PriorityClass name`,
        );
      }
      const preemption = stringAt(pod, 'preemptionPolicy');
      if (preemption !== '' && preemption !== priority.preemption) {
        throw podForbiddenError(
          draft.metadata.name,
          `the string value of PreemptionPolicy (${preemption}) must not be provided in pod spec; priority admission controller computed ${priority.preemption} from the given PriorityClass name`,
        );
      }
      if (priority.name !== '') pod.priorityClassName = priority.name;
      pod.priority = priority.value;
      pod.preemptionPolicy = priority.preemption;
    },
  };
});
