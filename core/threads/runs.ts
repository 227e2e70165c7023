/**
 * Decides which thread completes each job of the pool, in memory that front end and pool share. A run is one execution
 * of a job by a thread. Each job has a word: the number of its run, and the phase of that run. The thread changes the
 * word before each step that must not be done twice, the front end before it gives the job to another thread, both with
 * one compare-and-exchange. So, if a job has several runs, only the one whose number is in the word completes it, and
 * after a run that may have had effects there is no other (docs/decisions/0021).
 */

/** The thread has not begun the job. */
export const QUEUED = 0;
/** The job runs, or waits for something outside of the thread. It has changed nothing. */
export const BEGUN = 1;
/** The job has ended without changing anything, and its outcome was not sent yet. */
export const ENDED = 2;
/** The job may have changed something: it has called a function with side effects, or its proposal was sent. */
export const FINAL = 3;

/** How far a run has come. */
export type Phase = typeof QUEUED | typeof BEGUN | typeof ENDED | typeof FINAL;
const PHASES = 4;
/** Numbers of runs are below this one, and then begin again: after hours at full load, when old runs have ended. */
const NUMBERS = 2 ** 29;

/** A run: the index of the job's word, and the number that the word has while the run may complete the job. */
export interface RunId {
  readonly word: number;
  readonly number: number;
}

/** Runs as they are posted. */
export function packRuns(runs: readonly RunId[]): number[] {
  const packed: number[] = [];
  for (const { word, number } of runs) packed.push(word, number);
  return packed;
}

/** A run in its thread. */
export class Run implements RunId {
  constructor(
    readonly words: Int32Array,
    readonly word: number,
    readonly number: number,
  ) {}

  /** The runs that were posted. */
  static unpack(words: Int32Array, packed: readonly number[]): Run[] {
    const runs: Run[] = [];
    for (let i = 0; i < packed.length; i += 2) runs.push(new Run(words, packed[i]!, packed[i + 1]!));
    return runs;
  }

  /** To be called each time before the job begins. False: another thread runs it, and this one must not. */
  begin(): boolean {
    return this.#change(QUEUED, BEGUN) || this.#change(ENDED, BEGUN) || this.#isFinal;
  }

  /** To be called when the job has ended. */
  end(): void {
    this.#change(BEGUN, ENDED);
  }

  /** To be called before the job changes something. False: another thread runs it, and this one must not. */
  makeFinal(): boolean {
    return this.#change(ENDED, FINAL) || this.#change(BEGUN, FINAL) || this.#isFinal;
  }

  get #isFinal(): boolean {
    return Atomics.load(this.words, this.word) === wordOf(this.number, FINAL);
  }

  #change(from: Phase, to: Phase): boolean {
    const { words, word, number } = this;
    const before = wordOf(number, from);
    return Atomics.compareExchange(words, word, before, wordOf(number, to)) === before;
  }
}

const wordOf = (number: number, phase: Phase): number => number * PHASES + phase;
const after = (number: number): number => (number + 1) % NUMBERS;

/** The runs of all jobs that the front end has passed to the pool. */
export class Runs {
  readonly memory: SharedArrayBuffer;
  readonly #words: Int32Array;
  readonly #free: number[] = [];
  #used = 0;

  /** `most`: the number of jobs at once. */
  constructor(most: number) {
    this.memory = new SharedArrayBuffer(most * Int32Array.BYTES_PER_ELEMENT);
    this.#words = new Int32Array(this.memory);
  }

  /** Creates the first run of a job. */
  open(): RunId {
    const word = this.#free.pop() ?? this.#used++;
    return this.#next(word);
  }

  /** The job was answered: no run of it can change anything any more. */
  close({ word }: RunId): void {
    this.#next(word);
    this.#free.push(word);
  }

  /** How far a run has come; undefined if its job has a newer run. */
  phaseOf({ word, number }: RunId): Phase | undefined {
    const value = Atomics.load(this.#words, word);
    return Math.floor(value / PHASES) === number ? ((value % PHASES) as Phase) : undefined;
  }

  /**
   * Takes a job away from its run, if the run is in `phase`. Returns the next run of the job; undefined if the run has
   * reached another phase meanwhile.
   */
  take({ word, number }: RunId, phase: Phase): RunId | undefined {
    const before = wordOf(number, phase);
    const next = after(number);
    const value = Atomics.compareExchange(this.#words, word, before, wordOf(next, QUEUED));
    return value === before ? { word, number: next } : undefined;
  }

  #next(word: number): RunId {
    // A new number makes every compare-and-exchange of earlier runs fail, also those of the last job with this word.
    const number = after(Math.floor(Atomics.load(this.#words, word) / PHASES));
    Atomics.store(this.#words, word, wordOf(number, QUEUED));
    return { word, number };
  }
}
