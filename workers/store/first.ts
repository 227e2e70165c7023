import type { SnapshotMessage, WireEvent } from '../../core/threads/messages.js';

/** Events after which it is cheaper to read a snapshot of its own for whoever comes later. */
const EVENTS = 10_000;

/**
 * The first snapshot of everything, and what was committed since: two threads want it, one soon after the other, and
 * both keep it. The second gets the same pages, so that its objects are neither read nor copied nor held twice.
 */
export class FirstSnapshot {
  readonly #pages: SnapshotMessage[] = [];
  readonly #events: WireEvent[] = [];
  #over = false;

  add(page: SnapshotMessage): void {
    this.#pages.push(page);
  }

  /** Everything that is committed from the moment the snapshot was begun. */
  committed(events: readonly WireEvent[]): void {
    this.#events.push(...events);
    if (this.#events.length > EVENTS) this.#over = true;
  }

  /** Nothing more is to be remembered. */
  get isOver(): boolean {
    return this.#over;
  }

  /** The pages, and the events that continue them; undefined while the last page is not there. */
  take(): { readonly pages: readonly SnapshotMessage[]; readonly events: readonly WireEvent[] } | undefined {
    const last = this.#pages.at(-1);
    if (!last?.last) return undefined;
    return { pages: this.#pages, events: this.#events.filter(event => event.revision > last.revision) };
  }
}
