/**
 * The search for a linearization by Wing and Gong ("Testing and verifying concurrent objects", 1993), with Lowe's cache
 * of visited configurations ("Testing for linearizability", 2017).
 */

/**
 * An operation of a concurrent history. `end` undefined: it may have taken effect at any time after `start`, or never.
 */
export interface Timed {
  readonly start: number;
  readonly end?: number;
}

/**
 * A sequential specification. `step` gives the state after the operation, or undefined if its outcome is impossible
 * there.
 */
export interface Model<State, Op extends Timed> {
  readonly initial: State;
  step(state: State, operation: Op): State | undefined;
  /** Equal for equal states. */
  key(state: State): string;
}

/**
 * `violated`: no order is possible. `longest` is the longest prefix of an order that was found, `stuck` the operation
 * that must follow but cannot. `undecided`: the search was stopped.
 */
export type Linearizability<Op> =
  | { readonly is: 'linearizable' }
  | { readonly is: 'violated'; readonly longest: readonly Op[]; readonly stuck: Op }
  | { readonly is: 'undecided' };

/** A call or a return, in a list in the order of time from which linearized operations are removed. */
interface Entry<Op> {
  readonly operation: Op;
  /** Position among the calls. */
  readonly index: number;
  /** The matching return; undefined in returns, and in calls that never returned. */
  readonly match?: Entry<Op>;
  readonly isCall: boolean;
  previous: Entry<Op> | undefined;
  next: Entry<Op> | undefined;
}

/** Configurations after which the search gives up. */
const CONFIGURATIONS = 500_000;

function entriesOf<Op extends Timed>(operations: readonly Op[]): { first: Entry<Op> | undefined; returns: number } {
  const calls = [...operations].sort((a, b) => a.start - b.start);
  const timed: { at: number; entry: Entry<Op> }[] = [];
  let returns = 0;
  for (const [index, operation] of calls.entries()) {
    const links = { previous: undefined, next: undefined };
    if (operation.end === undefined) {
      timed.push({ at: operation.start, entry: { operation, index, isCall: true, ...links } });
      continue;
    }
    const match: Entry<Op> = { operation, index, isCall: false, ...links };
    timed.push({ at: operation.start, entry: { operation, index, match, isCall: true, ...links } });
    timed.push({ at: operation.end, entry: match });
    returns++;
  }
  // At the same time, calls precede returns: the operations then overlap, and either order is possible.
  timed.sort((a, b) => a.at - b.at || Number(b.entry.isCall) - Number(a.entry.isCall));
  for (const [i, { entry }] of timed.entries()) {
    entry.previous = timed[i - 1]?.entry;
    entry.next = timed[i + 1]?.entry;
  }
  return { first: timed[0]?.entry, returns };
}

/**
 * The configurations that the search has visited: the linearized operations (as the newest call and the earlier calls
 * that are not linearized) and the state.
 */
class Visited {
  readonly #seen = new Set<string>();

  get size(): number {
    return this.#seen.size;
  }

  /** Adds a configuration. Returns false if it was visited before. `head` is the first remaining entry. */
  add<Op>(head: Entry<Op> | undefined, newest: number, state: string): boolean {
    let key = `${newest}`;
    for (let entry = head; entry && entry.index < newest; entry = entry.next)
      if (entry.isCall) key += `,${entry.index}`;
    key += `;${state}`;
    if (this.#seen.has(key)) return false;
    this.#seen.add(key);
    return true;
  }
}

/** The entries that are not linearized yet. The head makes removing the first entry like removing any other. */
class Remaining<Op> {
  readonly head: { next: Entry<Op> | undefined };

  constructor(first: Entry<Op> | undefined) {
    this.head = { next: first };
  }

  lift(entry: Entry<Op>): void {
    this.#unlink(entry);
    if (entry.match) this.#unlink(entry.match);
  }

  unlift(entry: Entry<Op>): void {
    if (entry.match) this.#link(entry.match);
    this.#link(entry);
  }

  #unlink({ previous, next }: Entry<Op>): void {
    (previous ?? this.head).next = next;
    if (next) next.previous = previous;
  }

  #link(entry: Entry<Op>): void {
    (entry.previous ?? this.head).next = entry;
    if (entry.next) entry.next.previous = entry;
  }
}

/** Searches for an order of the operations that respects their times and that the model accepts. */
export function checkLinearizability<State, Op extends Timed>(
  model: Model<State, Op>,
  operations: readonly Op[],
): Linearizability<Op> {
  const { first, returns } = entriesOf(operations);
  const remaining = new Remaining(first);
  const visited = new Visited();
  const stack: { readonly entry: Entry<Op>; readonly state: State; readonly newest: number }[] = [];
  let state = model.initial;
  let newest = -1;
  let open = returns;
  let longest: Op[] = [];
  let stuck: Op | undefined;
  let entry = first;
  while (open > 0) {
    if (entry?.isCall) {
      const after = model.step(state, entry.operation);
      if (after !== undefined) {
        remaining.lift(entry);
        const furthest = Math.max(newest, entry.index);
        if (visited.add(remaining.head.next, furthest, model.key(after))) {
          stack.push({ entry, state, newest });
          if (entry.match) open--;
          state = after;
          newest = furthest;
          entry = remaining.head.next;
          continue;
        }
        remaining.unlift(entry);
      }
      entry = entry.next;
      continue;
    }
    if (visited.size > CONFIGURATIONS) return { is: 'undecided' };
    // The call of this return could not be linearized before it: the last choice was wrong.
    if (stack.length > longest.length || stuck === undefined) {
      longest = stack.map(choice => choice.entry.operation);
      stuck = entry!.operation;
    }
    const choice = stack.pop();
    if (!choice) return { is: 'violated', longest, stuck };
    remaining.unlift(choice.entry);
    if (choice.entry.match) open++;
    ({ state, newest } = choice);
    entry = choice.entry.next;
  }
  return { is: 'linearizable' };
}
