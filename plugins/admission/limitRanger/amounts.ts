import type { PodSpec } from '../../../kinds/v1.js';
import type { Frozen } from '../../../core/model/object.js';
import { compareQuantities, formatQuantity, type Quantity, quantityOf } from '../../../core/model/quantity.js';

/** Amounts by the name of the resource. */
export type Amounts = ReadonlyMap<string, Quantity>;

/** Parses amounts, such as the requests of a container. */
export const amountsOf = (written: { readonly [resource: string]: string } | undefined): Amounts =>
  new Map(Object.entries(written ?? {}).map(([name, amount]) => [name, quantityOf(amount)]));

function add(a: Amounts, b: Amounts): Amounts {
  const sum = new Map(a);
  for (const [name, amount] of b) {
    const before = sum.get(name);
    sum.set(name, before ? { ...before, nano: before.nano + amount.nano } : amount);
  }
  return sum;
}

function greatest(a: Amounts, b: Amounts): Amounts {
  const most = new Map(a);
  for (const [name, amount] of b) {
    const before = most.get(name);
    if (!before || compareQuantities(amount, before) > 0) most.set(name, amount);
  }
  return most;
}

/**
 * What a pod uses: the sum of its containers, or what it needs while an init container runs if that is more. Init
 * containers that go on running count as containers, and for those after them.
 */
export function podAmounts(pod: Frozen<PodSpec>, member: 'requests' | 'limits'): Amounts {
  let total = (pod.containers ?? []).reduce<Amounts>(
    (sum, container) => add(sum, amountsOf(container.resources[member])),
    new Map(),
  );
  let running: Amounts = new Map();
  let whileStarting: Amounts = new Map();
  for (const container of pod.initContainers ?? []) {
    const own = amountsOf(container.resources[member]);
    const during = add(own, running);
    if (container.restartPolicy === 'Always') {
      total = add(total, own);
      running = during;
    }
    whileStarting = greatest(whileStarting, during);
  }
  return greatest(total, whileStarting);
}

/** What is wrong with amounts that must not be below `least`. */
export function belowMinimum(
  type: string,
  name: string,
  least: Quantity,
  requests: Amounts,
  limits: Amounts,
): string[] {
  const [request, limit] = [requests.get(name), limits.get(name)];
  const rule = `minimum ${name} usage per ${type} is ${formatQuantity(least)}`;
  if (!request) return [`${rule}.  No request is specified`];
  if (compareQuantities(request, least) < 0) return [`${rule}, but request is ${formatQuantity(request)}`];
  return limit && compareQuantities(limit, least) < 0 ? [`${rule}, but limit is ${formatQuantity(limit)}`] : [];
}

/** What is wrong with requests that must not be above `most`. */
export function requestAboveMaximum(type: string, name: string, most: Quantity, requests: Amounts): string[] {
  const request = requests.get(name);
  const rule = `maximum ${name} usage per ${type} is ${formatQuantity(most)}`;
  if (!request) return [`${rule}.  No request is specified`];
  return compareQuantities(request, most) > 0 ? [`${rule}, but request is ${formatQuantity(request)}`] : [];
}

/** What is wrong with amounts that must not be above `most`. */
export function aboveMaximum(type: string, name: string, most: Quantity, requests: Amounts, limits: Amounts): string[] {
  const [request, limit] = [requests.get(name), limits.get(name)];
  const rule = `maximum ${name} usage per ${type} is ${formatQuantity(most)}`;
  if (!limit) return [`${rule}.  No limit is specified`];
  if (compareQuantities(limit, most) > 0) return [`${rule}, but limit is ${formatQuantity(limit)}`];
  return request && compareQuantities(request, most) > 0 ? [`${rule}, but request is ${formatQuantity(request)}`] : [];
}

/** What is wrong with limits that must not be more than `most` times the requests. */
export function aboveRatio(type: string, name: string, most: Quantity, requests: Amounts, limits: Amounts): string[] {
  const [request, limit] = [requests.get(name), limits.get(name)];
  const rule = `${name} max limit to request ratio per ${type} is ${formatQuantity(most)}`;
  if (!request?.nano) return [`${rule}, but no request is specified or request is 0`];
  if (!limit?.nano) return [`${rule}, but no limit is specified or limit is 0`];
  const ratio = Number(limit.nano) / Number(request.nano);
  return ratio > Number(most.nano) / 1e9 ? [`${rule}, but provided ratio is ${ratio.toFixed(6)}`] : [];
}
