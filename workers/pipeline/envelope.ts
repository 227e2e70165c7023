import type { Json } from '../../core/model/object.js';
import { badRequest, invalid, invalidObject, type Refusal } from '../../core/model/refusal.js';
import { isMembers, type Members } from '../../core/schema/patch/members.js';
import type { Resource } from '../../core/schema/resource.js';
import { UnreadableBody } from '../../core/schema/unreadable.js';
import type { AuthorizedRequest } from './stages.js';

/** The refusal of a body that is no object. */
export const notAnObject = (value: Json): Refusal =>
  new UnreadableBody(
    "couldn't get version/kind; json parse error: json: cannot unmarshal " +
      `${Array.isArray(value) ? 'array' : typeof value} into Go value of type struct { APIVersion string ` +
      '"json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }',
  );

/** A text of the envelope, '' where it is absent. Throws 400 where it is no text. */
function envelopeText(object: Members, name: 'kind' | 'apiVersion'): string {
  const value = object[name] ?? '';
  if (typeof value === 'string') return value;
  const type = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
  throw new UnreadableBody(
    `couldn't get version/kind; json parse error: json: cannot unmarshal ${type} into Go struct field .${name} of ` +
      'type string',
  );
}

const versionOf = (apiVersion: string): string => apiVersion.slice(apiVersion.indexOf('/') + 1);

const unknownKind = (given: string, kind: string, apiVersion: string): Refusal => {
  const version = JSON.stringify(versionOf(apiVersion));
  const what = `no kind ${JSON.stringify(given)} is registered for version ${JSON.stringify(apiVersion)}`;
  return badRequest(`${given} in version ${version} cannot be handled as a ${kind}: ${what}`);
};

const wrongVersion = (given: string, expected: string): Refusal =>
  badRequest(`the API version in the data (${given}) does not match the expected API version (${expected})`);

/**
 * Gives the members of an object of the resource. Throws 400, and 422 for custom kinds, for a wrong kind or version.
 */
export function checkEnvelope({ resource, target }: AuthorizedRequest, value: Json): Members {
  const object = value === null ? {} : value;
  if (!isMembers(object)) throw notAnObject(object);
  const kind = envelopeText(object, 'kind');
  const apiVersion = envelopeText(object, 'apiVersion');
  if (resource.custom) checkCustomEnvelope(resource, target.verb === 'patch', object);
  if (kind !== '' && kind !== resource.kind) throw unknownKind(kind, resource.kind, apiVersion || resource.apiVersion);
  if (apiVersion !== '' && apiVersion !== resource.apiVersion) throw wrongVersion(apiVersion, resource.apiVersion);
  return object;
}

/** An object of a custom kind must say its version and kind: the path does not fill them in. */
function checkCustomEnvelope({ group, apiVersion, kind }: Resource, isPatched: boolean, object: Members): void {
  const givenVersion = String(object['apiVersion'] ?? '');
  const givenKind = String(object['kind'] ?? '');
  const metadata = object['metadata'] ?? null;
  const name = isMembers(metadata) ? String(metadata['name'] ?? '') : '';
  if (givenVersion !== apiVersion && isPatched)
    throw invalidObject(group, givenKind, name, [invalid('apiVersion', givenVersion, `must be ${apiVersion}`)]);
  if (givenVersion !== apiVersion) throw wrongVersion(givenVersion, apiVersion);
  if (givenKind !== kind) throw invalidObject(group, givenKind, name, [invalid('kind', givenKind, `must be ${kind}`)]);
}

/**
 * Gives the members of a subresource's body, which may leave out kind and version. What can only be created is accepted
 * in every version of its group. Throws 400.
 */
export function checkSubresourceEnvelope({ route, resource, target }: AuthorizedRequest, value: Json): Members {
  const object = value === null ? {} : value;
  if (!isMembers(object)) throw notAnObject(object);
  const { kind, group, version } = route.subresource ?? resource;
  const givenKind = envelopeText(object, 'kind') || kind;
  const expected = group === '' ? version : `${group}/${version}`;
  const given = envelopeText(object, 'apiVersion') || expected;
  if (givenKind !== kind) throw unknownKind(givenKind, kind, given);
  if (given === expected || (target.verb === 'create' && given.startsWith(`${group}/`))) return object;
  throw wrongVersion(given, expected);
}
