import type { UnknownRecord } from '../../../../core/model/record.js';
import type { Event as NewerEvent } from '../../../../kinds/events/v1.js';
import type { Event } from '../../../../kinds/v1.js';

/** An Event in one of its two forms. */
export type AnyEvent = Event | NewerEvent;

/** Members of the newer form of an Event (group events) and their names in the core form. */
const RENAMED: readonly (readonly [newer: keyof NewerEvent, core: keyof Event])[] = [
  ['regarding', 'involvedObject'],
  ['note', 'message'],
  ['deprecatedSource', 'source'],
  ['deprecatedFirstTimestamp', 'firstTimestamp'],
  ['deprecatedLastTimestamp', 'lastTimestamp'],
  ['deprecatedCount', 'count'],
  ['reportingController', 'reportingComponent'],
];

/** Converts an Event to `apiVersion`: `v1` or that of the group events. Events are stored in the core form. */
export function convertEvent(event: AnyEvent, apiVersion: string): AnyEvent {
  if (event.apiVersion === apiVersion) return event;
  const names = new Map<string, string>(
    RENAMED.map(([newer, core]) => (apiVersion === 'v1' ? [newer, core] : [core, newer])),
  );
  const next: UnknownRecord = { apiVersion, kind: event.kind, metadata: event.metadata };
  for (const [member, value] of Object.entries(event)) {
    // The newer form has no reporter if that of the core form is empty.
    const blank = apiVersion !== 'v1' && value === '' && member.startsWith('reporting');
    if (member !== 'apiVersion' && !blank) next[names.get(member) ?? member] = value;
  }
  return next as AnyEvent;
}

/** Whether an Event has the core form. */
export const isCoreForm = (event: AnyEvent): event is Event => event.apiVersion === 'v1';

/** An Event of any form in the core form, with the texts that the newer form omits if they are empty. */
export function toCoreForm(event: AnyEvent): Event {
  const core = convertEvent(event, 'v1') as Event;
  const { reportingComponent = '', reportingInstance = '' } = core;
  const isComplete = reportingComponent === core.reportingComponent && reportingInstance === core.reportingInstance;
  return isComplete ? core : { ...core, reportingComponent, reportingInstance };
}
