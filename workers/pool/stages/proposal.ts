import type { Awaitable } from '../../../core/api/point.js';
import type { Transaction } from '../../../core/api/storage.js';
import { OBJECT_BYTES } from '../../../core/limits.js';
import type { ApiObject } from '../../../core/model/object.js';
import { qualifyResource, Refusal } from '../../../core/model/refusal.js';
import { decodeStored, REVISION_MARK } from '../../../core/plugin/informers/stored.js';
import { encodeStatus, isPretty } from '../../../core/request/forms.js';
import { keyOf } from '../../../core/request/keys.js';
import type { Resource } from '../../../core/schema/resource.js';
import { isReadable } from '../../../core/threads/entries/unreadable.js';
import type { Charges, Current } from '../../../core/threads/messages/messages.js';
import { type Answer, headersOf } from '../answers/answer.js';
import { patchFormat } from '../body/patchFormat.js';
import { claimOperations, claimReleases } from './claims.js';
import { changedCompanions } from './companions.js';
import { type Context, timestamp } from '../context.js';
import { converterOf } from '../answers/conversion.js';
import { groupResource } from '../errors.js';
import type { OtherChange, Removed, Stored } from './outcomes.js';
import { encodeAnswer } from '../answers/render.js';
import type { AuthorizedRequest, ValidWrite } from '../types.js';
import {
  encodeObject,
  storageResource,
  toRequestVersion,
  toStorageVersion,
  toStoredUpdate,
  toStrategyVersion,
} from '../answers/versions.js';

/** The transaction of a valid write, if there is one, and the answer in the form that the client accepts. */
export function answerWrite(context: Context, write: ValidWrite): Awaitable<Answer> {
  const { request, outcome } = write;
  switch (outcome.is) {
    case 'store':
      return answerStore(context, write, outcome);
    case 'remove':
      return answerRemove(context, write, outcome);
    case 'unchanged':
    case 'answered':
      return write.answer
        ? successAnswer(context, request)
        : encodeAnswer(context, request, outcome.object, outcome.status);
  }
}

/** A Status in the form that the client accepts. */
function successStatus(context: Context, { job, warnings }: AuthorizedRequest, code: number, status: object): Answer {
  const whole = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', ...status };
  const { contentType, bytes } = encodeStatus(whole, job.accept, context, isPretty(job.query, job.userAgent));
  return { status: code, headers: headersOf(contentType, warnings), body: bytes };
}

const successAnswer = (context: Context, request: AuthorizedRequest): Answer =>
  successStatus(context, request, 201, { code: 201 });

async function answerStore(context: Context, write: ValidWrite, outcome: Stored): Promise<Answer> {
  const { request, dryRun, changes } = write;
  const { resource, job } = request;
  const { object, expect, status, more } = outcome;
  const key = keyOf(resource, object.metadata.namespace ?? '', object.metadata.name!);
  if (dryRun && write.answer) return successAnswer(context, request);
  if (dryRun && !resource.custom && !converterOf(context, resource))
    return { ...encodeAnswer(context, request, object, status), key };
  const isUpdate = expect !== 0 && !converterOf(context, resource);
  const stored = isUpdate
    ? toStoredUpdate(context, request, object)
    : await toStorageVersion(context, resource, object);
  // The stored version may lack members of the request's version: the answer must be the same as that of a later read.
  const [shown = object] =
    resource.custom && stored !== object ? await toRequestVersion(context, resource, [stored]) : [object];
  if (dryRun) return { ...encodeAnswer(context, request, shown, status), key };
  const { value, gap, isStripped } = encodeFitting(context, request, stored);
  // A create has no current object; if one is given here, it belongs to another object of that name.
  const old = holderOf(resource, expect === 0 ? undefined : job.current);
  const operations = [
    { is: 'put' as const, key, value, gap, expect },
    ...claimOperations(resource, key, old, stored),
    ...companionOperations(context, resource, old, stored),
    ...otherOperations(context, changes),
  ];
  const charges = proposedCharges(context, request);
  if (write.answer) return { ...successAnswer(context, request), operations, charges, more };
  const answered = isStripped ? withoutManagers(shown) : shown;
  const { headers, body, gaps } = encodeAnswer(context, request, answered, status, 'put');
  return { status, headers, body, gaps, operations, charges, more };
}

/** The current object as it is stored, if its kind has claims or companions that depend on it, and it can be read. */
function holderOf({ strategy }: Resource, current: Current | undefined): ApiObject | undefined {
  if (!current || !(strategy.claims || strategy.companions) || !isReadable(current.bytes)) return undefined;
  return decodeStored(current.bytes);
}

/** The charges of validators for a write. The server is the manager of the charged fields. */
function proposedCharges({ naming, now }: Context, { charges }: AuthorizedRequest): Charges | undefined {
  if (charges.length === 0) return undefined;
  return { manager: naming.component('orchestrator-apiserver'), time: timestamp(now()), items: charges };
}

const MARK = Buffer.from(REVISION_MARK);

/** The operations that store changes of objects other than that of the request. */
const otherOperations = ({ registry }: Context, changes: readonly OtherChange[] = []): Transaction =>
  changes.map(({ resource, object }) => ({
    is: 'put',
    key: keyOf(resource, object.metadata.namespace ?? '', object.metadata.name!),
    ...encodeWithGap(toStrategyVersion(resource, object), storageResource(registry, resource)),
    expect: Number(object.metadata.resourceVersion ?? 0),
  }));

/** The operations on companions (`Strategy.companions`) of a write that turns `old` into `object`. */
function companionOperations(
  context: Context,
  resource: Resource,
  old: ApiObject | undefined,
  object: ApiObject | undefined,
): Transaction {
  const { created, removed } = changedCompanions(context, resource, old, object);
  return [...otherOperations(context, created), ...removed.map(key => ({ is: 'delete' as const, key }))];
}

function withoutManagers(object: ApiObject): ApiObject {
  const { managedFields: _managedFields, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/**
 * The bytes to store of the object of a request. An object that is too large with the owners of its fields loses these,
 * unless it is applied. Throws 500 for an object that is too large without them.
 */
function encodeFitting(
  context: Context,
  request: AuthorizedRequest,
  object: ApiObject,
): ReturnType<typeof encodeWithGap> & { isStripped: boolean } {
  const storage = storageResource(context.registry, request.resource);
  try {
    return { ...encodeWithGap(object, storage), isStripped: false };
  } catch (error) {
    const isApply = request.target.verb === 'patch' && patchFormat(context, request) === 'apply';
    if (isApply || !object.metadata.managedFields) throw error;
    return { ...encodeWithGap(withoutManagers(object), storage), isStripped: true };
  }
}

/** The bytes to store: the writer inserts the digits of the revision at `gap`. Throws 500 for an object too large. */
function encodeWithGap(object: ApiObject, resource: Resource): { value: Uint8Array; gap: number } {
  const bytes = Buffer.from(
    encodeObject(resource, { ...object, metadata: { ...object.metadata, resourceVersion: '0' } }),
  );
  const gap = bytes.indexOf(MARK) + MARK.length;
  // Without the digit that stands for the revision.
  const value = bytes.copyWithin(gap, gap + 1).subarray(0, -1);
  if (value.length > OBJECT_BYTES) {
    throw new Refusal(
      'RequestEntityTooLarge',
      `etcdserver: request is too large: ${qualifyResource(groupResource(resource))} must be at most ${OBJECT_BYTES} bytes`,
      undefined,
      500,
    );
  }
  return { value, gap };
}

function answerRemove(context: Context, write: ValidWrite, { old, shown, isUnreadable }: Removed): Answer {
  const { request, dryRun, changes } = write;
  const { resource, job, target } = request;
  // A delete shows the object at the revision of its removal; an update that ends a deletion, at the one it had.
  const commit = !dryRun && target.verb === 'delete' ? 'delete' : 'none';
  const shows = shown ?? (resource.strategy.returnsDeletedObject && !isUnreadable ? old : undefined);
  const answer = write.answer
    ? successAnswer(context, request)
    : shows
      ? encodeAnswer(context, request, shows, 200, commit)
      : removedAnswer(context, request, old);
  if (dryRun) return answer;
  const key = keyOf(resource, target.namespace || old.metadata.namespace || '', old.metadata.name!);
  const holder = holderOf(resource, job.current);
  const operations = [
    { is: 'delete' as const, key, expect: job.current!.revision },
    ...(isUnreadable && resource.strategy.claims
      ? claimReleases(resource, key, context.claimsOf(resource))
      : claimOperations(resource, key, holder, undefined)),
    ...companionOperations(context, resource, holder, undefined),
    ...otherOperations(context, changes),
  ];
  return { ...answer, operations };
}

/** The Status that answers deletes of kinds which do not return the removed object. */
function removedAnswer(context: Context, request: AuthorizedRequest, old: ApiObject): Answer {
  const { group, resource: kind } = groupResource(request.resource);
  return successStatus(context, request, 200, {
    details: { name: old.metadata.name, ...(group ? { group } : {}), kind, uid: old.metadata.uid },
  });
}
