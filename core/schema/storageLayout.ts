import type { Stored } from '../api/storage.js';
import { readJson, writeJson } from '../model/text/jsonText.js';
import { customStorageName } from '../model/wellKnown/storageNames.js';
import { builtInStorageNames } from './table/storageNames.js';

/*
 * The keys of releases that stored custom kinds as `<group>/<plural>/…`, like built-in kinds. A custom kind could have
 * the storage name of a built-in one.
 */

const CLAIMS = 'claims';
/** Definitions, whose names are `<plural>.<group>`. */
const DEFINITIONS = 'apiextensions.orchestrator.io/customresourcedefinitions/';

let known: ReadonlySet<string> | undefined;
const isBuiltIn = (storageName: string): boolean => (known ??= builtInStorageNames()).has(storageName);

/** The storage name for `<group>.<plural>`, the form in keys of claims. Plural names have no dots. */
function withSlash(name: string): string {
  const dot = name.lastIndexOf('.');
  return dot < 0 ? name : `${name.slice(0, dot)}/${name.slice(dot + 1)}`;
}

/** The key of an object in the current layout. Keys of this layout are returned as they are. */
export function currentKey(key: string): string {
  const [group = '', plural, ...rest] = key.split('/');
  if (plural === undefined || rest.length === 0 || group.includes(':')) return key;
  if (group === CLAIMS) {
    const isMoved = plural.includes(':') || isBuiltIn(withSlash(plural));
    return isMoved ? key : [CLAIMS, customStorageName(partsOf(withSlash(plural))).replace('/', '.'), ...rest].join('/');
  }
  return isBuiltIn(`${group}/${plural}`) ? key : [customStorageName({ group, plural }), ...rest].join('/');
}

function partsOf(storageName: string): { group: string; plural: string } {
  const [group = '', plural = ''] = storageName.split('/');
  return { group, plural };
}

/** The value, in the current layout, of a key of the former layout. The value of a claim is the key of its holder. */
export function currentValue(key: string, value: Uint8Array): Uint8Array {
  if (!key.startsWith(`${CLAIMS}/`)) return value;
  const claim = readJson(value) as { readonly holder?: unknown };
  if (typeof claim.holder !== 'string') return value;
  return Buffer.from(writeJson({ ...claim, holder: currentKey(claim.holder) }));
}

/** An object with its key in the current layout. */
export function inCurrentLayout(stored: Stored): Stored {
  const key = currentKey(stored.key);
  return key === stored.key ? stored : { ...stored, key, value: currentValue(stored.key, stored.value) };
}

/**
 * The names of the definitions, among keys of the former layout, whose objects had keys of a built-in kind. The objects
 * with these keys remain objects of the built-in kind, because the two cannot be distinguished.
 */
export const sharedDefinitions = (keys: Iterable<string>): string[] =>
  Array.from(keys).flatMap(key => {
    if (!key.startsWith(DEFINITIONS)) return [];
    const name = key.slice(DEFINITIONS.length);
    const dot = name.indexOf('.');
    return isBuiltIn(`${name.slice(dot + 1)}/${name.slice(0, dot)}`) ? [name] : [];
  });

/** Returns a notice about those definitions for administrators; undefined if there are none. */
export function sharedDefinitionsNotice(keys: Iterable<string>): string | undefined {
  const names = sharedDefinitions(keys);
  if (names.length === 0) return undefined;
  return (
    'definitions shared the storage of built-in kinds in an earlier release; objects that were created with them are ' +
    `now objects of the built-in kinds, examine those: ${names.join(', ')}`
  );
}
