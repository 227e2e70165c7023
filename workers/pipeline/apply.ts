import { first, flag } from '../../core/request/query.js';
import { ANNOTATIONS_BYTES, MANAGER_BYTES } from '../../core/limits.js';
import type { ApiObject, Json } from '../../core/model/object.js';
import { badRequest, Refusal, told } from '../../core/model/refusal.js';
import type { Naming } from '../../core/naming.js';
import { type FieldSet, type Growing, LEAF, pathTexts } from '../../core/schema/apply/fieldSet.js';
import { claimed, LAST_APPLIED_MANAGER, lastAppliedText } from '../../core/schema/apply/lastApplied.js';
import {
  applied,
  type AppliedObject,
  ApplyConflict,
  type Conflict,
  type Kind,
  NotApplicable,
  updated,
  type Version,
  type Writer,
} from '../../core/schema/apply/manager.js';
import {
  entriesOf,
  type Owner,
  type Owners,
  ownersOf,
  readEntries,
  sameOwners,
} from '../../core/schema/apply/owners.js';
import { ownersOfScale, ownersThroughScale, SCALE_VERSION } from '../../core/schema/apply/scale.js';
import { shapeOf } from '../../core/schema/apply/shape.js';
import { normalize } from '../../core/schema/decode.js';
import { parseStrict } from '../../core/schema/json.js';
import { equalJson, isMembers, type Members } from '../../core/schema/patch/members.js';
import type { Resource } from '../../core/schema/resource.js';
import { decodeYamlStrict } from '../../core/schema/yaml.js';
import { complain, decodePatched } from './body.js';
import { type Context, type Permitted, timestamp } from './context.js';
import { UNPRINTABLE, type WriteOptions } from './options.js';

/**
 * Who writes: the parameter, or what the client calls itself up to the first slash (spec, "Headers"), without what
 * cannot be printed.
 */
function managerOf({ job, route }: Permitted): string {
  const named = first(route.query, 'fieldManager');
  if (named) return named;
  let manager = '';
  for (const char of job.userAgent.split('/', 1)[0]!) {
    if (UNPRINTABLE.test(char)) continue;
    if (Buffer.byteLength(manager + char) > MANAGER_BYTES) break;
    manager += char;
  }
  return manager;
}

const writerOf = (context: Context, permitted: Permitted): Writer => ({
  manager: managerOf(permitted),
  subresource: permitted.route.subresource?.name ?? '',
  now: timestamp(context.now()),
});

const blanks = new WeakMap<Resource, Json>();

/** What a new object of the kind shows: members that are no pointers stand there from the beginning. */
function blankOf(resource: Resource): Json {
  if (!resource.builtIn) return {};
  let blank = blanks.get(resource);
  if (!blank) blanks.set(resource, (blank = normalize(resource.type, {}, { complaints: [] })));
  return blank;
}

const same = (set: FieldSet): FieldSet => set;

function withoutStatus(set: FieldSet): FieldSet {
  if (!('f:status' in set)) return set;
  const { 'f:status': _status, ...rest } = set;
  return rest;
}

function statusOnly(set: FieldSet): FieldSet {
  const out: Growing = {};
  for (const name of ['f:metadata', 'f:status']) if (set[name]) out[name] = set[name];
  return out;
}

function ownedOf({ route, resource }: Permitted): Kind['owned'] {
  if (route.subresource) return route.subresource.name === 'status' ? statusOnly : same;
  return resource.strategy.hasStatus ? withoutStatus : same;
}

/** A served version of the resource's kind; objects of any version convert to it. */
function versionOf(resource: Resource, served: Resource): Version {
  const { convert } = resource.strategy;
  return {
    shape: shapeOf(served.type),
    convert(object) {
      const given = object as unknown as ApiObject;
      if (given.apiVersion === undefined || given.apiVersion === served.apiVersion) return object;
      const there = convert?.(given, served.apiVersion) ?? { ...given, apiVersion: served.apiVersion };
      return there as unknown as Json;
    },
  };
}

function kindOf({ registry }: Context, permitted: Permitted): Kind {
  const { resource } = permitted;
  return {
    apiVersion: resource.apiVersion,
    empty: blankOf(resource),
    owned: ownedOf(permitted),
    version(apiVersion) {
      const served = apiVersion === resource.apiVersion ? resource : registry.byKind(apiVersion, resource.kind);
      return served?.storageName === resource.storageName ? versionOf(resource, served) : undefined;
    },
  };
}

const json = (object: ApiObject): Json => object as unknown as Json;

const NOBODY: Owners = new Map();

/** Who owns the fields of an object that is created. */
export const ownersOfNew = (context: Context, permitted: Permitted, object: ApiObject): Owners =>
  updated(kindOf(context, permitted), writerOf(context, permitted), undefined, json(object), NOBODY);

/** The managers that a write begins with; `reset`: the client asked to forget them (spec, "Clearing managedFields"). */
function given(object: ApiObject, old: ApiObject): { readonly owners: Owners; readonly reset: boolean } {
  const entries = object.metadata.managedFields;
  const current = ownersOf(old.metadata.managedFields);
  // Clients that know nothing of the field leave it out, or send what they read.
  if (
    !entries?.length ||
    equalJson(entries as unknown as Json, (old.metadata.managedFields ?? null) as unknown as Json)
  )
    return { owners: current, reset: false };
  if (entries.length === 1 && Object.keys(entries[0]!).length === 0) return { owners: NOBODY, reset: true };
  return { owners: readEntries(entries) ?? current, reset: false };
}

/**
 * Who owns the fields of `object`, which replaces `old` by a write that is no apply. Objects that nobody's fields are
 * known of stay so.
 */
export function ownersOfUpdated(context: Context, permitted: Permitted, object: ApiObject, old: ApiObject): Owners {
  const current = ownersOf(old.metadata.managedFields);
  const { owners, reset } = permitted.route.subresource ? { owners: current, reset: false } : given(object, old);
  if (owners.size === 0 && !reset) return NOBODY;
  return updated(kindOf(context, permitted), writerOf(context, permitted), json(old), json(object), owners);
}

type Entries = ApiObject['metadata']['managedFields'];

function setEntries({ metadata }: ApiObject, entries: Entries): void {
  if (entries?.length) metadata.managedFields = entries;
  else delete metadata.managedFields;
}

/** Writes the managers into the object and gives their entries. */
export function setOwners(object: ApiObject, owners: Owners): Entries {
  const entries = entriesOf(owners);
  setEntries(object, entries);
  return entries;
}

/** Mutators may have changed the entries that were set: malformed ones are not taken, with a warning. */
export function checkOwners(object: ApiObject, set: Entries, warnings: string[]): void {
  const now = object.metadata.managedFields;
  if (now === set) return;
  const owners = readEntries(now);
  setEntries(object, owners ? entriesOf(owners) : set);
  if (!owners)
    warnings.push(
      '.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests',
    );
}

/** The entries to compare with the current object's: its own, where nothing but times differs. */
export function settledEntries(object: ApiObject, old: ApiObject): Entries {
  const [now, before] = [object.metadata.managedFields, old.metadata.managedFields];
  return now && before && sameOwners(ownersOf(now), ownersOf(before)) ? before : now;
}

/** An applied object, decoded, with its managers. */
export interface AppliedWrite {
  readonly object: ApiObject;
  readonly owners: Owners;
}

/** The object that an apply makes of the current one, or of none. Throws 400, 409 and 422. */
export function appliedTo(
  context: Context,
  permitted: Permitted,
  options: WriteOptions,
  old: ApiObject | undefined,
): AppliedWrite {
  const { resource, route } = permitted;
  const config = configOf(permitted, options, resource.apiVersion, resource.kind);
  const kind = kindOf(context, permitted);
  const { object, owners } = apply(
    context,
    permitted,
    kind,
    old,
    statusConfig(permitted, config),
    ownersOf(old?.metadata.managedFields),
  );
  const decoded = decodePatched(permitted, options, object);
  // A status is applied without the annotation that belongs to the object.
  if (!route.subresource) keepLastApplied(context.naming, permitted, decoded, config);
  return { object: decoded, owners };
}

/** What a status write takes of a configuration: the status, and of metadata what tells the object. */
function statusConfig({ route }: Permitted, config: Members): Members {
  if (route.subresource?.name !== 'status' || !isMembers(config['metadata'])) return config;
  const { name, namespace, uid, resourceVersion } = config['metadata'];
  const metadata = Object.fromEntries(
    Object.entries({ name, namespace, uid, resourceVersion }).filter(
      (entry): entry is [string, Json] => entry[1] !== undefined,
    ),
  );
  return { ...config, metadata };
}

/** The replicas that an apply to a scale leads to, as a scale, with the managers of the object. */
export function appliedToScale(
  context: Context,
  permitted: Permitted,
  options: WriteOptions,
  old: ApiObject,
  scale: ApiObject,
): AppliedWrite {
  const config = configOf(permitted, options, SCALE_VERSION, 'Scale');
  const owners = ownersOf(old.metadata.managedFields);
  const known = ownersOfScale(owners, countOf(permitted));
  const { object, owners: after } = apply(context, permitted, scaleKind(permitted), scale, config, known);
  const decoded = decodePatched(permitted, options, object, permitted.route.subresource!.type);
  return {
    object: decoded,
    owners: ownersThroughScale(owners, after, countOf(permitted), permitted.resource.apiVersion),
  };
}

/** Who owns the fields of an object whose scale was written. */
export function ownersThrough(
  context: Context,
  permitted: Permitted,
  old: ApiObject,
  scale: ApiObject,
  after: ApiObject,
): Owners {
  const owners = ownersOf(old.metadata.managedFields);
  if (owners.size === 0) return NOBODY;
  const count = countOf(permitted);
  const writer = writerOf(context, permitted);
  const known = updated(scaleKind(permitted), writer, json(scale), json(after), ownersOfScale(owners, count));
  return ownersThroughScale(owners, known, count, permitted.resource.apiVersion);
}

const countOf = ({ resource }: Permitted): readonly string[] => resource.strategy.scale!.spec.map(name => `f:${name}`);

function scaleKind({ route }: Permitted): Kind {
  const version: Version = { shape: shapeOf(route.subresource!.type!), convert: object => object };
  return {
    apiVersion: SCALE_VERSION,
    empty: {},
    owned: same,
    version: apiVersion => (apiVersion === SCALE_VERSION ? version : undefined),
  };
}

/** One apply, with its conflicts as their Status. */
function apply(
  context: Context,
  permitted: Permitted,
  kind: Kind,
  live: ApiObject | undefined,
  config: Members,
  owners: Owners,
): AppliedObject {
  const writer = writerOf(context, permitted);
  const before = live && json(live);
  const force = flag(permitted.route.query, 'force');
  try {
    return applied(kind, writer, before, config, owners, force);
  } catch (thrown) {
    if (thrown instanceof NotApplicable) throw notApplicable(permitted, config, thrown.message);
    if (!(thrown instanceof ApplyConflict)) throw thrown;
    const mine = live && writer.manager === LAST_APPLIED_MANAGER ? claims(context, kind, live) : LEAF;
    const texts = new Set(pathTexts(mine));
    const conflicts = thrown.conflicts.filter(({ path }) => !texts.has(path));
    if (conflicts.length > 0) throw conflictRefusal(conflicts);
    return applied(kind, writer, before, config, owners, true);
  }
}

const annotationOf = (naming: Naming): string => naming.label('kubectl.orchestrator.io/last-applied-configuration');

const claims = ({ naming }: Context, kind: Kind, live: ApiObject): FieldSet =>
  claimed(kind.version(kind.apiVersion)!.shape, live, annotationOf(naming));

/** Clients that read the annotation go on finding the configuration that was applied last. */
function keepLastApplied(naming: Naming, permitted: Permitted, object: ApiObject, config: Members): void {
  const { annotations } = object.metadata;
  const name = annotationOf(naming);
  if (managerOf(permitted) !== LAST_APPLIED_MANAGER || annotations?.[name] === undefined) return;
  annotations[name] = lastAppliedText(config, name);
  const size = Object.entries(annotations).reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value),
    0,
  );
  if (size > ANNOTATIONS_BYTES) delete annotations[name];
}

/** `group/version, Kind=kind`, as upstream prints it. */
function shownKind(apiVersion: Json | undefined, kind: Json | undefined): string {
  const text = typeof apiVersion === 'string' ? apiVersion : '';
  return `${text.includes('/') ? text : `/${text}`}, Kind=${typeof kind === 'string' ? kind : ''}`;
}

/** The configuration of the body: YAML, of which JSON is a part. Throws 400 for one that is none of the kind. */
function configOf(permitted: Permitted, options: WriteOptions, apiVersion: string, kind: string): Members {
  const { value, duplicates } = parsedConfig(permitted.job.body!);
  if (!isMembers(value)) throw badRequest('error decoding YAML: the body must be an object');
  if (value['apiVersion'] !== apiVersion || value['kind'] !== kind)
    throw badRequest(`invalid object type: ${shownKind(value['apiVersion'], value['kind'])}`);
  if (isMembers(value['metadata']) && value['metadata']['managedFields'] != null)
    throw badRequest('metadata.managedFields must be nil');
  complain(options.fieldValidation, duplicates, permitted.warnings, all =>
    badRequest(`error strict decoding YAML: ${all}`),
  );
  return value;
}

/** JSON is read as such where it can be, which is faster; keys given twice are found by the reader of YAML. */
function parsedConfig(body: Uint8Array): { readonly value: Json; readonly duplicates: readonly string[] } {
  if (body[0] !== 0x7b) return decodeYamlStrict(body);
  try {
    const strict = parseStrict(body);
    return strict.duplicates.length > 0 ? decodeYamlStrict(body) : strict;
  } catch {
    return decodeYamlStrict(body);
  }
}

function notApplicable({ target }: Permitted, config: Members, why: string): Refusal {
  const name = [target.namespace, target.name].filter(Boolean).join('/');
  const what = `${name}; ${shownKind(config['apiVersion'], config['kind'])}`;
  return new Refusal('Invalid', `failed to create typed patch object (${what}): ${why}`, {});
}

/** `"one" with subresource "scale" using apps/v1`. */
function shownOwner({ manager, subresource, operation, apiVersion }: Owner): string {
  const sub = subresource ? ` with subresource ${JSON.stringify(subresource)}` : '';
  return `${JSON.stringify(manager)}${sub}${operation === 'Update' ? ` using ${apiVersion}` : ''}`;
}

/** 409 that names every manager and field, of very many the first. */
function conflictRefusal(conflicts: readonly Conflict[]): Refusal {
  const shown = told(conflicts, ({ path }) => path.length);
  const causes = shown.map(({ owner, path }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${shownOwner(owner)}`,
    field: path,
  }));
  return new Refusal('Conflict', `Apply failed with ${conflictText(shown, conflicts.length)}`, { causes });
}

function conflictText(conflicts: readonly Conflict[], total: number): string {
  if (total === 1) return `1 conflict: conflict with ${shownOwner(conflicts[0]!.owner)}: ${conflicts[0]!.path}`;
  const paths = new Map<Owner, string[]>();
  for (const { owner, path } of conflicts) {
    const same = paths.get(owner);
    if (same) same.push(path);
    else paths.set(owner, [path]);
  }
  const lines = [...paths]
    .sort(([a], [b]) => (a.manager < b.manager ? -1 : 1))
    .flatMap(([owner, own]) => [`conflicts with ${shownOwner(owner)}:`, ...own.map(path => `- ${path}`)]);
  if (conflicts.length < total) lines.push('and more');
  return `${total} conflicts: ${lines.join('\n')}`;
}
