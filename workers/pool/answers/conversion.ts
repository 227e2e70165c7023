import type { ConvertObjects } from '../../../core/api/resource/conversion.js';
import type { Awaitable } from '../../../core/api/point.js';
import { writeJson } from '../../../core/model/text/jsonText.js';
import type { ApiObject, Json } from '../../../core/model/object.js';
import { Refusal } from '../../../core/model/refusal.js';
import type { ManagedKind } from '../../../core/schema/apply/managedKind.js';
import { acceptConverted, WrongConversion } from '../../../core/schema/custom/converted.js';
import type { Resource } from '../../../core/schema/resource.js';
import type { Context } from '../context.js';

const converters = new WeakMap<Resource, { readonly convert: ConvertObjects | undefined }>();

/**
 * Returns the asynchronous converter of the objects of a resource; undefined if its strategy converts them
 * synchronously.
 */
export function converterOf(
  { conversion }: Pick<Context, 'conversion'>,
  resource: Resource,
): ConvertObjects | undefined {
  if (resource.builtIn) return undefined;
  let found = converters.get(resource);
  if (!found) {
    const { storageName, kind, webhook } = resource;
    found = { convert: conversion({ storageName, kind, ...(webhook ? { webhook } : {}) }) };
    converters.set(resource, found);
  }
  return found.convert;
}

/**
 * Converts objects of the kind of `resource` to a version by its converter; those that have the version are returned as
 * they are. Throws the errors of the converter, and 500 for results that are not the given objects in the version.
 */
export async function convertAll(
  convert: ConvertObjects,
  resource: Resource,
  objects: readonly ApiObject[],
  apiVersion: string,
): Promise<readonly ApiObject[]> {
  const others = objects.filter(object => object.apiVersion !== apiVersion);
  if (others.length === 0) return objects;
  const results = await convert(others, apiVersion);
  const converted = new Map(
    others.map((object, i) => [object, acceptOne(resource, object, results[i], apiVersion, i, objects.length)]),
  );
  return objects.map(object => converted.get(object) ?? object);
}

function acceptOne(
  { kind, webhook }: Resource,
  object: ApiObject,
  result: unknown,
  apiVersion: string,
  index: number,
  count: number,
): ApiObject {
  try {
    return acceptConverted(object, result, apiVersion);
  } catch (error) {
    if (!(error instanceof WrongConversion)) throw error;
    const what = error.part === 'metadata' ? 'invalid metadata' : 'invalid object';
    const where = count === 1 && error.part !== 'type' ? '' : ` at index ${index}`;
    const by = `conversion${webhook ? ' webhook' : ''} for ${object.apiVersion}, Kind=${kind}`;
    throw new Refusal('', `${by} returned ${what}${where}: ${error.message}`, undefined, 500);
  }
}

/** Thrown inside of `withConversions` for an object whose conversion is not known yet. */
class Unconverted extends Error {
  constructor(
    readonly key: string,
    readonly object: ApiObject,
    readonly apiVersion: string,
  ) {
    super('an object must be converted first');
  }
}

/**
 * Calls a pure function of a kind whose objects are converted asynchronously: whenever it needs a conversion that is
 * not known yet, the conversion is made and the function is called again.
 */
async function withConversions<T>(
  convert: ConvertObjects,
  resource: Resource,
  kind: ManagedKind,
  compute: (kind: ManagedKind) => T,
): Promise<T> {
  const known = new Map<string, Json>();
  const converting: ManagedKind = {
    ...kind,
    version(apiVersion) {
      const version = kind.version(apiVersion);
      if (!version) return undefined;
      return {
        shape: version.shape,
        convert(object) {
          const given = object as unknown as ApiObject;
          if (given.apiVersion === undefined || given.apiVersion === apiVersion) return object;
          const key = `${apiVersion} ${writeJson(object)}`;
          const found = known.get(key);
          if (found === undefined) throw new Unconverted(key, given, apiVersion);
          return found;
        },
      };
    },
  };
  for (;;) {
    try {
      return compute(converting);
    } catch (needed) {
      if (!(needed instanceof Unconverted)) throw needed;
      const [converted] = await convertAll(convert, resource, [needed.object], needed.apiVersion);
      known.set(needed.key, converted as unknown as Json);
    }
  }
}

/** `compute(kind)`, called directly unless the objects of the resource are converted asynchronously. */
export function computeWith<T>(
  context: Context,
  resource: Resource,
  kind: ManagedKind,
  compute: (kind: ManagedKind) => T,
): Awaitable<T> {
  const convert = converterOf(context, resource);
  return convert ? withConversions(convert, resource, kind, compute) : compute(kind);
}
