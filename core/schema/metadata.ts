import type { Strategy } from '../api/strategy.js';
import { ANNOTATIONS_BYTES, BODY_BYTES } from '../limits.js';
import { dns1123Label, labelValue, pathSegment, qualifiedName } from '../model/names.js';
import type { ApiObject, ObjectMeta, OwnerReference } from '../model/object.js';
import {
  forbiddenField,
  invalid,
  Literal,
  required,
  shown,
  tooLong,
  type Violation,
  VIOLATIONS_TOLD,
} from '../model/refusal.js';
import { PRODUCTS } from '../naming.js';

/** What metadata is checked against. */
export interface MetadataRules {
  readonly namespaced: boolean;
  readonly checkName: Strategy['checkName'];
  /**
   * Finalizers without a domain that the kind takes; absent: the standard ones; `any`: every qualified name (custom
   * resources).
   */
  readonly finalizers?: ReadonlySet<string> | 'any';
}

const ORPHAN = 'orphan';
const FOREGROUND = 'foregroundDeletion';
/** Finalizers without a domain: those of the server, and the namespace's in either naming. */
const STANDARD_FINALIZERS: ReadonlySet<string> = new Set([...PRODUCTS, ORPHAN, FOREGROUND]);

/** Violations of a new object's metadata (spec, "Object envelope and common metadata"). */
export function validateMetadata(object: ApiObject, rules: MetadataRules): readonly Violation[] {
  const meta = object.metadata;
  return [
    ...names(meta, rules),
    ...namespace(meta, rules),
    ...((meta.generation ?? 0) < 0
      ? [invalid('metadata.generation', meta.generation, 'must be greater than or equal to 0')]
      : []),
    ...common(meta),
    ...finalizers(meta.finalizers ?? [], rules),
  ];
}

/**
 * Violations of the metadata of an update. What an update leaves out and the server fills in (uid, times) has to be
 * filled in before.
 */
export function validateMetadataUpdate(object: ApiObject, old: ApiObject, rules: MetadataRules): readonly Violation[] {
  const meta = object.metadata;
  const { generateName = '' } = meta;
  return [
    ...pathSegment(generateName, true).map(text => invalid('metadata.generateName', generateName, text)),
    ...newFinalizers(meta, old.metadata),
    ...immutable(meta, old.metadata),
    ...common(meta),
    ...finalizers(meta.finalizers ?? [], rules),
  ];
}

function names(meta: ObjectMeta, { checkName }: MetadataRules): Violation[] {
  const found: Violation[] = [];
  const { name, generateName } = meta;
  if (generateName)
    found.push(...checkName(generateName, true).map(text => invalid('metadata.generateName', generateName, text)));
  if (!name) found.push(required('metadata.name', 'name or generateName is required'));
  else found.push(...checkName(name, false).map(text => invalid('metadata.name', name, text)));
  return found;
}

function namespace({ namespace: text }: ObjectMeta, { namespaced }: MetadataRules): Violation[] {
  const field = 'metadata.namespace';
  if (!namespaced) return text ? [forbiddenField(field, 'not allowed on this type')] : [];
  return text ? dns1123Label(text).map(complaint => invalid(field, text, complaint)) : [required(field)];
}

/** What is checked on create and update alike. */
const common = (meta: ObjectMeta): Violation[] => [
  ...labels(meta.labels ?? {}),
  ...annotations(meta.annotations ?? {}),
  ...owners(meta.ownerReferences ?? []),
];

/** Violations of each, until there are more than a refusal tells: a body has room for a million finalizers. */
function ofEach<T>(given: readonly T[], violations: (one: T, index: number) => readonly Violation[]): Violation[] {
  const found: Violation[] = [];
  for (let i = 0; i < given.length && found.length <= VIOLATIONS_TOLD; i++) found.push(...violations(given[i]!, i));
  return found;
}

const labels = (given: { readonly [key: string]: string }): Violation[] =>
  ofEach(Object.entries(given), ([key, value]) => [
    ...qualifiedName(key).map(text => invalid('metadata.labels', key, text)),
    ...labelValue(value).map(text => invalid('metadata.labels', value, text)),
  ]);

function annotations(given: { readonly [key: string]: string }): Violation[] {
  const entries = Object.entries(given);
  // The case of the domain does not matter here, unlike in labels.
  const found = ofEach(entries, ([key]) =>
    qualifiedName(key.toLowerCase()).map(text => invalid('metadata.annotations', key, text)),
  );
  const size = entries.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);
  if (size > ANNOTATIONS_BYTES) found.push(tooLong('metadata.annotations', ANNOTATIONS_BYTES));
  return found;
}

/** Group and version of an `apiVersion`; both empty if it has more than one slash. */
function groupVersion(apiVersion: string): readonly [group: string, version: string] {
  const parts = apiVersion.split('/');
  if (parts.length > 2) return ['', ''];
  return parts.length === 2 ? [parts[0]!, parts[1]!] : ['', apiVersion];
}

function owner(given: OwnerReference): Violation[] {
  const found: Violation[] = [];
  const field = 'metadata.ownerReferences';
  const { apiVersion = '', kind = '', name = '', uid = '' } = given;
  const [group, version] = groupVersion(apiVersion);
  if (!version) found.push(invalid(`${field}.apiVersion`, apiVersion, 'version must not be empty'));
  if (!kind) found.push(invalid(`${field}.kind`, kind, 'kind must not be empty'));
  if (!name) found.push(invalid(`${field}.name`, name, 'name must not be empty'));
  if (!uid) found.push(invalid(`${field}.uid`, uid, 'uid must not be empty'));
  // Events outlive what they are about and come in floods: collecting by them would never end.
  if (group === '' && version === 'v1' && kind === 'Event')
    found.push(invalid(field, given, '/v1, Kind=Event is disallowed from being an owner'));
  return found;
}

/**
 * Each further controller is told with the whole list, as often as the texts together stay within what a body may have.
 */
function owners(given: readonly OwnerReference[]): Violation[] {
  let controller: string | undefined;
  let list: Literal | undefined;
  let left = BODY_BYTES;
  return ofEach(given, reference => {
    const found = owner(reference);
    const name = `${reference.kind}/${reference.name}`;
    if (!reference.controller || left <= 0) return found;
    if (controller === undefined) {
      controller = name;
      return found;
    }
    list ??= new Literal(shown(given));
    left -= list.text.length;
    const why = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`;
    return [...found, invalid('metadata.ownerReferences', list, why)];
  });
}

function finalizers(given: readonly string[], rules: MetadataRules): Violation[] {
  const field = 'metadata.finalizers';
  const found = ofEach(given, name => qualifiedName(name).map(text => invalid(field, name, text)));
  if (given.includes(ORPHAN) && given.includes(FOREGROUND))
    found.push(invalid(field, given, `finalizer ${ORPHAN} and ${FOREGROUND} cannot be both set`));
  const known = rules.finalizers ?? STANDARD_FINALIZERS;
  if (known === 'any') return found;
  const why = 'name is neither a standard finalizer name nor is it fully qualified';
  const bare = ofEach(given, (name, i) =>
    name.includes('/') || known.has(name) ? [] : [invalid(`${field}[${i}]`, name, why)],
  );
  return [...found, ...bare];
}

/** An object that is being deleted only loses finalizers. The list of names is printed as Go prints a slice. */
function newFinalizers(meta: ObjectMeta, old: ObjectMeta): Violation[] {
  if (!old.deletionTimestamp) return [];
  const before = new Set(old.finalizers ?? []);
  const added = [...new Set(meta.finalizers ?? [])].filter(name => !before.has(name)).sort();
  if (added.length === 0) return [];
  const list = `[]string{${added.map(name => JSON.stringify(name)).join(', ')}}`;
  return [
    forbiddenField(
      'metadata.finalizers',
      `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`,
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
const TEXTS: ReadonlySet<string> = new Set(['name', 'namespace', 'uid']);

/** An absent text is the empty one, an absent time or number is null. */
const settled = (meta: ObjectMeta, member: (typeof IMMUTABLE)[number]): unknown =>
  meta[member] ?? (TEXTS.has(member) ? '' : null);

const immutable = (meta: ObjectMeta, old: ObjectMeta): Violation[] =>
  IMMUTABLE.filter(member => settled(meta, member) !== settled(old, member)).map(member =>
    invalid(`metadata.${member}`, settled(meta, member), 'field is immutable'),
  );
