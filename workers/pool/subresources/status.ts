import type { StrategyContext } from '../../../core/api/strategy.js';
import type { ApiObject, ObjectMeta } from '../../../core/model/object.js';
import { replaceMembers } from '../../../core/model/record.js';
import { deepCopy } from '../../../core/schema/patch/members.js';
import type { AuthorizedRequest } from '../types.js';
import type { WrittenPart } from './writtenPart.js';

/** The object with metadata and status of another. */
function withStatus(object: ApiObject, { metadata, status }: ApiObject): ApiObject {
  const merged: ApiObject = { ...object, metadata };
  if (status === undefined) delete merged['status'];
  else merged['status'] = status;
  return merged;
}

/** The metadata with the values that some members had before. */
function withKept(
  metadata: ObjectMeta,
  before: ObjectMeta,
  kept: readonly (keyof ObjectMeta)[] = [],
): ApiObject['metadata'] {
  const result: { -readonly [member in keyof ObjectMeta]: ObjectMeta[member] } = { ...metadata };
  for (const member of kept) {
    if (before[member] === undefined) delete result[member];
    else Object.assign(result, { [member]: before[member] });
  }
  return result;
}

/** A write of the status: takes status and metadata from the request, and everything else from the current object. */
export function statusPart(
  { resource }: AuthorizedRequest,
  object: ApiObject,
  old: ApiObject,
  strategyContext: StrategyContext,
): WrittenPart {
  const { strategy } = resource;
  // Some kinds complete a status from its parts: the completed fields are owned.
  const owned = withStatus(old, { ...object, status: deepCopy(object['status']) });
  strategy.prepareStatus(owned, old, strategyContext);
  // In upstream, the writer of the status of a custom object owns the metadata in the body, although they are not
  // stored.
  if (!resource.builtIn) owned.metadata = object.metadata;
  return {
    owned,
    prepare(updated) {
      const before = deepCopy(old);
      const metadata = withKept(updated.metadata, before.metadata, strategy.keptInStatus);
      replaceMembers(updated, withStatus(before, { ...updated, metadata }));
      strategy.prepareStatus(updated, before, strategyContext);
    },
    violations: updated => strategy.validateStatus(updated, old, strategyContext),
  };
}
