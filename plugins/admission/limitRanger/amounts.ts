import type { PodSpec } from '../../../kinds/v1.js';
import type { Frozen } from '../../../core/model/object.js';
import { addQuantities, compareQuantities, type Quantity, quantityOf } from '../../../core/model/quantity.js';

/** Amounts by the name of the resource. */
export type Amounts = ReadonlyMap<string, Quantity>;

/** Parses amounts, such as the requests of a container. */
export const amountsOf = (written: { readonly [resource: string]: string } | undefined): Amounts =>
  new Map(Object.entries(written ?? {}).map(([name, amount]) => [name, quantityOf(amount)]));

/** The sum of amounts. */
export function addAmounts(a: Amounts, b: Amounts): Amounts {
  const sum = new Map(a);
  for (const [name, amount] of b) {
    const before = sum.get(name);
    sum.set(name, before ? addQuantities(before, amount) : amount);
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
 * The resources that the containers of a pod use: the sum of its containers, or its needs while an init container runs
 * if that is more. Init containers that continue to run count as containers, and are added to those that start after
 * them.
 */
export function podAmounts(pod: Frozen<PodSpec>, member: 'requests' | 'limits'): Amounts {
  let total = (pod.containers ?? []).reduce<Amounts>(
    (sum, container) => addAmounts(sum, amountsOf(container.resources[member])),
    new Map(),
  );
  let running: Amounts = new Map();
  let whileStarting: Amounts = new Map();
  for (const container of pod.initContainers ?? []) {
    const own = amountsOf(container.resources[member]);
    const during = addAmounts(own, running);
    if (container.restartPolicy === 'Always') {
      total = addAmounts(total, own);
      running = during;
    }
    whileStarting = greatest(whileStarting, during);
  }
  return greatest(total, whileStarting);
}
