import type { TextMember } from '../../shared/values/members.js';
import type { Event } from '../../../../kinds/v1.js';
import { qualifiedName } from '../../../../core/model/names.js';
import { isAbsent, isSemanticallyEqual } from '../../../../core/model/record.js';
import { invalid, required, type Violation } from '../../../../core/model/refusal.js';
import { validateMetadata, validateMetadataUpdate } from '../../../../core/schema/decode/metadata.js';
import { checkSubdomainName } from '../../shared/values/names.js';
import { type AnyEvent, isCoreForm, toCoreForm } from './conversion.js';
import { toViolations, validateImmutable, goTimeText } from '../../shared/violations.js';

const validateLength = (event: Event, member: TextMember<Event>, most: number): Violation[] =>
  Buffer.byteLength(event[member] ?? '') > most ? [invalid(member, '', `can have at most ${most} characters`)] : [];

/**
 * Checks that an Event is in the namespace of its object. Events of objects without a namespace are in one of `homes`.
 */
function validateNamespace(event: Event, homes: readonly string[]): Violation[] {
  const [involved, own] = [event.involvedObject.namespace ?? '', event.metadata.namespace ?? ''];
  return involved === own || (involved === '' && homes.includes(own))
    ? []
    : [invalid('involvedObject.namespace', involved, 'does not match event.namespace')];
}

/**
 * Checks the requirements of both forms. Events without eventTime come from old clients and are hardly validated.
 * `reporter` is the name of the field with the reporter in this form.
 */
function validateBothForms(event: Event, reporter: string, system: string): Violation[] {
  if (isAbsent(event.eventTime)) return validateNamespace(event, ['default']);
  const involved = event.involvedObject.namespace ?? '';
  const found = involved === '' ? validateNamespace(event, ['default', system]) : [];
  const controller = event.reportingComponent;
  if (controller === '') found.push(required(reporter));
  found.push(...toViolations(reporter, controller, qualifiedName(controller)));
  for (const member of ['reportingInstance', 'action', 'reason'] as const) {
    if ((event[member] ?? '') === '') found.push(required(member));
    found.push(...validateLength(event, member, 128));
  }
  return [...found, ...validateLength(event, 'message', 1024)];
}

function validateSeries(event: Event): Violation[] {
  const series = event.series;
  if (!series) return [];
  return [
    ...((series.count ?? 0) < 2 ? [invalid('series.count', '', 'should be at least 2')] : []),
    ...(isAbsent(series.lastObservedTime) ? [required('series.lastObservedTime')] : []),
  ];
}

/** Only the newer form has rules for metadata beyond those of all objects. */
const METADATA_RULES = { namespaced: true, checkName: checkSubdomainName };

/** Checks the additional requirements of the newer form. Messages name the fields of the core form. */
function validateNewerForm(event: Event): Violation[] {
  const found = [...validateMetadata(event, METADATA_RULES), ...validateSeries(event)];
  if (isAbsent(event.eventTime)) found.push(required('eventTime'));
  const type = event.type ?? '';
  if (type !== 'Normal' && type !== 'Warning') found.push(invalid('type', '', `has invalid value: ${type}`));
  const requireUnset = (member: string) => found.push(invalid(member, '', 'needs to be unset'));
  for (const member of ['firstTimestamp', 'lastTimestamp'] as const) if (!isAbsent(event[member])) requireUnset(member);
  if (event.count) requireUnset('count');
  const source = event.source;
  if ((source.component ?? '') || (source.host ?? '')) requireUnset('source');
  return found;
}

/** Violations of a new Event; `system` is the system namespace. */
export function validateEvent(given: AnyEvent, system: string): Violation[] {
  const event = toCoreForm(given);
  const found = validateBothForms(event, isCoreForm(given) ? 'reportingComponent' : 'reportingController', system);
  return isCoreForm(given) ? found : [...found, ...validateNewerForm(event)];
}

/**
 * Immutable members of the newer form, with their fields in messages: the names of the core form, except for the
 * reporter.
 */
const IMMUTABLE: readonly (readonly [member: keyof Event, field: string])[] = [
  ...(
    [
      'involvedObject',
      'reason',
      'message',
      'source',
      'firstTimestamp',
      'lastTimestamp',
      'count',
      'type',
      'eventTime',
    ] as const
  ).map(member => [member, member] as const),
  ['action', 'action'],
  ['related', 'related'],
  ['reportingComponent', 'reportingController'],
  ['reportingInstance', 'reportingInstance'],
];

const TIMES = ['firstTimestamp', 'lastTimestamp', 'eventTime'] as const;

const isTime = (member: keyof Event): member is (typeof TIMES)[number] => TIMES.some(time => time === member);

const validateImmutableTime = (event: Event, old: Event, member: (typeof TIMES)[number]): Violation[] =>
  (event[member] ?? '') === (old[member] ?? '')
    ? []
    : [invalid(member, goTimeText(event[member] ?? ''), 'field is immutable')];

/** Violations of an update of an Event; `system` is the system namespace. */
export function validateEventUpdate(given: AnyEvent, before: AnyEvent, system: string): Violation[] {
  const [event, old] = [toCoreForm(given), toCoreForm(before)];
  const found = validateBothForms(event, isCoreForm(given) ? 'reportingComponent' : 'reportingController', system);
  if (isCoreForm(given)) return found;
  found.push(...validateMetadataUpdate(event, old, METADATA_RULES));
  if (!isSemanticallyEqual(event.series, old.series)) found.push(...validateSeries(event));
  const validateUnchanged = (member: keyof Event, field: string): Violation[] =>
    isTime(member) ? validateImmutableTime(event, old, member) : validateImmutable(event, old, member, field);
  return [...found, ...IMMUTABLE.flatMap(([member, field]) => validateUnchanged(member, field))];
}
