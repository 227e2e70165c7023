import { dns1123Subdomain, qualifiedName } from '../../../../core/model/names.js';
import type { ApiObject } from '../../../../core/model/object.js';
import { isAbsent, isSemanticallyEqual, numberAt, recordAt, stringAt } from '../../../../core/model/record.js';
import { invalid, required, type Violation } from '../../../../core/model/refusal.js';
import { convertEvent } from './conversion.js';
import { complaints, fixed, shownTime } from '../../shared/violations.js';

/** Either form, read as the core form. */
const core = (event: ApiObject): ApiObject => convertEvent(event, 'v1');

const tooLongFor = (event: ApiObject, member: string, most: number): Violation[] =>
  Buffer.byteLength(stringAt(event, member)) > most ? [invalid(member, '', `can have at most ${most} characters`)] : [];

/** An Event stands in the namespace of what it is about; what stands in none has its Events in one of `homes`. */
function placeViolations(event: ApiObject, homes: readonly string[]): Violation[] {
  const [involved, own] = [stringAt(event, 'involvedObject', 'namespace'), event.metadata.namespace ?? ''];
  return involved === own || (involved === '' && homes.includes(own))
    ? []
    : [invalid('involvedObject.namespace', involved, 'does not match event.namespace')];
}

/**
 * What both forms ask for: hardly anything of an Event of old clients, which has no eventTime. `reporter`: what the
 * form calls it.
 */
function commonViolations(event: ApiObject, reporter: string, system: string): Violation[] {
  if (isAbsent(event.eventTime)) return placeViolations(event, ['default']);
  const involved = stringAt(event, 'involvedObject', 'namespace');
  const found = involved === '' ? placeViolations(event, ['default', system]) : [];
  const controller = stringAt(event, 'reportingComponent');
  if (controller === '') found.push(required(reporter));
  found.push(...complaints(reporter, controller, qualifiedName(controller)));
  for (const member of ['reportingInstance', 'action', 'reason']) {
    if (stringAt(event, member) === '') found.push(required(member));
    found.push(...tooLongFor(event, member, 128));
  }
  return [...found, ...tooLongFor(event, 'message', 1024)];
}

function seriesViolations(event: ApiObject): Violation[] {
  const series = recordAt(event, 'series');
  if (!series) return [];
  return [
    ...((numberAt(series, 'count') ?? 0) < 2 ? [invalid('series.count', '', 'should be at least 2')] : []),
    ...(isAbsent(series.lastObservedTime) ? [required('series.lastObservedTime')] : []),
  ];
}

/** What the newer form asks for beyond; its messages name the core fields. */
function newerViolations(event: ApiObject): Violation[] {
  const name = event.metadata.name ?? '';
  const found = complaints('metadata.name', name, name === '' ? [] : dns1123Subdomain(name));
  found.push(...seriesViolations(event));
  if (isAbsent(event.eventTime)) found.push(required('eventTime'));
  const type = stringAt(event, 'type');
  if (type !== 'Normal' && type !== 'Warning') found.push(invalid('type', '', `has invalid value: ${type}`));
  const unset = (member: string) => found.push(invalid(member, '', 'needs to be unset'));
  for (const member of ['firstTimestamp', 'lastTimestamp']) if (!isAbsent(event[member])) unset(member);
  if (numberAt(event, 'count')) unset('count');
  const source = recordAt(event, 'source');
  if (stringAt(source, 'component') || stringAt(source, 'host')) unset('source');
  return found;
}

const isCore = (event: ApiObject): boolean => event.apiVersion === 'v1';

export function eventViolations(given: ApiObject, system: string): Violation[] {
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
  stringAt(event, member) === stringAt(old, member)
    ? []
    : [invalid(member, shownTime(stringAt(event, member)), 'field is immutable')];

export function eventUpdateViolations(given: ApiObject, before: ApiObject, system: string): Violation[] {
  const [event, old] = [core(given), core(before)];
  const found = commonViolations(event, isCore(given) ? 'reportingComponent' : 'reportingController', system);
  if (isCore(given)) return found;
  if (!isSemanticallyEqual(event.series, old.series)) found.push(...seriesViolations(event));
  const changed = (member: string, field: string): Violation[] =>
    TIMES.has(member) ? fixedTime(event, old, member) : fixed(event, old, member, field);
  return [...found, ...IMMUTABLE.flatMap(([member, field]) => changed(member, field))];
}
