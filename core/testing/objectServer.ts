import type { Resources } from '../api/client/reference.js';
import type { Host, InternalRequest } from '../api/host.js';
import type { ApiObject, Json } from '../model/object.js';
import { isDeepEqual, stringsAt } from '../model/record.js';
import { alreadyExists, conflict, MODIFIED, notFound, unknownPath } from '../model/refusal.js';
import { matcherOf } from '../model/selectors/selector.js';
import { applyJsonPatch } from '../schema/patch/jsonPatch.js';
import { applyMergePatch } from '../schema/patch/mergePatch.js';
import { parseLabelSelector } from '../model/selectors/selectorSyntax.js';
import type { FakeHost } from './host.js';
import { frozenCopy } from './conformance/samples.js';

/** The resource, object and subresource that a path names, and its query. */
interface Place {
  readonly storageName: string;
  readonly namespace: string;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  readonly query: URLSearchParams;
}

/** Subresources of namespaces, whose paths look like those of objects in a namespace. */
const NAMESPACE_SUBRESOURCES: readonly (string | undefined)[] = ['status', 'finalize'];
/** Operations of a JSON Patch: no limit that a test could reach. */
const OPERATIONS = 10_000;

/** The storage name of a resource. Throws Refusal 404 for one that cannot exist. */
function storageNameOf(group: string, plural: string, resources: Resources): string {
  try {
    return resources.storageNameOf(`${group}/${plural}`);
  } catch {
    throw unknownPath();
  }
}

/** Parses `/api/v1/…` and `/apis/<group>/<version>/…`. Writes to most subresources are writes to their object. */
function placeOf(path: string, resources: Resources): Place {
  const [way = '', query = ''] = path.split('?', 2);
  const [root, ...parts] = way.split('/').slice(1).map(decodeURIComponent);
  const group = root === 'api' ? 'core' : (parts.shift() ?? '');
  const [, first = '', second = '', third, fourth, fifth] = parts;
  const isInNamespace = first === 'namespaces' && third !== undefined && !NAMESPACE_SUBRESOURCES.includes(third);
  return {
    storageName: storageNameOf(group, isInNamespace ? third : first, resources),
    query: new URLSearchParams(query),
    ...(isInNamespace
      ? { namespace: second, name: fourth, subresource: fifth }
      : { namespace: '', name: second || undefined, subresource: third }),
  };
}

/** Whether finalizers keep an object that is being deleted. Those of a namespace are in its spec. */
const isKept = (object: ApiObject): boolean =>
  stringsAt(object, 'metadata', 'finalizers').length + stringsAt(object, 'spec', 'finalizers').length > 0;

/**
 * Answers the requests of controllers from the objects of a fake host, and changes these: create, read, list, replace,
 * patch, apply and delete, with uids, resource versions and finalizers. Nothing is validated or defaulted. A write of
 * the status changes nothing else, and another write may change the status; apply merges.
 *
 * @example
 * const fake = fakeHost('control');
 * serveObjects(fake);
 * await (await partsOf(plugin, config, controller, fake.host))[0]?.start();
 */
export function serveObjects(fake: FakeHost<'control'>): void {
  let revision = 0;
  const { informer, resources } = fake.host as Host<'control'>;

  const store = ({ storageName, namespace }: Place, object: ApiObject): ApiObject => {
    const uid = object.metadata.uid ?? `uid-${revision + 1}`;
    const place = namespace === '' ? {} : { namespace };
    const metadata = { ...object.metadata, ...place, uid, resourceVersion: String(++revision) };
    const stored = frozenCopy({ ...object, metadata });
    fake.put(storageName, stored);
    return stored;
  };

  const create = (place: Place, body: ApiObject): ApiObject => {
    const { name = '' } = body.metadata;
    if (informer(place.storageName).get(place.namespace, name))
      throw alreadyExists({ group: '', resource: place.storageName }, name);
    return store(place, body);
  };

  const list = ({ storageName, namespace, query }: Place): ApiObject => {
    const isSelected = matcherOf(parseLabelSelector(query.get('labelSelector') ?? ''));
    const all = informer(storageName).list(namespace || undefined);
    const items = all.filter(({ metadata: { labels } }) => isSelected(key => labels?.[key]));
    return { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: String(revision) }, items };
  };

  const remove = (place: Place, current: ApiObject): ApiObject => {
    const { name = '' } = current.metadata;
    if (isKept(current)) {
      const deletionTimestamp = new Date(fake.now).toISOString();
      return store(place, { ...current, metadata: { ...current.metadata, deletionTimestamp } });
    }
    fake.delete(place.storageName, place.namespace, name);
    return current;
  };

  const removeAll = (place: Place): ApiObject => {
    for (const object of informer(place.storageName).list(place.namespace)) remove(place, object);
    return { apiVersion: 'v1', kind: 'List', metadata: {} };
  };

  /** Stores the written object, or removes it if it is being deleted and not kept by finalizers. */
  const write = (place: Place, current: ApiObject, written: ApiObject): ApiObject => {
    const { name = '', resourceVersion, uid } = current.metadata;
    const { metadata } = written;
    if ((metadata.resourceVersion ?? resourceVersion) !== resourceVersion || (metadata.uid ?? uid) !== uid)
      throw conflict({ group: '', resource: place.storageName }, name, MODIFIED);
    const next = place.subresource === 'status' ? { ...current, status: written['status'] } : written;
    if (current.metadata.deletionTimestamp && !isKept(next)) {
      fake.delete(place.storageName, place.namespace, name);
      return next;
    }
    const sent = { ...next, metadata: { ...next.metadata, resourceVersion, uid } };
    return isDeepEqual(sent, current) ? current : store(place, next);
  };

  const patched = (current: ApiObject, { contentType = '', body }: InternalRequest): ApiObject => {
    const [before, patch] = [current as unknown as Json, body as Json];
    const isJsonPatch = contentType.startsWith('application/json-patch');
    return (isJsonPatch
      ? applyJsonPatch(structuredClone(before), patch, OPERATIONS)
      : applyMergePatch(before, patch)) as unknown as ApiObject;
  };

  const answer = (request: InternalRequest): ApiObject => {
    const { method, path, body, contentType } = request;
    const place = placeOf(path, resources);
    if (method === 'POST') return create(place, body as ApiObject);
    if (place.name === undefined && method === 'GET') return list(place);
    if (place.name === undefined && method === 'DELETE') return removeAll(place);
    const current = informer(place.storageName).get(place.namespace, place.name ?? '');
    if (!current && contentType?.startsWith('application/apply-patch')) return create(place, body as ApiObject);
    if (!current) throw notFound({ group: '', resource: place.storageName }, place.name ?? path);
    if (method === 'GET') return current;
    if (method === 'DELETE') return remove(place, current);
    return write(place, current, method === 'PUT' ? (body as ApiObject) : patched(current, request));
  };
  fake.answer = request => structuredClone(answer(request));
}
