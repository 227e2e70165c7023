import { readFileSync } from 'node:fs';
import type { Strategy } from '../../../core/api/strategy.js';
import type { ApiObject, Json } from '../../../core/model/object.js';
import { invalidObject, Refusal } from '../../../core/model/refusal.js';
import { decodeAsKind, TypeMismatch } from '../../../core/schema/decode/decode.js';
import { encodeJson } from '../../../core/schema/json/json.js';
import { validateMetadata, validateMetadataUpdate } from '../../../core/schema/decode/metadata.js';
import type { Struct, Type } from '../../../core/schema/model.js';
import type { Resource } from '../../../core/schema/resource.js';
import { columnsOf, registryOf } from '../../kinds/builtIn.js';
import { contextWith, strategyOf } from '../../kinds/helpers.js';

/** The position of a string in an object. */
export interface Place {
  readonly resource: Resource;
  readonly object: Json;
  readonly at: readonly (string | number)[];
  /** True if the string is the name of the member. */
  readonly isKey: boolean;
  /** True if the member holds bytes, which are sent in base64. */
  readonly isBytes: boolean;
  readonly value: string;
}

const METADATA: Json = {
  name: 'a.b-c',
  generateName: 'a-',
  namespace: 'default',
  uid: 'u-1',
  resourceVersion: '1',
  selfLink: '/a',
  creationTimestamp: '2024-01-02T03:04:05Z',
  deletionTimestamp: '2024-01-02T03:04:05Z',
  labels: { 'example.com/a': 'b.c-d' },
  annotations: { 'example.com/a': 'b', 'container.apparmor.security.beta.kubernetes.io/c': 'localhost/a' },
  finalizers: ['example.com/a'],
  ownerReferences: [{ apiVersion: 'apps/v1', kind: 'A', name: 'a', uid: 'u' }],
  managedFields: [
    {
      manager: 'm',
      operation: 'Update',
      apiVersion: 'v1',
      time: '2024-01-02T03:04:05Z',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:a': {} },
    },
  ],
};

/** A value with all fields of a type, down to some depth. */
function filled(type: Type, depth: number): Json | undefined {
  if (type.is === 'scalar') return SCALARS[type.name];
  if (depth === 0) return undefined;
  const inner = type.is === 'struct' ? undefined : filled(type.of, depth - 1);
  if (type.is === 'list') return inner === undefined ? undefined : [inner];
  if (type.is === 'map') return inner === undefined ? undefined : { 'a.b/c': inner };
  const members = type.fields.map(({ name, type: of }) => [name, filled(of, depth - 1)] as const);
  return Object.fromEntries(members.filter(([, value]) => value !== undefined)) as Json;
}

const SCALARS: Readonly<Record<string, Json>> = {
  string: 'a',
  bool: true,
  int32: 1,
  int64: 1,
  uint32: 1,
  double: 1,
  bytes: 'YQ==',
  any: 'a',
  Time: '2024-01-02T03:04:05Z',
  MicroTime: '2024-01-02T03:04:05.000000Z',
  Duration: '1m0s',
  Quantity: '1.5Gi',
  IntOrString: '10%',
  RawExtension: { a: 'b' },
  JSON: { a: 'b' },
};

function* places(resource: Resource, object: Json, value: Json, at: readonly (string | number)[]): Generator<Place> {
  if (typeof value === 'string') {
    const { of } = typeAt(resource.type, at);
    const isBytes = of?.is === 'scalar' && of.name === 'bytes';
    const text = isBytes ? Buffer.from(value, 'base64').toString() : value;
    yield { resource, object, at, isKey: false, isBytes, value: text };
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    const below = [...at, Array.isArray(value) ? Number(key) : key];
    if (!Array.isArray(value) && typeAt(resource.type, below).owner?.is === 'map')
      yield { resource, object, at: below, isKey: true, isBytes: false, value: key };
    yield* places(resource, object, inner, below);
  }
}

/** The type at a path, and that of its owner; undefined for untyped values. */
function typeAt(type: Struct, path: readonly (string | number)[]): { readonly owner?: Type; readonly of?: Type } {
  let found: { readonly owner?: Type; readonly of?: Type } = { of: type };
  for (const key of path) {
    const owner = found.of;
    if (!owner || owner.is === 'scalar') return {};
    const of = owner.is === 'struct' ? owner.field.get(String(key))?.type : owner.of;
    found = of ? { owner, of } : { owner };
  }
  return found;
}

const read = (name: string): { object: { apiVersion: string; kind: string } & { [key: string]: Json } }[] =>
  JSON.parse(readFileSync(new URL(`../../kinds/rules/${name}`, import.meta.url), 'utf8'));

/** A key that is equal for places of one kind with the same path through its type. */
const shape = ({ resource, at, isKey }: Place): string =>
  `${resource.storageName} ${isKey} ${at.filter(key => typeof key === 'string').join('.')}`;

/** Every string of every kind, in valid objects and in objects with all fields. */
export function allPlaces(): Place[] {
  const registry = registryOf('kubernetes');
  const found = new Map<string, Place>();
  const add = (resource: Resource, object: Json): void => {
    for (const place of places(resource, object, object, [])) {
      const key = shape(place);
      if (!found.has(key)) found.set(key, place);
    }
  };
  for (const { object } of [...read('bases.json'), ...read('coverage.json')]) {
    const { metadata: _metadata, apiVersion, kind, ...members } = object;
    const resource = registry.byKind(apiVersion, kind)!;
    // Rules of kinds get objects in the storage version.
    const isStored = registry.stored.some(
      one => one.storageName === resource.storageName && one.apiVersion === apiVersion,
    );
    if (isStored) add(resource, { ...members, metadata: METADATA });
  }
  for (const resource of registry.stored)
    if (!resource.custom) add(resource, { ...(filled(resource.type, 7) as object), metadata: METADATA });
  return [...found.values()];
}

/** Paths that many kinds share: metadata, except for names and annotations, which have rules, and Pod templates. */
const SHARED =
  /^(?:metadata\.(?!name|generateName|annotations).*|(?:.*\.)?template\.(?:spec\..*|metadata\.(?!annotations).*))$/;

/** The part of a place that is the same in all kinds that share it; undefined if there is none. */
function sharedPart({ at, isKey }: Place): string | undefined {
  const path = at.filter(key => typeof key === 'string').join('.');
  return SHARED.test(path) ? `${isKey} ${path.replace(/^.*\.template\./, 'template.')}` : undefined;
}

/** The places; of each place that several kinds share, only one, in a kind chosen at random. */
export function withoutCopies(all: readonly Place[], random: () => number): Place[] {
  const groups = new Map<string, Place[]>();
  const single: Place[] = [];
  for (const place of all) {
    const part = sharedPart(place);
    if (part === undefined) single.push(place);
    else groups.set(part, [...(groups.get(part) ?? []), place]);
  }
  return [...single, ...Array.from(groups.values(), copies => copies[Math.floor(random() * copies.length)]!)];
}

/** The object with another text in a place. */
export function changed({ object, at, isKey, isBytes }: Place, text: string): Json {
  const copy = structuredClone(object);
  const last = at.at(-1)!;
  const owner = at.slice(0, -1).reduce((inner, key) => (inner as { [key: string]: Json })[key]!, copy) as {
    [key: string]: Json;
  };
  owner[isKey ? text : last] = isKey ? owner[last]! : isBytes ? Buffer.from(text).toString('base64') : text;
  if (isKey) delete owner[last];
  return copy;
}

function decoded(resource: Resource, value: Json): ApiObject | undefined {
  try {
    return decodeAsKind(resource, value, { strictErrors: [] });
  } catch (error) {
    if (error instanceof TypeMismatch) return undefined;
    throw error;
  }
}

function checkStatus(strategy: Strategy, draft: ApiObject, old: ApiObject): void {
  if (!strategy.hasStatus) return;
  const status = { ...old, status: draft['status'] } as ApiObject;
  strategy.prepareStatus(status, old, contextWith());
  strategy.validateStatus(status, old, contextWith());
}

/** Decodes, defaults, validates and prints the object with a text in a place, as writes and Tables do. */
export function check(place: Place): (text: string) => () => void {
  const { resource, object } = place;
  const strategy = strategyOf(resource.storageName);
  const rules = { namespaced: resource.namespaced, checkName: strategy.checkName };
  const old = decoded(resource, object)!;
  strategy.applyDefaults(old);
  const checkOnce = (value: Json): void => {
    const draft = decoded(resource, value);
    if (!draft) return;
    const context = { ...contextWith(), warn: () => undefined };
    strategy.applyDefaults(draft);
    checkStatus(strategy, draft, old);
    strategy.prepareCreate(draft, context);
    const found = [...validateMetadata(draft, rules), ...strategy.validateCreate(draft, context)];
    strategy.prepareUpdate(draft, old, context);
    found.push(...validateMetadataUpdate(draft, old, rules), ...strategy.validateUpdate(draft, old, context));
    for (const { cell } of columnsOf(resource.storageName) ?? []) cell(draft);
    for (const field of strategy.selectableFields.values()) field(draft);
    strategy.claims?.(draft);
    encodeJson([draft, invalidObject(resource.group, resource.kind, 'a', found).toStatus()]);
  };
  return text => {
    const value = changed(place, text);
    return () => {
      try {
        checkOnce(value);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
      }
    };
  };
}

/** `apps/deployments spec.replicas`. */
export const placeText = ({ resource, at, isKey }: Place): string =>
  `${resource.storageName} ${at.join('.')}${isKey ? ' (key)' : ''}`;
