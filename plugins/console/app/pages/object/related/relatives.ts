import { ApiError, sendJson } from '../../../api/http.js';
import { type Kind, kinds, pathOf } from '../../../api/kinds.js';
import type { ApiList, ApiObject, OwnerReference } from '../../../api/objects.js';
import { systemGroup } from '../../../api/session.js';
import { objectPage } from '../../../links.js';

/** An object that is found by references: everything known without its content. */
export interface Relative {
  readonly uid: string;
  readonly apiVersion: string;
  readonly kind: string;
  /** Undefined for kinds that the server does not serve. */
  readonly of: Kind | undefined;
  readonly namespace: string;
  readonly name: string;
  readonly owners: readonly OwnerReference[];
  readonly finalizers: readonly string[];
  /** Whether a reference leads to an object that is not there, or that the user may not read. */
  readonly isMissing: boolean;
}

/** Objects by the uid of an owner. */
export interface Dependents {
  readonly byOwner: ReadonlyMap<string, readonly Relative[]>;
  /** Everything that was read, in the order of kinds. */
  readonly all: readonly Relative[];
  /** Kinds that could not be listed. */
  readonly unreadable: readonly string[];
  /** Whether there are more objects than are read. */
  readonly isCut: boolean;
}

/** Largest number of objects that are read in the search of dependents. */
const MOST = 20_000;
const PAGE = 500;
/** Number of lists that are read at the same time. */
const AT_ONCE = 4;
/** Largest number of levels of owners that are followed, and of owners that are read. */
const HIGHEST = 8;
const MOST_OWNERS = 200;

const metadataOf = (form: 'PartialObjectMetadata' | 'PartialObjectMetadataList'): string =>
  `application/json;as=${form};v=v1;g=${systemGroup('meta')},application/json`;

/** The group of `group/version`; '' for the core group. */
const groupOf = (apiVersion: string): string => (apiVersion.includes('/') ? apiVersion.split('/')[0]! : '');

/** The kind that a reference names. */
export const kindOfReference = ({ apiVersion, kind }: Pick<OwnerReference, 'apiVersion' | 'kind'>): Kind | undefined =>
  kinds.peek()?.find(known => known.group === groupOf(apiVersion) && known.kind === kind);

/** An object as a relative of others. */
export function relativeOf(kind: Kind, { metadata }: ApiObject): Relative {
  const { uid = '', namespace = '', name = '', ownerReferences = [], finalizers = [] } = metadata;
  const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
  return {
    uid,
    apiVersion,
    kind: kind.kind,
    of: kind,
    namespace,
    name,
    owners: ownerReferences,
    finalizers,
    isMissing: false,
  };
}

/** The page of a relative, below the path of the console; undefined if its kind is not served. */
export function pageOf({ of, namespace, name }: Relative): string | undefined {
  return of && objectPage(of, namespace, name);
}

/** The object that a reference leads to. */
async function ownerOf(reference: OwnerReference, namespace: string, signal: AbortSignal): Promise<Relative> {
  const kind = kindOfReference(reference);
  const { uid, apiVersion, name } = reference;
  const at = kind?.namespaced ? namespace : '';
  const missing = {
    uid,
    apiVersion,
    kind: reference.kind,
    of: kind,
    namespace: at,
    name,
    owners: [],
    finalizers: [],
    isMissing: true,
  };
  if (!kind) return missing;
  try {
    const accept = metadataOf('PartialObjectMetadata');
    const found = await sendJson<ApiObject>('GET', pathOf(kind, at, name), { accept, signal });
    return found.metadata.uid === uid ? relativeOf(kind, found) : missing;
  } catch (error) {
    if (error instanceof ApiError) return missing;
    throw error;
  }
}

/** The owners of an object, theirs, and so on: by the uid of the dependent. */
export async function findOwners(
  from: Relative,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, readonly Relative[]>> {
  const found = new Map<string, readonly Relative[]>();
  const read = new Map<string, Promise<Relative>>();
  const readOnce = (owner: OwnerReference, namespace: string): Promise<Relative>[] => {
    const known = read.get(owner.uid);
    if (known || read.size >= MOST_OWNERS) return known ? [known] : [];
    const reading = ownerOf(owner, namespace, signal);
    read.set(owner.uid, reading);
    return [reading];
  };
  let level: readonly Relative[] = [from];
  for (let height = 0; height < HIGHEST && level.length > 0; height++) {
    const next: Relative[] = [];
    for (const relative of level) {
      if (found.has(relative.uid)) continue;
      const owners = await Promise.all(relative.owners.flatMap(owner => readOnce(owner, relative.namespace)));
      found.set(relative.uid, owners);
      next.push(...owners);
    }
    level = next;
  }
  return found;
}

/** Reads all objects of a kind in a namespace, until there are `room` of them. */
async function readAll(kind: Kind, namespace: string, room: () => number, signal: AbortSignal): Promise<Relative[]> {
  const found: Relative[] = [];
  let next: string | undefined = '';
  while (next !== undefined && room() - found.length > 0) {
    const query = { limit: PAGE, continue: next };
    const accept = metadataOf('PartialObjectMetadataList');
    const list: ApiList = await sendJson<ApiList>('GET', pathOf(kind, namespace), { query, accept, signal });
    found.push(...(list.items ?? []).map(item => relativeOf(kind, item)));
    next = list.metadata.continue || undefined;
  }
  return found;
}

/**
 * Reads the metadata of all objects of a namespace, or of all that there are for '', and finds owners and dependents.
 * Events are left out: they are many and own nothing.
 */
export async function findDependents(namespace: string, signal: AbortSignal): Promise<Dependents> {
  const wanted = (kinds.peek() ?? []).filter(
    ({ verbs, namespaced, resource }) =>
      verbs.includes('list') && resource !== 'events' && (namespaced || namespace === ''),
  );
  const byKind = new Map<Kind, readonly Relative[]>();
  const unreadable: string[] = [];
  let count = 0;
  const waiting = [...wanted];
  const work = async (): Promise<void> => {
    for (let kind = waiting.shift(); kind; kind = waiting.shift()) {
      try {
        const found = await readAll(kind, namespace, () => MOST - count, signal);
        count += found.length;
        byKind.set(kind, found);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        unreadable.push(kind.kind);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const all = wanted.flatMap(kind => byKind.get(kind) ?? []);
  const byOwner = new Map<string, Relative[]>();
  for (const relative of all)
    for (const { uid } of relative.owners) {
      const owned = byOwner.get(uid);
      if (owned) owned.push(relative);
      else byOwner.set(uid, [relative]);
    }
  return { byOwner, all, unreadable: unreadable.sort(), isCut: count >= MOST };
}

/** The objects that are deleted along with another one. */
export interface DeletedObjects {
  /** Dependents without another owner, direct ones first. */
  readonly gone: readonly Relative[];
  /** Dependents that another object owns as well. */
  readonly kept: readonly Relative[];
}

/** The objects that are collected after an object is deleted: dependents that keep no owner. */
export function findCollected(uid: string, { byOwner }: Dependents): DeletedObjects {
  const going = new Set([uid]);
  const gone: Relative[] = [];
  const touched = new Map<string, Relative>();
  // A set is iterated in the order of insertion, including later additions.
  for (const owner of going)
    for (const relative of byOwner.get(owner) ?? []) {
      touched.set(relative.uid, relative);
      if (going.has(relative.uid) || !relative.owners.every(({ uid: of }) => going.has(of))) continue;
      going.add(relative.uid);
      gone.push(relative);
    }
  return { gone, kept: [...touched.values()].filter(relative => !going.has(relative.uid)) };
}
