import type { ApiObject } from '../../../../core/model/object.js';

/** Members of the newer form of an Event (group events) and their names in the core form. */
const RENAMED: readonly (readonly [newer: string, core: string])[] = [
  ['regarding', 'involvedObject'],
  ['note', 'message'],
  ['deprecatedSource', 'source'],
  ['deprecatedFirstTimestamp', 'firstTimestamp'],
  ['deprecatedLastTimestamp', 'lastTimestamp'],
  ['deprecatedCount', 'count'],
  ['reportingController', 'reportingComponent'],
];

/** Converts an Event to `apiVersion`: `v1` or that of the group events. Events are stored in the core form. */
export function convertEvent(event: ApiObject, apiVersion: string): ApiObject {
  if (event.apiVersion === apiVersion) return event;
  const names = new Map(RENAMED.map(([newer, core]) => (apiVersion === 'v1' ? [newer, core] : [core, newer])));
  const next: ApiObject = { apiVersion, kind: event.kind, metadata: event.metadata };
  for (const [member, value] of Object.entries(event)) {
    // The newer form has no reporter if that of the core form is empty.
    const blank = apiVersion !== 'v1' && value === '' && member.startsWith('reporting');
    if (member !== 'apiVersion' && !blank) next[names.get(member) ?? member] = value;
  }
  return next;
}
