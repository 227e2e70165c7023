import type { Pod } from '../../../../kinds/v1.js';
import type { Frozen } from '../../../../core/model/object.js';
import { isAbsent } from '../../../../core/model/record.js';
import type { Quantity } from '../../../../core/model/quantity.js';
import type { Naming } from '../../../../core/naming.js';
import { isDeviceResource } from './deviceResource.js';
import { addAmounts, type Amounts, amountsOf, podAmounts } from '../../limitRanger/amounts.js';
import { countOf, type Evaluator, objectCount } from './evaluator.js';
import { isInScope } from './scopes.js';

const COMPUTE = ['cpu', 'memory', 'ephemeral-storage'];
const COUNT = objectCount('', 'pods');
const COUNTED: ReadonlySet<string> = new Set([
  COUNT,
  'pods',
  ...COMPUTE.flatMap(name => [name, `requests.${name}`, `limits.${name}`]),
]);
const REQUESTS = 'requests.';
const HUGE_PAGES = 'hugepages-';
/** The resources that every container must specify if a quota limits them. */
const REQUIRED = ['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory'];

/** The names by which a quota counts requests and limits. */
function quotaAmounts(requests: Amounts, limits: Amounts, naming: Naming): Map<string, Quantity> {
  const result = new Map<string, Quantity>();
  for (const [name, amount] of requests) {
    const isCounted = COMPUTE.includes(name) || name.startsWith(HUGE_PAGES);
    if (isCounted) result.set(name, amount);
    if (isCounted || isDeviceResource(name, naming)) result.set(REQUESTS + name, amount);
  }
  for (const name of COMPUTE) {
    const limit = limits.get(name);
    if (limit) result.set(`limits.${name}`, limit);
  }
  return result;
}

/** Requests and limits of a whole pod, with the overhead of its runtime. */
function wholeAmounts({ spec }: Frozen<Pod>): readonly [requests: Amounts, limits: Amounts] {
  const overhead = amountsOf(spec.overhead);
  const limits = podAmounts(spec, 'limits');
  const limited = new Map([...overhead].filter(([name]) => limits.has(name)));
  return [addAmounts(podAmounts(spec, 'requests'), overhead), addAmounts(limits, limited)];
}

/** Whether a pod, or its grace period, has ended, so that it no longer uses its requests. */
export function isOver({ metadata, status }: Frozen<Pod>, now: number): boolean {
  if (status?.phase === 'Failed' || status?.phase === 'Succeeded') return true;
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata;
  if (isAbsent(deletionTimestamp) || isAbsent(deletionGracePeriodSeconds)) return false;
  return now > Date.parse(deletionTimestamp) + deletionGracePeriodSeconds * 1000;
}

/** The containers that do not specify a resource, by resource. */
function missingIn({ spec }: Frozen<Pod>, required: readonly string[], naming: Naming): Map<string, Set<string>> {
  const missing = new Map<string, Set<string>>();
  for (const { name, resources } of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) {
    const specified = quotaAmounts(amountsOf(resources.requests), amountsOf(resources.limits), naming);
    for (const resource of required)
      if (!specified.has(resource)) missing.set(resource, (missing.get(resource) ?? new Set()).add(name));
  }
  return missing;
}

/** Pods: their number, their requests and their limits. */
export const podEvaluator = (naming: Naming): Evaluator => ({
  counts: resource =>
    COUNTED.has(resource) ||
    resource.startsWith(HUGE_PAGES) ||
    resource.startsWith(REQUESTS + HUGE_PAGES) ||
    (resource.startsWith(REQUESTS) && resource.includes('/') && !resource.includes(naming.label('orchestrator.io/'))),
  isCharged: operation => operation === 'CREATE',
  usage(object, now) {
    const pod = object as Frozen<Pod>;
    if (isOver(pod, now)) return new Map([[COUNT, countOf(1)]]);
    return quotaAmounts(...wholeAmounts(pod), naming)
      .set(COUNT, countOf(1))
      .set('pods', countOf(1));
  },
  isInScope: (object, term) => isInScope((object as Frozen<Pod>).spec, term),
  missing(object, resources) {
    const required = REQUIRED.filter(name => resources.includes(name));
    const missing = missingIn(object as Frozen<Pod>, required, naming);
    if (missing.size === 0) return undefined;
    const sorted = [...missing].sort(([a], [b]) => (a < b ? -1 : 1));
    return `must specify ${sorted.map(([name, containers]) => `${name} for: ${[...containers].sort().join(',')}`).join('; ')}`;
  },
});
