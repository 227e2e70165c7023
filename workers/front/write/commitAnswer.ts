import { CBOR_TYPE, cborDocument } from '../../../core/schema/cbor/cbor.js';
import { withEnvelopeRevision } from '../../../core/schema/protobuf/protobufWatch.js';
import type { Current } from '../../../core/threads/messages/messages.js';
import { jsonLine } from '../answers/reply.js';
import type { State } from '../state/state.js';
import type { PoolResponse, Proposed } from './writeState.js';

/**
 * The answer to a proposal that was committed at `revision`: the body that the pool made, with the revision in it, or
 * else the object that was written; either as CBOR, where that is the media type. `current` is the object before; it is
 * the answer to a commit that changed nothing.
 */
export function commitAnswer(
  { id, status, headers, auditId, body, gaps, key }: Proposed,
  revision: number,
  cache: Pick<State, 'find' | 'history'>,
  current: Current | undefined,
): PoolResponse {
  const answer = (bytes: Uint8Array): PoolResponse => ({ id, is: 'respond', status, headers, auditId, body: bytes });
  if (body && gaps === 'envelope') return answer(withEnvelopeRevision(body, revision));
  if (body && !gaps) return answer(body);
  const isCbor = headers.some(([name, value]) => name === 'content-type' && value === CBOR_TYPE);
  if (!body) {
    const written = writtenBytes(key, revision, cache, current);
    return answer(isCbor ? cborDocument(written) : jsonLine(written));
  }
  const text = insertRevision(body, gaps as readonly number[], revision);
  return answer(isCbor ? cborDocument(text) : text);
}

/** The object that was written at a revision; after a commit that changed nothing, the object as it was. */
function writtenBytes(
  key: string,
  revision: number,
  cache: Pick<State, 'find' | 'history'>,
  current: Current | undefined,
): Uint8Array {
  // A later change may already have replaced the object: then it is in the history.
  const now = cache.find(key);
  const written =
    now?.revision === revision ? now : cache.history.at(revision).find(({ after }) => after?.key === key)?.after;
  const object = written?.value ?? current?.bytes;
  if (!object) throw new Error('the committed object is not in the cache');
  return object;
}

/** The body with the digits of the revision at each gap. */
function insertRevision(body: Uint8Array, gaps: readonly number[], revision: number): Buffer {
  const digits = Buffer.from(String(revision));
  const ends = [...gaps, body.length];
  return Buffer.concat(ends.flatMap((end, i) => [...(i > 0 ? [digits] : []), body.subarray(ends[i - 1] ?? 0, end)]));
}
