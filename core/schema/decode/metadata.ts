import type { Strategy } from '../../api/strategy.js';
import { ANNOTATIONS_BYTES, BODY_BYTES } from '../../limits.js';
import { dns1123Label, labelValue, pathSegment, qualifiedName } from '../../model/names.js';
import type { ApiObject, ObjectMeta, OwnerReference } from '../../model/object.js';
import { goStrings } from '../../model/text/goText.js';
import {
  forbiddenField,
  invalid,
  Verbatim,
  required,
  formatValue,
  tooLong,
  type Violation,
  MAX_VIOLATIONS,
} from '../../model/refusal.js';
import { PRODUCTS } from '../../naming.js';

/** The rules of metadata that depend on the kind. */
export interface MetadataRules {
  readonly namespaced: boolean;
  readonly checkName: Strategy['checkName'];
  /** Whether an update checks the prefix of a generated name as a create does: before the finalizers, or after them. */
  readonly revalidatesName?: boolean | 'first' | undefined;
  /** Finalizers without a domain that are allowed. Default: the standard ones. `any`: all (custom resources). */
  readonly finalizers?: ReadonlySet<string> | 'any';
}

const ORPHAN = 'orphan';
const FOREGROUND = 'foregroundDeletion';
/** Standard finalizers without a domain: those of the server, and that of namespaces in both namings. */
export const STANDARD_FINALIZERS: ReadonlySet<string> = new Set([...PRODUCTS, ORPHAN, FOREGROUND]);

/** Validates the metadata of a new object (spec, "Object envelope and common metadata"). */
export function validateMetadata(object: ApiObject, rules: MetadataRules): readonly Violation[] {
  const meta = object.metadata;
  return [
    ...nameViolations(meta, rules),
    ...namespaceViolations(meta, rules),
    ...((meta.generation ?? 0) < 0
      ? [invalid('metadata.generation', meta.generation, 'must be greater than or equal to 0')]
      : []),
    ...commonViolations(meta),
    ...finalizerViolations(meta.finalizers ?? [], rules),
  ];
}

/**
 * Validates the metadata of an update. Fields that the server fills in (uid, times) must have been filled in before.
 */
export function validateMetadataUpdate(object: ApiObject, old: ApiObject, rules: MetadataRules): readonly Violation[] {
  const meta = object.metadata;
  const { generateName = '' } = meta;
  return [
    ...pathSegment(generateName, true).map(text => invalid('metadata.generateName', generateName, text)),
    ...newFinalizerViolations(meta, old.metadata),
    ...immutableViolations(meta, old.metadata),
    ...commonViolations(meta),
    ...(rules.revalidatesName === 'first' ? generateNameViolations(meta, rules) : []),
    ...finalizerViolations(meta.finalizers ?? [], rules),
    ...(rules.revalidatesName === true ? generateNameViolations(meta, rules) : []),
  ];
}

const generateNameViolations = ({ generateName }: ObjectMeta, { checkName }: MetadataRules): Violation[] =>
  generateName ? checkName(generateName, true).map(text => invalid('metadata.generateName', generateName, text)) : [];

function nameViolations(meta: ObjectMeta, rules: MetadataRules): Violation[] {
  const found = generateNameViolations(meta, rules);
  const { name } = meta;
  if (!name) found.push(required('metadata.name', 'name or generateName is required'));
  else found.push(...rules.checkName(name, false).map(text => invalid('metadata.name', name, text)));
  return found;
}

function namespaceViolations({ namespace: text }: ObjectMeta, { namespaced }: MetadataRules): Violation[] {
  const field = 'metadata.namespace';
  if (!namespaced) return text ? [forbiddenField(field, 'not allowed on this type')] : [];
  return text ? dns1123Label(text).map(complaint => invalid(field, text, complaint)) : [required(field)];
}

/** Violations checked for both creations and updates. */
const commonViolations = (meta: ObjectMeta): Violation[] => [
  ...labelViolations(meta.labels ?? {}),
  ...annotationViolations(meta.annotations ?? {}),
  ...ownerListViolations(meta.ownerReferences ?? []),
];

/** Validates items until there are more violations than an error reports: a body may have a million finalizers. */
function collectViolations<T>(
  given: readonly T[],
  violations: (one: T, index: number) => readonly Violation[],
): Violation[] {
  const found: Violation[] = [];
  for (let i = 0; i < given.length && found.length <= MAX_VIOLATIONS; i++) found.push(...violations(given[i]!, i));
  return found;
}

const labelViolations = (given: { readonly [key: string]: string }): Violation[] =>
  collectViolations(Object.entries(given), ([key, value]) => [
    ...qualifiedName(key).map(text => invalid('metadata.labels', key, text)),
    ...labelValue(value).map(text => invalid('metadata.labels', value, text)),
  ]);

function annotationViolations(given: { readonly [key: string]: string }): Violation[] {
  const entries = Object.entries(given);
  // Unlike in labels, the domain may have upper-case letters.
  const found = collectViolations(entries, ([key]) =>
    qualifiedName(key.toLowerCase()).map(text => invalid('metadata.annotations', key, text)),
  );
  const size = entries.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);
  if (size > ANNOTATIONS_BYTES) found.push(tooLong('metadata.annotations', ANNOTATIONS_BYTES));
  return found;
}

/** Returns the violations in either labels or annotations. */
export const metadataTextViolations = (
  member: 'labels' | 'annotations',
  given: { readonly [key: string]: string },
): Violation[] => (member === 'labels' ? labelViolations(given) : annotationViolations(given));

/** The group and version of an `apiVersion`; both are empty if it has more than one slash. */
function groupVersion(apiVersion: string): readonly [group: string, version: string] {
  const parts = apiVersion.split('/');
  if (parts.length > 2) return ['', ''];
  return parts.length === 2 ? [parts[0]!, parts[1]!] : ['', apiVersion];
}

function ownerViolations(given: OwnerReference): Violation[] {
  const found: Violation[] = [];
  const field = 'metadata.ownerReferences';
  const { apiVersion = '', kind = '', name = '', uid = '' } = given;
  const [group, version] = groupVersion(apiVersion);
  if (!version) found.push(invalid(`${field}.apiVersion`, apiVersion, 'version must not be empty'));
  if (!kind) found.push(invalid(`${field}.kind`, kind, 'kind must not be empty'));
  if (!name) found.push(invalid(`${field}.name`, name, 'name must not be empty'));
  if (!uid) found.push(invalid(`${field}.uid`, uid, 'uid must not be empty'));
  // Events must not be owners, since they expire.
  if (group === '' && version === 'v1' && kind === 'Event')
    found.push(invalid(field, given, '/v1, Kind=Event is disallowed from being an owner'));
  return found;
}

/**
 * Validates owner references. The violation for a second controller contains the whole list, so the number of such
 * violations is limited by their total length.
 */
function ownerListViolations(given: readonly OwnerReference[]): Violation[] {
  let controller: string | undefined;
  let list: Verbatim | undefined;
  let remaining = BODY_BYTES;
  return collectViolations(given, reference => {
    const found = ownerViolations(reference);
    const name = `${reference.kind}/${reference.name}`;
    if (!reference.controller || remaining <= 0) return found;
    if (controller === undefined) {
      controller = name;
      return found;
    }
    list ??= new Verbatim(formatValue(given));
    remaining -= list.text.length;
    const why =
      'Only one reference can have Controller set to true. ' +
      `Found "true" in references for ${controller} and ${name}`;
    return [...found, invalid('metadata.ownerReferences', list, why)];
  });
}

function finalizerViolations(given: readonly string[], rules: MetadataRules): Violation[] {
  const field = 'metadata.finalizers';
  const found = collectViolations(given, name => qualifiedName(name).map(text => invalid(field, name, text)));
  if (given.includes(ORPHAN) && given.includes(FOREGROUND))
    found.push(invalid(field, goStrings(given), `finalizer ${ORPHAN} and ${FOREGROUND} cannot be both set`));
  const known = rules.finalizers ?? STANDARD_FINALIZERS;
  if (known === 'any') return found;
  const why = 'name is neither a standard finalizer name nor is it fully qualified';
  const unqualified = collectViolations(given, (name, i) =>
    name.includes('/') || known.has(name) ? [] : [invalid(`${field}[${i}]`, name, why)],
  );
  return [...found, ...unqualified];
}

/** No finalizers may be added to an object that is being deleted. The message prints their names as a Go slice. */
function newFinalizerViolations(meta: ObjectMeta, old: ObjectMeta): Violation[] {
  if (!old.deletionTimestamp) return [];
  const before = new Set(old.finalizers ?? []);
  const added = [...new Set(meta.finalizers ?? [])].filter(name => !before.has(name)).sort();
  if (added.length === 0) return [];
  return [
    forbiddenField(
      'metadata.finalizers',
      `no new finalizers can be added if the object is being deleted, found new finalizers ${goStrings(added).text}`,
    ),
  ];
}

const IMMUTABLE = [
  'name',
  'namespace',
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
] as const;
const TEXT_FIELDS: ReadonlySet<string> = new Set(['name', 'namespace', 'uid']);

/** A field for comparison: an absent text is empty, an absent time or number is null. */
const comparableValue = (meta: ObjectMeta, member: (typeof IMMUTABLE)[number]): unknown =>
  meta[member] ?? (TEXT_FIELDS.has(member) ? '' : null);

/** A value in the form in which Go prints it in messages: times do not count as strings. */
const shownValue = (meta: ObjectMeta, member: (typeof IMMUTABLE)[number]): unknown => {
  const value = comparableValue(meta, member);
  if (!member.endsWith('Timestamp') || typeof value !== 'string') return value;
  return new Verbatim(`${value.replace('T', ' ').replace('Z', '')} +0000 UTC`);
};

const immutableViolations = (meta: ObjectMeta, old: ObjectMeta): Violation[] =>
  IMMUTABLE.filter(member => comparableValue(meta, member) !== comparableValue(old, member)).map(member =>
    invalid(`metadata.${member}`, shownValue(meta, member), 'field is immutable'),
  );
