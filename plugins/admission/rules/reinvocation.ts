import type { ApiObject } from '../../../core/model/object.js';
import { isDeepEqual } from '../../../core/model/record.js';

/** The state that the first run of the mutators leaves for the second one. */
interface FirstRun {
  /** The object after the last call. */
  readonly output: unknown;
  /** Mutators that are called again, since later calls have changed the object. */
  readonly again: ReadonlySet<string>;
  /** Mutators that are called again if anything has changed the object. */
  readonly eligible: ReadonlySet<string>;
}

/** One run of webhooks or policies over a draft. Webhooks and policies are named by ids. */
export class Run {
  readonly #again: Set<string>;
  #eligible: Set<string>;
  hasChanged = false;

  constructor(
    readonly isAgain: boolean,
    first: FirstRun | undefined,
    object: unknown,
  ) {
    this.#again = new Set(first?.again);
    this.#eligible = new Set(first?.eligible);
    if (first && !isDeepEqual(first.output, object)) this.#require();
  }

  get state(): Omit<FirstRun, 'output'> {
    return { again: this.#again, eligible: this.#eligible };
  }

  /** Whether something is to be called in this run. */
  includes(id: string): boolean {
    return !this.isAgain || this.#again.has(id);
  }

  /** Call it after each call. `isReinvocable`: it may be called again if others change the object after it. */
  ran(id: string, isChanged: boolean, isReinvocable: boolean): void {
    if (isChanged) {
      this.hasChanged = true;
      this.#require();
    }
    if (isReinvocable) this.#eligible.add(id);
  }

  #require(): void {
    for (const id of this.#eligible) this.#again.add(id);
    this.#eligible = new Set();
  }
}

/** Remembers the first runs of drafts until the second ones. */
export class Reinvocation {
  readonly #firstRuns = new WeakMap<ApiObject, FirstRun>();

  /**
   * Begins a run; undefined for a second run of a draft that was not seen in a first one. `object`: the object of the
   * draft.
   */
  begin(draft: ApiObject, isAgain: boolean, object: unknown): Run | undefined {
    const first = isAgain ? this.#firstRuns.get(draft) : undefined;
    return isAgain && !first ? undefined : new Run(isAgain, first, object);
  }

  /** Ends a run. Returns the result for the mutator. */
  end(draft: ApiObject, run: Run, object: unknown): 'reinvoke' | undefined {
    if (!run.isAgain) this.#firstRuns.set(draft, { output: structuredClone(object), ...run.state });
    return run.hasChanged ? 'reinvoke' : undefined;
  }
}
