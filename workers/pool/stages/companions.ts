import type { ApiObject } from '../../../core/model/object.js';
import { keyOf } from '../../../core/request/keys.js';
import { randomUUID } from '../../../core/runtime/random.js';
import type { Resource } from '../../../core/schema/resource.js';
import { type Context, timestamp } from '../context.js';
import { managersOfOwn, setManagers } from './managers.js';
import { setSystemMetadata } from './metadata.js';
import type { OtherChange } from './outcomes.js';
import { storedResource } from './perform.js';

/** How a write changes the companions of an object. */
interface ChangedCompanions {
  readonly created: readonly OtherChange[];
  /** Keys of those that are removed. */
  readonly removed: readonly string[];
}

const NONE: ChangedCompanions = { created: [], removed: [] };

/** The companions of an object that must exist with it, by their keys; they are not complete yet. */
function companionsOf(context: Context, resource: Resource, holder: ApiObject | undefined): Map<string, OtherChange> {
  const found = holder ? resource.strategy.companions!(holder) : [];
  return new Map(
    found.map(({ storageName, object }) => {
      const of = storedResource(context, storageName);
      const { namespace = '', name } = object.metadata;
      const typed = { ...object, apiVersion: of.apiVersion, kind: of.kind } as ApiObject;
      return [keyOf(of, namespace, name!), { resource: of, object: typed }];
    }),
  );
}

/** A companion as it is created: with the metadata that the server sets, all fields owned by the server. */
function complete(context: Context, { resource, object }: OtherChange): OtherChange {
  const created = { ...object, metadata: { ...object.metadata } };
  setManagers(created, managersOfOwn(context, resource, created));
  setSystemMetadata(created, randomUUID(), timestamp(context.now()));
  return { resource, object: created };
}

/** The change of companions (`Strategy.companions`) by a write that changes an object from `old` to `object`. */
export function changedCompanions(
  context: Context,
  resource: Resource,
  old: ApiObject | undefined,
  object: ApiObject | undefined,
): ChangedCompanions {
  if (!resource.strategy.companions) return NONE;
  const before = companionsOf(context, resource, old);
  const after = companionsOf(context, resource, object);
  return {
    created: [...after].filter(([key]) => !before.has(key)).map(([, change]) => complete(context, change)),
    removed: [...before.keys()].filter(key => !after.has(key)),
  };
}
