import type { Host, InternalRequest } from '../api/host.js';
import type { ApiObject, Json } from '../model/object.js';
import { stringsAt } from '../model/record.js';
import { alreadyExists, conflict, MODIFIED, notFound } from '../model/refusal.js';
import { applyMergePatch } from '../schema/patch/mergePatch.js';
import type { FakeHost } from './host.js';
import { frozenCopy } from './conformance/samples.js';

/** The resource and object that a path names. The storage name has the group in neutral naming. */
interface Place {
  readonly storageName: string;
  readonly namespace: string;
  readonly name: string | undefined;
}

/** Subresources of namespaces, whose paths look like those of objects in a namespace. */
const NAMESPACE_SUBRESOURCES: readonly (string | undefined)[] = ['status', 'finalize'];

/** Parses `/api/v1/…` and `/apis/<group>/<version>/…`. Writes to subresources are writes to their object. */
function placeOf(path: string): Place {
  const [root, ...parts] = path.split('?', 1)[0]!.split('/').slice(1).map(decodeURIComponent);
  const group = root === 'api' ? 'core' : parts.shift();
  const [, first = '', second = '', third, fourth] = parts;
  const isInNamespace = first === 'namespaces' && third !== undefined && !NAMESPACE_SUBRESOURCES.includes(third);
  return isInNamespace
    ? { storageName: `${group}/${third}`, namespace: second, name: fourth }
    : { storageName: `${group}/${first}`, namespace: '', name: second || undefined };
}

/** Whether finalizers keep an object that is to be deleted. Those of a namespace are in its spec. */
const isKept = (object: ApiObject): boolean =>
  stringsAt(object, 'metadata', 'finalizers').length + stringsAt(object, 'spec', 'finalizers').length > 0;

/**
 * Answers the requests of controllers from the objects of a fake host, and changes these: create, read, replace, JSON
 * merge patch and delete, with uids, resource versions and finalizers. Nothing is validated or defaulted, and the
 * status is written like any member. The host must have the neutral naming.
 *
 * @example
 * const fake = fakeHost('control');
 * serveObjects(fake);
 * await (await partsOf(plugin, config, controller, fake.host))[0]?.start();
 */
export function serveObjects(fake: FakeHost<'control'>): void {
  let revision = 0;
  const { informer } = fake.host as Host<'control'>;

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

  /** Stores the object that a write makes of the current one, or removes it if it is being deleted and not kept. */
  const write = (place: Place, current: ApiObject, next: ApiObject): ApiObject => {
    const { name = '', resourceVersion, uid } = current.metadata;
    const { metadata } = next;
    if ((metadata.resourceVersion ?? resourceVersion) !== resourceVersion || (metadata.uid ?? uid) !== uid)
      throw conflict({ group: '', resource: place.storageName }, name, MODIFIED);
    if (current.metadata.deletionTimestamp && !isKept(next)) {
      fake.delete(place.storageName, place.namespace, name);
      return next;
    }
    return store(place, next);
  };

  const answer = ({ method, path, body }: InternalRequest): ApiObject => {
    const place = placeOf(path);
    if (method === 'POST') return create(place, body as ApiObject);
    if (place.name === undefined && method === 'DELETE') return removeAll(place);
    const current = informer(place.storageName).get(place.namespace, place.name ?? '');
    if (!current) throw notFound({ group: '', resource: place.storageName }, place.name ?? path);
    if (method === 'GET') return current;
    if (method === 'DELETE') return remove(place, current);
    const next = method === 'PUT' ? body : applyMergePatch(current as unknown as Json, body as Json);
    return write(place, current, next as ApiObject);
  };
  fake.answer = request => structuredClone(answer(request));
}
