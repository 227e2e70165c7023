import { qualifiedName } from '../../../../core/model/names.js';
import type { ApiObject } from '../../../../core/model/object.js';
import { isAbsent, isSemanticallyEqual, numberAt, recordAt, stringAt } from '../../../../core/model/record.js';
import { invalid, required, type Violation } from '../../../../core/model/refusal.js';
import { validateMetadata, validateMetadataUpdate } from '../../../../core/schema/metadata.js';
import { checkSubdomainName } from '../../shared/names.js';
import { convertEvent } from './conversion.js';
import { toViolations, validateImmutable, goTimeText } from '../../shared/violations.js';

/** Converts an Event of any form to the core form. */
const toCoreForm = (event: ApiObject): ApiObject => convertEvent(event, 'v1');

const validateLength = (event: ApiObject, member: string, most: number): Violation[] =>
  Buffer.byteLength(stringAt(event, member)) > most ? [invalid(member, '', `can have at most ${most} characters`)] : [];

/**
 * Checks that an Event is in the namespace of its object. Events of objects without a namespace are in one of `homes`.
 */
function validateNamespace(event: ApiObject, homes: readonly string[]): Violation[] {
  const [involved, own] = [stringAt(event, 'involvedObject', 'namespace'), event.metadata.namespace ?? ''];
  return involved === own || (involved === '' && homes.includes(own))
    ? []
    : [invalid('involvedObject.namespace', involved, 'does not match event.namespace')];
}

/**
 * Checks what both forms require. Events without eventTime come from old clients and are hardly validated. `reporter`
 * is the name of the field with the reporter in this form.
 */
function validateBothForms(event: ApiObject, reporter: string, system: string): Violation[] {
  if (isAbsent(event.eventTime)) return validateNamespace(event, ['default']);
  const involved = stringAt(event, 'involvedObject', 'namespace');
  const found = involved === '' ? validateNamespace(event, ['default', system]) : [];
  const controller = stringAt(event, 'reportingComponent');
  if (controller === '') found.push(required(reporter));
  found.push(...toViolations(reporter, controller, qualifiedName(controller)));
  for (const member of ['reportingInstance', 'action', 'reason']) {
    if (stringAt(event, member) === '') found.push(required(member));
    found.push(...validateLength(event, member, 128));
  }
  return [...found, ...validateLength(event, 'message', 1024)];
}

function validateSeries(event: ApiObject): Violation[] {
  const series = recordAt(event, 'series');
  if (!series) return [];
  return [
    ...((numberAt(series, 'count') ?? 0) < 2 ? [invalid('series.count', '', 'should be at least 2')] : []),
    ...(isAbsent(series.lastObservedTime) ? [required('series.lastObservedTime')] : []),
  ];
}

/** Only the newer form has rules for metadata beyond those of all objects. */
const METADATA_RULES = { namespaced: true, checkName: checkSubdomainName };

/** Checks what the newer form requires in addition. Messages name the fields of the core form. */
function validateNewerForm(event: ApiObject): Violation[] {
  const found = [...validateMetadata(event, METADATA_RULES), ...validateSeries(event)];
  if (isAbsent(event.eventTime)) found.push(required('eventTime'));
  const type = stringAt(event, 'type');
  if (type !== 'Normal' && type !== 'Warning') found.push(invalid('type', '', `has invalid value: ${type}`));
  const requireUnset = (member: string) => found.push(invalid(member, '', 'needs to be unset'));
  for (const member of ['firstTimestamp', 'lastTimestamp']) if (!isAbsent(event[member])) requireUnset(member);
  if (numberAt(event, 'count')) requireUnset('count');
  const source = recordAt(event, 'source');
  if (stringAt(source, 'component') || stringAt(source, 'host')) requireUnset('source');
  return found;
}

const isCoreForm = (event: ApiObject): boolean => event.apiVersion === 'v1';

/** Violations of a new Event; `system` is the system namespace. */
export function validateEvent(given: ApiObject, system: string): Violation[] {
  const event = toCoreForm(given);
  const found = validateBothForms(event, isCoreForm(given) ? 'reportingComponent' : 'reportingController', system);
  return isCoreForm(given) ? found : [...found, ...validateNewerForm(event)];
}

/**
 * Immutable members of the newer form, with their fields in messages: the names of the core form, except for the
 * reporter.
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

const validateImmutableTime = (event: ApiObject, old: ApiObject, member: string): Violation[] =>
  stringAt(event, member) === stringAt(old, member)
    ? []
    : [invalid(member, goTimeText(stringAt(event, member)), 'field is immutable')];

/** Violations of an update of an Event; `system` is the system namespace. */
export function validateEventUpdate(given: ApiObject, before: ApiObject, system: string): Violation[] {
  const [event, old] = [toCoreForm(given), toCoreForm(before)];
  const found = validateBothForms(event, isCoreForm(given) ? 'reportingComponent' : 'reportingController', system);
  if (isCoreForm(given)) return found;
  found.push(...validateMetadataUpdate(event, old, METADATA_RULES));
  if (!isSemanticallyEqual(event.series, old.series)) found.push(...validateSeries(event));
  const validateUnchanged = (member: string, field: string): Violation[] =>
    TIMES.has(member) ? validateImmutableTime(event, old, member) : validateImmutable(event, old, member, field);
  return [...found, ...IMMUTABLE.flatMap(([member, field]) => validateUnchanged(member, field))];
}
