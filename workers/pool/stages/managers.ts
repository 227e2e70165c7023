import { MANAGER_BYTES } from '../../../core/limits.js';
import type { Awaitable } from '../../../core/api/point.js';
import type { ApiObject, Json } from '../../../core/model/object.js';
import { Refusal, tooLong, type Violation } from '../../../core/model/refusal.js';
import { firstValue } from '../../../core/request/query.js';
import { asSent } from '../../../core/schema/apply/asSent.js';
import { type FieldSet, withoutPath } from '../../../core/schema/apply/fieldSet.js';
import type { KindVersion, ManagedKind } from '../../../core/schema/apply/managedKind.js';
import { SchemaMismatch, updateManagers, type Writer } from '../../../core/schema/apply/ownership.js';
import {
  encodeManagers,
  type FieldManagers,
  decodeManagers,
  parseManagers,
  sameManagers,
} from '../../../core/schema/apply/fieldManagers.js';
import { scaleManagers, managersAfterScale, SCALE_VERSION } from '../../../core/schema/apply/scale.js';
import { shapeOf } from '../../../core/schema/apply/shape.js';
import { normalize } from '../../../core/schema/decode/decode.js';
import { typedForm } from '../../../core/schema/decode/typedForm.js';
import type { Struct } from '../../../core/schema/model.js';
import { equalJson } from '../../../core/schema/patch/members.js';
import type { Registry, Resource } from '../../../core/schema/resource.js';
import { type Context, timestamp } from '../context.js';
import { computeWith } from '../answers/conversion.js';
import { UNPRINTABLE } from '../body/options.js';
import type { AuthorizedRequest, ManagedFields } from '../types.js';

/**
 * The manager of a write: the parameter `fieldManager`, else the printable part of the User-Agent up to its first slash
 * (spec, "Headers"), else `unknown`.
 */
export function managerOf({ job, route }: AuthorizedRequest): string {
  const named = firstValue(route.query, 'fieldManager');
  if (named) return named;
  let manager = '';
  for (const char of job.userAgent.split('/', 1)[0]!) {
    if (UNPRINTABLE.test(char)) continue;
    if (Buffer.byteLength(manager + char) > MANAGER_BYTES) break;
    manager += char;
  }
  return manager || 'unknown';
}

/** The manager of a write, its subresource and time. */
export const writerOf = (context: Context, request: AuthorizedRequest): Writer => ({
  manager: managerOf(request),
  subresource: request.route.subresource?.name ?? '',
  now: timestamp(context.now()),
});

const emptyObjects = new WeakMap<Resource, Json>();

/** An object of the kind without any fields set: it has the members that are always encoded. */
function emptyObject(resource: Resource): Json {
  if (!resource.builtIn) return {};
  let empty = emptyObjects.get(resource);
  if (!empty) emptyObjects.set(resource, (empty = normalize(resource.type, {}, { strictErrors: [] })));
  return empty;
}

const allFields = (set: FieldSet): FieldSet => set;

function withoutStatus(set: FieldSet): FieldSet {
  if (!('f:status' in set)) return set;
  const { 'f:status': _status, ...rest } = set;
  return rest;
}

/** The fields that a write of the status may own: those of the status, and those of the metadata except `kept`. */
function statusFields(set: FieldSet, kept: readonly string[] = []): FieldSet {
  const { 'f:metadata': metadata, 'f:status': status } = set;
  const rest = Object.entries(metadata ?? {}).filter(([name]) => !kept.includes(name.slice('f:'.length)));
  const hasMetadata = rest.some(([name]) => name !== '.');
  return {
    ...(hasMetadata ? { 'f:metadata': Object.fromEntries(rest) } : {}),
    ...(status ? { 'f:status': status } : {}),
  };
}

/** The set without the fields at and below some paths of members. */
const withoutPaths = (set: FieldSet, paths: readonly (readonly string[])[]): FieldSet =>
  paths.reduce((rest, path) => withoutPath(rest, path), set);

/** The filter for fields that the manager of a write may own, before the kind's own exceptions. */
function fieldsOfWrite({ route, resource }: AuthorizedRequest): ManagedKind['writable'] {
  if (route.subresource?.name === 'status')
    return set => statusFields(set, resource.builtIn ? resource.strategy.keptInStatus : undefined);
  if (route.subresource) return allFields;
  return resource.strategy.hasStatus ? withoutStatus : allFields;
}

/** The filter for fields that the manager of a write may own. */
function ownedFields(request: AuthorizedRequest): ManagedKind['writable'] {
  const { route, resource } = request;
  const allowed = fieldsOfWrite(request);
  const unowned = resource.strategy.unownedFields?.get(route.subresource?.name ?? '');
  return unowned ? set => withoutPaths(allowed(set), unowned) : allowed;
}

/** A served version of the resource's kind; objects of any version convert to it. */
function versionOf(registry: Registry, resource: Resource, served: Resource): KindVersion {
  const { convert } = resource.strategy;
  return {
    shape: shapeOf(served.type),
    convert(object) {
      const given = object as unknown as ApiObject;
      if (given.apiVersion === undefined || given.apiVersion === served.apiVersion) return object;
      const { apiVersion } = served;
      // Upstream keeps members that a custom kind does not have in the version.
      if (!resource.builtIn) return { ...given, apiVersion } as unknown as Json;
      // Upstream converts objects by types that cannot distinguish nulls and absent members from zero values.
      const { type } = registry.byKind(given.apiVersion, resource.kind) ?? resource;
      const whole = typedForm(type, object) as unknown as ApiObject;
      const converted = convert?.(whole, apiVersion) ?? { ...whole, apiVersion };
      return typedForm(served.type, converted as unknown as Json);
    },
  };
}

/** The kind of the request's object, as the functions of `core/schema/apply` know kinds. */
export function kindOf({ registry }: Context, request: AuthorizedRequest): ManagedKind {
  const { resource } = request;
  return {
    apiVersion: resource.apiVersion,
    empty: emptyObject(resource),
    writable: ownedFields(request),
    version(apiVersion) {
      const served = apiVersion === resource.apiVersion ? resource : registry.byKind(apiVersion, resource.kind);
      // Upstream does not convert field names to another group: its managers lose them.
      const isOther = served?.storageName !== resource.storageName || served.group !== resource.group;
      return isOther ? undefined : versionOf(registry, resource, served);
    },
  };
}

/** A kind of one version. Writes may own all fields of its objects. */
function plainKind(apiVersion: string, type: Struct, empty: Json): ManagedKind {
  const version: KindVersion = { shape: shapeOf(type), convert: object => object };
  return { apiVersion, empty, writable: allFields, version: asked => (asked === apiVersion ? version : undefined) };
}

/** The kind Scale of the request's subresource. */
export const scaleKind = ({ route }: AuthorizedRequest): ManagedKind =>
  plainKind(SCALE_VERSION, route.subresource!.type!, {});

/** The field that holds an object's replicas, as field sets name it. */
export const replicasField = ({ resource }: AuthorizedRequest): readonly string[] =>
  resource.strategy.scale!.spec.map(name => `f:${name}`);

const json = (object: ApiObject): Json => object as unknown as Json;

const NOBODY: FieldManagers = new Map();

/** The object as it was sent, which decides who owns its fields. */
const sentForm = ({ unstored, resource }: AuthorizedRequest, object: ApiObject): Json =>
  asSent(shapeOf(resource.type), json(object), unstored);

/** Returns the owners of the fields of an object that is created. */
export function managersOfNew(context: Context, request: AuthorizedRequest, object: ApiObject): FieldManagers {
  const { managers } = managersBefore(object, { ...object, metadata: {} });
  try {
    const sent = sentForm(request, object);
    return updateManagers(kindOf(context, request), writerOf(context, request), undefined, sent, managers);
  } catch (error) {
    return loseManagers(error);
  }
}

/** The owner of all fields of an object that the server creates besides that of a request: the server itself. */
export function managersOfOwn({ naming, now }: Context, resource: Resource, object: ApiObject): FieldManagers {
  const writer = { manager: naming.component('orchestrator-apiserver'), subresource: '', now: timestamp(now()) };
  const kind = plainKind(resource.apiVersion, resource.type, emptyObject(resource));
  return updateManagers(kind, writer, undefined, json(object), NOBODY);
}

/** Returns the owners of the fields in an action's body, which is not an object of the resource. */
export function managersOfBody(context: Context, request: AuthorizedRequest, body: ApiObject): FieldManagers {
  const { group, version, type } = request.route.subresource ?? request.resource;
  const apiVersion = group ? `${group}/${version}` : version;
  const kind = plainKind(apiVersion, type!, normalize(type!, {}, { strictErrors: [] }));
  return updateManagers(kind, writerOf(context, request), undefined, json(body), NOBODY);
}

/** The managers before a write; `reset`: the client asks to clear them (spec, "Clearing managedFields"). */
function managersBefore(
  object: ApiObject,
  old: ApiObject,
): { readonly managers: FieldManagers; readonly reset: boolean } {
  const sent = object.metadata.managedFields;
  const current = decodeManagers(old.metadata.managedFields);
  // Clients that do not use the field leave it out or send it unchanged.
  if (!sent?.length || equalJson(sent as unknown as Json, (old.metadata.managedFields ?? null) as unknown as Json))
    return { managers: current, reset: false };
  if (sent.length === 1 && Object.keys(sent[0]!).length === 0) return { managers: NOBODY, reset: true };
  return { managers: parseManagers(sent) ?? current, reset: false };
}

/**
 * Returns the owners of the fields of `object`, which replaces `old` by a write other than an apply. An object without
 * managers gets none.
 */
export function managersOfUpdated(
  context: Context,
  request: AuthorizedRequest,
  object: ApiObject,
  old: ApiObject,
): Awaitable<FieldManagers> {
  const { managers, reset } = request.route.subresource
    ? { managers: decodeManagers(old.metadata.managedFields), reset: false }
    : managersBefore(object, old);
  if (managers.size === 0 && !reset) return NOBODY;
  const writer = writerOf(context, request);
  const { resource } = request;
  const sent = sentForm(request, object);
  try {
    const updated = computeWith(context, resource, kindOf(context, request), kind =>
      updateManagers(kind, writer, json(old), sent, managers, !resource.builtIn),
    );
    return updated instanceof Promise ? updated.catch(loseManagers) : updated;
  } catch (error) {
    return loseManagers(error);
  }
}

/**
 * In upstream a write does not fail because its objects cannot be converted to the versions of other managers, or do
 * not match the schema of a version: the object loses its managers. Throws any other error.
 */
function loseManagers(error: unknown): FieldManagers {
  if (error instanceof Refusal || error instanceof SchemaMismatch) return NOBODY;
  throw error;
}

/**
 * Returns the owners of the fields of an object whose scale was changed from `before` to `after` by a write other than
 * an apply.
 */
export function managersOfScaled(
  context: Context,
  request: AuthorizedRequest,
  old: ApiObject,
  before: ApiObject,
  after: ApiObject,
): FieldManagers {
  const managers = decodeManagers(old.metadata.managedFields);
  if (managers.size === 0) return NOBODY;
  const field = replicasField(request);
  const owners = scaleManagers(managers, field);
  // Upstream does not begin to record owners of a scale that has no owners yet.
  if (owners.size === 0) return managers;
  const writer = writerOf(context, request);
  const changed = updateManagers(scaleKind(request), writer, json(before), json(after), owners);
  return managersAfterScale(managers, changed, field, request.resource.apiVersion);
}

/** The entries of the managers of an object's replicas, as those of its scale. */
export const scaleEntries = (request: AuthorizedRequest, { metadata }: ApiObject): ManagedFields =>
  encodeManagers(scaleManagers(decodeManagers(metadata.managedFields), replicasField(request)));

function setEntries({ metadata }: ApiObject, entries: ManagedFields): void {
  if (entries?.length) metadata.managedFields = entries;
  else delete metadata.managedFields;
}

/** Violations of the managers' names, which only entries that a client has sent can have. */
export const managerNameViolations = ({ metadata }: ApiObject): readonly Violation[] =>
  (metadata.managedFields ?? []).flatMap(({ manager = '' }, i) =>
    Buffer.byteLength(manager) > MANAGER_BYTES ? [tooLong(`metadata.managedFields[${i}].manager`, MANAGER_BYTES)] : [],
  );

/** Sets `metadata.managedFields` to the entries of the managers and returns the entries. */
export function setManagers(object: ApiObject, managers: FieldManagers): ManagedFields {
  const entries = encodeManagers(managers);
  setEntries(object, entries);
  return entries;
}

/** Restores the entries that the merge has set if mutators have left malformed ones, and adds a warning. */
export function restoreManagedFields(object: ApiObject, set: ManagedFields, warnings: string[]): void {
  const now = object.metadata.managedFields;
  if (now === set) return;
  const managers = parseManagers(now);
  setEntries(object, managers ? encodeManagers(managers) : set);
  if (!managers)
    warnings.push(
      '.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated ' +
        'mutating admission controller; please fix your requests',
    );
}

/** The entries of `object`; those of `old` if only their times differ. */
export function comparableManagedFields(object: ApiObject, old: ApiObject): ManagedFields {
  const [now, before] = [object.metadata.managedFields, old.metadata.managedFields];
  return now && before && sameManagers(decodeManagers(now), decodeManagers(before)) ? before : now;
}
