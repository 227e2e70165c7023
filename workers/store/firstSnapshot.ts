import type { SnapshotMessage, WireEvent } from '../../core/threads/messages.js';

/** Events after which another snapshot costs less than the recorded one. */
const MAX_EVENTS = 10_000;

/**
 * Records the first snapshot of everything and what is committed meanwhile. Front end and control thread both need it,
 * at about the same time, and keep it: the second gets the same shared pages, so that objects are read, copied and held
 * once.
 */
export class FirstSnapshot {
  readonly #pages: SnapshotMessage[] = [];
  readonly #events: WireEvent[] = [];
  #over = false;

  add(page: SnapshotMessage): void {
    this.#pages.push(page);
  }

  /** Records events that are committed after the snapshot has begun. */
  committed(events: readonly WireEvent[]): void {
    this.#events.push(...events);
    if (this.#events.length > MAX_EVENTS) this.#over = true;
  }

  /** Too much was committed for the recording to be of use. */
  get isOver(): boolean {
    return this.#over;
  }

  /** The pages, and the events that follow them; undefined until the last page is recorded. */
  take(): { readonly pages: readonly SnapshotMessage[]; readonly events: readonly WireEvent[] } | undefined {
    const last = this.#pages.at(-1);
    if (!last?.last) return undefined;
    return { pages: this.#pages, events: this.#events.filter(event => event.revision > last.revision) };
  }
}
