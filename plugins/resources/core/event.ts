import type { Strategy } from '../../../core/api/strategy.js';
import type { ApiObject } from '../../../core/model/object.js';
import type { Naming } from '../../../core/naming.js';
import { segmentName } from '../naming-rules.js';
import { invalid, required, type Violation } from '../../../core/model/refusal.js';
import { dns1123Subdomain, qualifiedName } from '../../../core/model/names.js';
import { complaints, shownTime } from '../validation/checks.js';
import { fixed } from '../validation/workload.js';
import { absent, at, num, same, text } from '../record.js';

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

const tooLongFor = (event: ApiObject, member: string, most: number): Violation[] =>
  Buffer.byteLength(text(event, member)) > most ? [invalid(member, '', `can have at most ${most} characters`)] : [];

/** An Event stands in the namespace of what it is about; what stands in none has its Events in one of `homes`. */
function placeViolations(event: ApiObject, homes: readonly string[]): Violation[] {
  const [involved, own] = [text(at(event, 'involvedObject'), 'namespace'), event.metadata.namespace ?? ''];
  return involved === own || (involved === '' && homes.includes(own))
    ? []
    : [invalid('involvedObject.namespace', involved, 'does not match event.namespace')];
}

/**
 * What both forms ask for: hardly anything of an Event of old clients, which has no eventTime. `reporter`: what the
 * form calls it.
 */
function commonViolations(event: ApiObject, reporter: string, system: string): Violation[] {
  if (absent(event.eventTime)) return placeViolations(event, ['default']);
  const involved = text(at(event, 'involvedObject'), 'namespace');
  const found = involved === '' ? placeViolations(event, ['default', system]) : [];
  const controller = text(event, 'reportingComponent');
  if (controller === '') found.push(required(reporter));
  found.push(...complaints(reporter, controller, qualifiedName(controller)));
  for (const member of ['reportingInstance', 'action', 'reason']) {
    if (text(event, member) === '') found.push(required(member));
    found.push(...tooLongFor(event, member, 128));
  }
  return [...found, ...tooLongFor(event, 'message', 1024)];
}

function seriesViolations(event: ApiObject): Violation[] {
  const series = at(event, 'series');
  if (!series) return [];
  return [
    ...((num(series, 'count') ?? 0) < 2 ? [invalid('series.count', '', 'should be at least 2')] : []),
    ...(absent(series.lastObservedTime) ? [required('series.lastObservedTime')] : []),
  ];
}

/** What the newer form asks for beyond; its messages name the core fields. */
function newerViolations(event: ApiObject): Violation[] {
  const name = event.metadata.name ?? '';
  const found = complaints('metadata.name', name, name === '' ? [] : dns1123Subdomain(name));
  found.push(...seriesViolations(event));
  if (absent(event.eventTime)) found.push(required('eventTime'));
  const type = text(event, 'type');
  if (type !== 'Normal' && type !== 'Warning') found.push(invalid('type', '', `has invalid value: ${type}`));
  const unset = (member: string) => found.push(invalid(member, '', 'needs to be unset'));
  for (const member of ['firstTimestamp', 'lastTimestamp']) if (!absent(event[member])) unset(member);
  if (num(event, 'count')) unset('count');
  const source = at(event, 'source');
  if (text(source, 'component') || text(source, 'host')) unset('source');
  return found;
}

const isCore = (event: ApiObject): boolean => event.apiVersion === 'v1';

function eventViolations(given: ApiObject, system: string): Violation[] {
  const event = core(given);
  const found = commonViolations(event, isCore(given) ? 'reportingComponent' : 'reportingController', system);
  return isCore(given) ? found : [...found, ...newerViolations(event)];
}

/**
 * What the newer form does not let change; by the names of the core form, which messages use as well, but for the
 * reporter's.
 */
const IMMUTABLE: readonly (readonly [member: string, field: string])[] = [
  ...[
    'involvedObject',
    'reason',
    'message',
    'source',
    'firstTimestamp',
    'lastTimestamp',
    'count',
    'type',
    'eventTime',
  ].map(member => [member, member] as const),
  ['action', 'action'],
  ['related', 'related'],
  ['reportingComponent', 'reportingController'],
  ['reportingInstance', 'reportingInstance'],
];

const TIMES: ReadonlySet<string> = new Set(['firstTimestamp', 'lastTimestamp', 'eventTime']);

const fixedTime = (event: ApiObject, old: ApiObject, member: string): Violation[] =>
  text(event, member) === text(old, member)
    ? []
    : [invalid(member, shownTime(text(event, member)), 'field is immutable')];

function eventUpdateViolations(given: ApiObject, before: ApiObject, system: string): Violation[] {
  const [event, old] = [core(given), core(before)];
  const found = commonViolations(event, isCore(given) ? 'reportingComponent' : 'reportingController', system);
  if (isCore(given)) return found;
  if (!same(event.series, old.series)) found.push(...seriesViolations(event));
  const changed = (member: string, field: string): Violation[] =>
    TIMES.has(member) ? fixedTime(event, old, member) : fixed(event, old, member, field);
  return [...found, ...IMMUTABLE.flatMap(([member, field]) => changed(member, field))];
}

/** Selectable fields by the names that one version alone has. */
const CORE_FIELD = /^(?:involvedObject\.|reportingComponent$)/;
const NEWER_FIELD = /^(?:regarding\.|reportingController$)/;

/** Rules of Events in both groups. */
export const event = (naming: Naming): Partial<Strategy> => ({
  checkName: segmentName,
  createOnUpdate: true,
  ownsNothing: true,
  selectableFields: new Map<string, (event: ApiObject) => string>([
    ...INVOLVED.map(member => [`involvedObject.${member}`, ofInvolved(member)] as const),
    ...INVOLVED.map(member => [`regarding.${member}`, ofInvolved(member)] as const),
    ['reason', e => text(e, 'reason')],
    ['reportingComponent', reporter],
    ['reportingController', reporter],
    ['source', e => text(at(e, 'source') ?? at(e, 'deprecatedSource'), 'component') || reporter(e)],
    ['type', e => text(e, 'type')],
  ]),
  selectableIn: (field, apiVersion) => !(apiVersion === 'v1' ? NEWER_FIELD : CORE_FIELD).test(field),
  validateCreate: object => eventViolations(object, naming.component('orchestrator-system')),
  validateUpdate: (object, old) => eventUpdateViolations(object, old, naming.component('orchestrator-system')),
  convert: convertEvent,
});
