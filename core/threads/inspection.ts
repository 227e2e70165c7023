import { url } from 'node:inspector';

/**
 * Whether a debugger may be attached to the process, because its inspector is open. Threads that are stopped at a
 * breakpoint do not return, and answers to their calls are late: neither is then a fault. Only the main thread can
 * determine this; it informs the others through shared memory.
 */
export class Inspection {
  readonly #state: Int32Array;

  constructor(memory: SharedArrayBuffer) {
    this.#state = new Int32Array(memory);
  }

  /** Allocates the memory of a process. */
  static memory(): SharedArrayBuffer {
    return new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  }

  /** Whether the inspector was open when the main thread last checked. */
  get isOpen(): boolean {
    return Atomics.load(this.#state, 0) === 1;
  }

  /** To be called in the main thread. Returns whether the inspector has been opened since the last call. */
  look(): boolean {
    const isOpen = url() !== undefined;
    return Atomics.exchange(this.#state, 0, isOpen ? 1 : 0) === 0 && isOpen;
  }
}
