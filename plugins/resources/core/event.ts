import type { Strategy } from '../../../core/api/strategy.js';
import type { ApiObject } from '../../../core/model/object.js';
import { segmentName } from '../naming-rules.js';
import { at, text } from '../record.js';

/** Members of the newer form of an Event, and what they are called in the core form. */
const RENAMED: readonly (readonly [newer: string, core: string])[] = [
  ['regarding', 'involvedObject'],
  ['note', 'message'],
  ['deprecatedSource', 'source'],
  ['deprecatedFirstTimestamp', 'firstTimestamp'],
  ['deprecatedLastTimestamp', 'lastTimestamp'],
  ['deprecatedCount', 'count'],
  ['reportingController', 'reportingComponent'],
];

/** The same Event in the form of `apiVersion`: core (`v1`) or the events group. Objects are stored in the core form. */
function convertEvent(event: ApiObject, apiVersion: string): ApiObject {
  if (event.apiVersion === apiVersion) return event;
  const names = new Map(RENAMED.map(([newer, core]) => (apiVersion === 'v1' ? [newer, core] : [core, newer])));
  const next: ApiObject = { apiVersion, kind: event.kind, metadata: event.metadata };
  for (const [member, value] of Object.entries(event)) {
    if (member !== 'apiVersion') next[names.get(member) ?? member] = value;
  }
  return next;
}

const INVOLVED = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'] as const;

const ofInvolved =
  (member: string) =>
  (event: ApiObject): string =>
    text(at(event, 'involvedObject') ?? at(event, 'regarding'), member);

const reporter = (event: ApiObject): string => text(event, 'reportingComponent') || text(event, 'reportingController');

/** Rules of Events in both groups. */
export const event = (): Partial<Strategy> => ({
  checkName: segmentName,
  createOnUpdate: true,
  selectableFields: new Map<string, (event: ApiObject) => string>([
    ...INVOLVED.map(member => [`involvedObject.${member}`, ofInvolved(member)] as const),
    ...INVOLVED.map(member => [`regarding.${member}`, ofInvolved(member)] as const),
    ['reason', e => text(e, 'reason')],
    ['reportingComponent', reporter],
    ['reportingController', reporter],
    ['source', e => text(at(e, 'source') ?? at(e, 'deprecatedSource'), 'component') || reporter(e)],
    ['type', e => text(e, 'type')],
  ]),
  convert: convertEvent,
});
