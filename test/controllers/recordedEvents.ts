import type { UnknownRecord } from '../../core/model/record.js';
import type { FakeServer } from './fakeHost.js';

/** The members of an Event that tests compare. */
export interface RecordedEvent {
  /** Kind, namespace and name of the object that it is about. */
  readonly about: string;
  readonly reason: unknown;
  readonly message: unknown;
  readonly source: UnknownRecord;
}

/** The Events that controllers have recorded, in order. */
export const eventsOf = (server: FakeServer): RecordedEvent[] =>
  [...server.objects]
    .filter(([key]) => key.startsWith('core/events|'))
    .map(([, object]) => {
      const { involvedObject, reason, message, source } = object as unknown as Record<string, UnknownRecord>;
      const { kind, namespace, name } = involvedObject!;
      return { about: `${String(kind)} ${String(namespace)}/${String(name)}`, reason, message, source: source! };
    });
