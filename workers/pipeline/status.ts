import type { StrategyContext } from '../../core/api/strategy.js';
import type { ApiObject } from '../../core/model/object.js';
import { deepCopy } from '../../core/schema/patch/members.js';
import type { MergedDraft, AuthorizedRequest } from './stages.js';

/** A write of the status: takes status and metadata from the request, and all else from the current object. */
export function mergeStatus(
  { resource }: AuthorizedRequest,
  object: ApiObject,
  old: ApiObject,
  strategyContext: StrategyContext,
): MergedDraft {
  const { strategy } = resource;
  const before = deepCopy(old);
  const draft: ApiObject = { ...before, metadata: object.metadata };
  if (object['status'] === undefined) delete draft['status'];
  else draft['status'] = object['status'];
  strategy.prepareStatus(draft, before, strategyContext);
  return {
    draft,
    prepare: () => undefined,
    violations: updated => strategy.validateStatus(updated, old, strategyContext),
  };
}
