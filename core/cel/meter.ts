/** The run-time cost counter. */

import type { Value } from './values.js';

/** Raised when a budget is spent. No operator of the language catches it. */
export class BudgetExceeded {
  readonly message = 'operation cancelled: actual cost limit exceeded';
}

/** Counts cost against a limit. Work that depends on sizes is charged before it is done. */
export class Meter {
  cost = 0;
  constructor(readonly limit: number) {}
  /** Adds to the cost; throws `BudgetExceeded` past the limit. */
  charge(n: number): void {
    this.cost += n;
    if (this.cost > this.limit) throw new BudgetExceeded();
  }
  /** Charges reading `size` characters: a tenth of a unit each, as upstream counts. */
  traverse(size: number): void {
    this.charge(Math.ceil(size * 0.1));
  }
}

/**
 * The state of one evaluation: the meter, the variables by slot, and the locals of comprehensions and bindings by
 * nesting.
 */
export class Frame extends Meter {
  constructor(
    limit: number,
    readonly slots: readonly unknown[],
    readonly locals: Value[],
  ) {
    super(limit);
  }
}
/** A frame for what has no variables and no bound. */
export const freeFrame = (): Frame => new Frame(Number.POSITIVE_INFINITY, [], []);
