import { writeJson } from '../../../core/model/text/jsonText.js';
import type { Json } from '../../../core/model/object.js';
import { badRequest, invalid, invalidObject, type Refusal } from '../../../core/model/refusal.js';
import { isMembers, type Members } from '../../../core/schema/patch/members.js';
import { decodedType, internalType, packageOf } from '../../../core/schema/registry/goTypes.js';
import type { Registry } from '../../../core/schema/resource.js';
import { UnreadableBody } from '../../../core/schema/decode/unreadable.js';
import type { Context } from '../context.js';
import { mediaTypeOf } from './contentType.js';
import type { AuthorizedRequest } from '../types.js';

/** The refusal of a body that is not an object. */
export const notAnObject = (value: Json): Refusal =>
  new UnreadableBody(
    "couldn't get version/kind; json parse error: json: cannot unmarshal " +
      `${Array.isArray(value) ? 'array' : typeof value} into Go value of type struct { APIVersion string ` +
      '"json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }',
  );

/** A string of the envelope; '' if it is absent. Throws 400 if it is not a string. */
function envelopeText(object: Members, name: 'kind' | 'apiVersion'): string {
  const value = object[name] ?? '';
  if (typeof value === 'string') return value;
  const type = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
  throw new UnreadableBody(
    `couldn't get version/kind; json parse error: json: cannot unmarshal ${type} into Go struct field .${name} of ` +
      'type string',
  );
}

/** A version of the core group, which may be written with the slash after its empty name. */
const CORE = /^\/([^/]+)$/;

/** Kind and version of a body; by default those expected. Throws 400 if one is not a string. */
const typeMetaOf = (object: Members, { kind, apiVersion }: TypeMeta): TypeMeta => ({
  kind: envelopeText(object, 'kind') || kind,
  apiVersion: envelopeText(object, 'apiVersion').replace(CORE, '$1') || apiVersion,
});

const groupOf = (apiVersion: string): string =>
  apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
const versionOf = (apiVersion: string): string => apiVersion.slice(apiVersion.indexOf('/') + 1);

interface TypeMeta {
  readonly kind: string;
  readonly apiVersion: string;
}

/** The kind and version that a body is expected to have. `type`: the type into which upstream decodes it. */
interface Expected extends TypeMeta {
  readonly type: string;
  /** Bodies of a patch are refused with the reason alone. */
  readonly isPatched: boolean;
}

/**
 * The refusal of a body of a built-in kind that names another kind or version. As in upstream, it says why the body
 * cannot be decoded as the expected kind, or that it is another version of it.
 */
function kindRefusal(registry: Registry, expected: Expected, { kind, apiVersion }: TypeMeta): Refusal {
  if (apiVersion.split('/').length > 2) return new UnreadableBody(`unexpected GroupVersion string: ${apiVersion}`);
  const type = decodedType(registry, expected.type, apiVersion, kind);
  if (type === expected.type) return wrongVersion(apiVersion, expected.apiVersion);
  const version = versionOf(apiVersion);
  const reason = type
    ? `converting (${version}.${kind}) to (${expected.type}): unknown conversion`
    : `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}`;
  if (expected.isPatched) return badRequest(reason);
  return badRequest(`${kind} in version ${JSON.stringify(version)} cannot be handled as a ${expected.kind}: ${reason}`);
}

const wrongVersion = (given: string, expected: string): Refusal =>
  badRequest(`the API version in the data (${given}) does not match the expected API version (${expected})`);

/**
 * Returns the members of an object of the resource. Throws 400, and 422 for custom kinds, for a wrong kind or version.
 */
export function checkEnvelope(
  { registry }: Pick<Context, 'registry'>,
  request: AuthorizedRequest,
  value: Json,
): Members {
  const { resource, target } = request;
  const object = value === null ? {} : value;
  if (!isMembers(object)) throw notAnObject(object);
  const { kind, apiVersion } = resource;
  const given = typeMetaOf(object, resource);
  const isPatched = target.verb === 'patch';
  if (resource.custom) checkCustomEnvelope(request, value, object);
  else if (given.kind !== kind || given.apiVersion !== apiVersion)
    throw kindRefusal(registry, { kind, apiVersion, type: internalType(resource), isPatched }, given);
  return object;
}

/** A body as a refusal repeats it: as it was sent if that is JSON, else as JSON. */
function shownBody({ job }: AuthorizedRequest, value: Json): string {
  if (!['', 'application/json'].includes(mediaTypeOf(job.contentType))) return writeJson(value);
  return Buffer.from(job.body!).toString('utf8');
}

/**
 * An object of a custom kind must say its version and kind: the path does not fill them in. A write of the status takes
 * neither from the body, so another kind, or in a patch another version, has no effect.
 */
function checkCustomEnvelope(request: AuthorizedRequest, value: Json, object: Members): void {
  const { resource, route, target } = request;
  const { apiVersion, kind } = resource;
  const isPatched = target.verb === 'patch';
  const givenVersion = String(object['apiVersion'] ?? '');
  const givenKind = String(object['kind'] ?? '');
  if (!givenKind) {
    const why = `Object 'Kind' is missing in '${isPatched ? writeJson(value) : shownBody(request, value)}'`;
    throw isPatched ? badRequest(why) : new UnreadableBody(why);
  }
  const metadata = object['metadata'] ?? null;
  const name = isMembers(metadata) ? String(metadata['name'] ?? '') : '';
  if (givenVersion !== apiVersion && !isPatched) throw wrongVersion(givenVersion, apiVersion);
  if (route.subresource?.name === 'status') return;
  const violations = [
    ...(givenKind === kind ? [] : [invalid('kind', givenKind, `must be ${kind}`)]),
    ...(givenVersion === apiVersion ? [] : [invalid('apiVersion', givenVersion, `must be ${apiVersion}`)]),
  ];
  if (violations.length > 0) throw invalidObject(groupOf(givenVersion), givenKind, name, violations);
}

/** The version that an object names, without its group; undefined if it names none. */
export function versionIn(value: Json): string | undefined {
  const apiVersion = isMembers(value) ? value['apiVersion'] : undefined;
  return typeof apiVersion === 'string' && apiVersion !== '' ? versionOf(apiVersion) : undefined;
}

/**
 * Strict errors of an object that names another version of the custom kind than the path: fields that are unknown in
 * that version. A version that the definition lacks has no fields. Throws TypeMismatch for malformed metadata.
 */
export function unknownInOtherVersion({ resource }: AuthorizedRequest, value: Json): readonly string[] {
  if (!resource.custom || !isMembers(value)) return [];
  const { apiVersion, kind, metadata: _metadata, ...content } = value;
  if (kind !== resource.kind || typeof apiVersion !== 'string' || apiVersion === resource.apiVersion) return [];
  if (groupOf(apiVersion) !== resource.group) return [];
  const other = resource.schemaOf?.(apiVersion);
  const unknown: string[] = [];
  if (other) other.decode(value, unknown);
  else for (const name of Object.keys(content).sort()) unknown.push(`unknown field ${JSON.stringify(name)}`);
  return unknown;
}

/**
 * Returns the members of a subresource's body, which may leave out kind and version. Throws 400 unless the subresource
 * has bodies of that version.
 */
export function checkSubresourceEnvelope(
  { registry }: Pick<Context, 'registry'>,
  { route, resource, target }: AuthorizedRequest,
  value: Json,
): Members {
  const object = value === null ? {} : value;
  if (!isMembers(object)) throw notAnObject(object);
  const { kind, group, version, type } = route.subresource ?? resource;
  const apiVersion = group === '' ? version : `${group}/${version}`;
  const given = typeMetaOf(object, { kind, apiVersion });
  if (given.kind === kind && given.apiVersion === apiVersion) return object;
  const isGiven = (other: string): boolean => given.apiVersion === `${group}/${other}`;
  if (given.kind === kind && route.subresource?.otherVersions?.some(isGiven)) return object;
  const expected = { kind, apiVersion, type: `${packageOf(type!.id)}.${kind}`, isPatched: target.verb === 'patch' };
  throw kindRefusal(registry, expected, given);
}
