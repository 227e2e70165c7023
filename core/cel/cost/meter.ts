/** The run-time cost counter. */
import type { Value } from '../evaluate/values.js';

/** Thrown when the budget is exhausted. No operator of the language catches it. */
export class BudgetExceeded {
  readonly message = 'operation cancelled: actual cost limit exceeded';
}

/** Counts cost against a limit. Work is charged before it is done. */
export class Meter {
  cost = 0;
  constructor(readonly limit: number) {}
  /** Adds to the cost; throws `BudgetExceeded` past the limit. */
  charge(n: number): void {
    this.cost += n;
    if (this.cost > this.limit) throw new BudgetExceeded();
  }
  /** Charges for reading `size` characters: a tenth of a unit each, upstream's price. */
  traverse(size: number): void {
    this.charge(Math.ceil(size * 0.1));
  }
}

/** The state of one evaluation: the meter, the variables, and the local variables of comprehensions and bindings. */
export class Frame extends Meter {
  constructor(
    limit: number,
    readonly slots: readonly unknown[],
    readonly locals: Value[],
  ) {
    super(limit);
  }
}
/** A frame without variables and without limit, for constants. */
export const unlimitedFrame = (): Frame => new Frame(Number.POSITIVE_INFINITY, [], []);
