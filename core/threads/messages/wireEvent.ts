/**
 * A committed change. `value` is absent for deletions. In an EventsMessage it is a view of shared memory, one for all
 * events of the message (`SharedValues`); in pages and past changes, of the message's buffer.
 */
export interface WireEvent {
  readonly key: string;
  readonly revision: number;
  readonly created: number;
  readonly value?: Uint8Array;
  /** How often the object has changed since it was created. Only in pages. */
  readonly version?: number;
}
