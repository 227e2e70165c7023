import { OBJECT_BYTES } from '../../core/limits.js';
import type { ApiObject } from '../../core/model/object.js';
import { qualifyResource, Refusal } from '../../core/model/refusal.js';
import { REVISION_MARK } from '../../core/plugin/stored.js';
import { encodeStatus } from '../../core/request/forms.js';
import { keyOf } from '../../core/request/keys.js';
import type { Resource } from '../../core/schema/resource.js';
import { type Answer, jsonHeaders } from './answer.js';
import { claimOperations } from './claims.js';
import type { Context } from './context.js';
import { groupResource } from './errors.js';
import type { Removed, Stored, ValidWrite } from './outcome.js';
import { encodeAnswer } from './render.js';
import type { AuthorizedRequest } from './stages.js';
import { encodeObject, storageResource, toRequestVersion, toStorageVersion } from './versions.js';

/** The transaction of a valid write, if there is one, and the answer in the form that the client accepts. */
export function answerWrite(context: Context, { request, dryRun, outcome }: ValidWrite): Answer {
  switch (outcome.is) {
    case 'store':
      return answerStore(context, request, outcome, dryRun);
    case 'remove':
      return answerRemove(context, request, outcome, dryRun);
    case 'unchanged':
    case 'answered':
      return encodeAnswer(context, request, outcome.object, outcome.status);
  }
}

const SUCCESS = Buffer.from('{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","code":201}\n');

const successAnswer = ({ warnings }: AuthorizedRequest): Answer => ({
  status: 201,
  headers: jsonHeaders(warnings),
  body: SUCCESS,
});

function answerStore(context: Context, request: AuthorizedRequest, outcome: Stored, dryRun: boolean): Answer {
  const { resource, job } = request;
  const { object, expect, status, more } = outcome;
  const key = keyOf(resource, object.metadata.namespace ?? '', object.metadata.name!);
  if (dryRun)
    return outcome.answer ? successAnswer(request) : { ...encodeAnswer(context, request, object, status), key };
  const stored = toStorageVersion(resource, object);
  const { value, gap } = encodeWithGap(stored, storageResource(context.registry, resource));
  // A create has no current object; if one is given here, it belongs to another object of that name.
  const current = expect === 0 ? undefined : job.current;
  const operations = [
    { is: 'put' as const, key, value, gap, expect },
    ...claimOperations(resource, key, current, stored),
  ];
  if (outcome.answer) return { ...successAnswer(request), operations };
  // The stored version may lack members of the request's version: the answer shows what a read will show.
  const shown = resource.custom && stored !== object ? toRequestVersion(resource, stored) : object;
  const { headers, body, gaps } = encodeAnswer(context, request, shown, status, 'put');
  return { status, headers, body, gaps, operations, more };
}

/** The bytes to store: the writer inserts the digits of the revision at `gap`. Throws 500 for an object too large. */
function encodeWithGap(object: ApiObject, resource: Resource): { value: Uint8Array; gap: number } {
  const text = encodeObject(resource, { ...object, metadata: { ...object.metadata, resourceVersion: '0' } });
  const at = text.indexOf(REVISION_MARK) + REVISION_MARK.length;
  const value = Buffer.from(text.slice(0, at) + text.slice(at + 1));
  if (value.length > OBJECT_BYTES) {
    throw new Refusal(
      'RequestEntityTooLarge',
      `etcdserver: request is too large: ${qualifyResource(groupResource(resource))} must be at most ${OBJECT_BYTES} bytes`,
      undefined,
      500,
    );
  }
  return { value, gap: Buffer.byteLength(text.slice(0, at)) };
}

function answerRemove(context: Context, request: AuthorizedRequest, { old, shown }: Removed, dryRun: boolean): Answer {
  const { resource, job, target } = request;
  // A delete shows the object at the revision of its removal; an update that ends a deletion, at the one it had.
  const commit = !dryRun && target.verb === 'delete' ? 'delete' : 'none';
  const answer =
    shown || resource.strategy.returnsDeletedObject
      ? encodeAnswer(context, request, shown ?? old, 200, commit)
      : removedAnswer(context, request, old);
  if (dryRun) return answer;
  const key = keyOf(resource, target.namespace || old.metadata.namespace || '', old.metadata.name!);
  const operations = [
    { is: 'delete' as const, key, expect: job.current!.revision },
    ...claimOperations(resource, key, job.current, undefined),
  ];
  return { ...answer, operations };
}

/** The Status of kinds that do not show what was removed. */
function removedAnswer({ naming }: Context, { resource, warnings, job }: AuthorizedRequest, old: ApiObject): Answer {
  const { group, resource: kind } = groupResource(resource);
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { name: old.metadata.name, ...(group ? { group } : {}), kind, uid: old.metadata.uid },
  };
  const { contentType, bytes } = encodeStatus(status, job.accept, naming);
  return { status: 200, headers: [['content-type', contentType], ...jsonHeaders(warnings).slice(1)], body: bytes };
}
