import type { Strategy } from '../../../core/api/strategy.js';
import type { ApiObject } from '../../../core/model/object.js';
import { segmentName } from '../naming-rules.js';
import { invalid, required, type Violation } from '../../../core/model/refusal.js';
import { dns1123Subdomain, qualifiedName } from '../../../core/model/names.js';
import { complaints } from '../validation/checks.js';
import { fixed } from '../validation/workload.js';
import { absent, at, num, text } from '../record.js';

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
    // The newer form leaves its reporter out where the core form has an empty one.
    const blank = apiVersion !== 'v1' && value === '' && member.startsWith('reporting');
    if (member !== 'apiVersion' && !blank) next[names.get(member) ?? member] = value;
  }
  return next;
}

const INVOLVED = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'] as const;

const ofInvolved =
  (member: string) =>
  (event: ApiObject): string =>
    text(at(event, 'involvedObject') ?? at(event, 'regarding'), member);

const reporter = (event: ApiObject): string => text(event, 'reportingComponent') || text(event, 'reportingController');

/** Either form, read as the core form. */
const core = (event: ApiObject): ApiObject => convertEvent(event, 'v1');

function placeViolations(event: ApiObject): Violation[] {
  const [involved, own] = [text(at(event, 'involvedObject'), 'namespace'), event.metadata.namespace ?? ''];
  const cluster = involved === '' && (own === 'default' || own === '');
  return involved === own || cluster ? [] : [invalid('involvedObject.namespace', involved, 'does not match event.namespace')];
}

/** What the newer form asks for; its messages name the core fields where the stored form does. */
function newerViolations(event: ApiObject): Violation[] {
  const found: Violation[] = [];
  if (absent(event.eventTime)) return [required('eventTime')];
  const controller = text(event, 'reportingComponent');
  if (controller === '') found.push(required('reportingController'));
  found.push(...complaints('reportingController', controller, qualifiedName(controller)));
  for (const member of ['reportingInstance', 'action', 'reason']) if (text(event, member) === '') found.push(required(member));
  const instance = text(event, 'reportingInstance');
  if (instance.length > 128) found.push(invalid('reportingInstance', '', 'can have at most 128 characters'));
  const type = text(event, 'type');
  if (type !== 'Normal' && type !== 'Warning') found.push(invalid('type', '', `has invalid value: ${type}`));
  if (num(event, 'count')) found.push(invalid('count', '', 'needs to be unset'));
  for (const member of ['firstTimestamp', 'lastTimestamp']) {
    if (!absent(event[member])) found.push(invalid(member, '', 'needs to be unset'));
  }
  return found;
}

/** The core form of old clients, without eventTime, is hardly looked at. */
function eventViolations(given: ApiObject): Violation[] {
  const event = core(given);
  const found = placeViolations(event);
  if (given.apiVersion === 'v1' && absent(event.eventTime)) return found;
  const name = event.metadata.name ?? '';
  return [...complaints('metadata.name', name, name === '' ? [] : dns1123Subdomain(name)), ...found, ...newerViolations(event)];
}

const IMMUTABLE = [
  'involvedObject',
  'reason',
  'message',
  'type',
  'eventTime',
  'reportingComponent',
  'reportingInstance',
  'action',
  'related',
];

function eventUpdateViolations(given: ApiObject, before: ApiObject): Violation[] {
  const [event, old] = [core(given), core(before)];
  const found = eventViolations(given);
  if (given.apiVersion === 'v1' && absent(event.eventTime)) return found;
  return [...found, ...IMMUTABLE.flatMap(member => fixed(event, old, member, member))];
}

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
  selectableIn: (field, apiVersion) =>
    apiVersion === 'v1' ? !field.startsWith('regarding.') : !field.startsWith('involvedObject.'),
  validateCreate: eventViolations,
  validateUpdate: eventUpdateViolations,
  convert: convertEvent,
});
