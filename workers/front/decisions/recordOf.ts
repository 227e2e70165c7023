import type { DecisionRecord, RecordedRefusal } from '../../../core/api/observe/decisions.js';
import { RECORDED_MESSAGE_CHARACTERS } from '../../../core/limits.js';
import type { Refusal } from '../../../core/model/refusal.js';
import type { Route } from '../../../core/request/route.js';
import type { Sender } from '../access/sender.js';

/** A refusal that the front end has answered itself, with the id that its answer has. */
export interface FrontRefusal {
  readonly auditId: string;
  readonly refusal: Refusal;
}

/** A request that was answered. */
export interface AnsweredRequest {
  readonly path: string;
  readonly query: string;
  readonly route: Route;
  /** Undefined if its credentials could not be read. */
  readonly sender: Sender | undefined;
  /** Status code of the answer; undefined if there was none. */
  readonly code: number | undefined;
  readonly refused: FrontRefusal | undefined;
  /** When it was answered, in milliseconds since the epoch, and how long it took. */
  readonly at: number;
  readonly ms: number;
}

/** Characters of a query that a record may keep in memory with its path. */
const KEPT_QUERY = 200;

/** A copy that shares no memory: a part of a URL keeps all of the URL in memory, with its query. */
const ownCopy = <T>(texts: T): T => JSON.parse(JSON.stringify(texts)) as T;

/** The front end's refusals are about versions, limits and names: they have no causes. */
const recordedRefusal = ({ reason, message }: Refusal): RecordedRefusal => ({
  reason,
  message: message.slice(0, RECORDED_MESSAGE_CHARACTERS),
  causes: [],
});

/** The record of a request that was refused, or has changed something; undefined for others. */
export function recordOf(answered: AnsweredRequest): DecisionRecord | undefined {
  const { path, query, route, sender, code, refused, at, ms } = answered;
  const trail = sender?.trail;
  const auditId = refused?.auditId ?? trail?.auditId;
  if (auditId === undefined || code === undefined) return undefined;
  const key = sender?.key;
  const isLong = query.length > KEPT_QUERY;
  // Written member by member: after a spread, each further member takes a microsecond.
  return {
    auditId,
    at: at - ms,
    ms,
    path: isLong ? ownCopy(path) : path,
    target: isLong ? ownCopy(route.target) : route.target,
    name: key?.slice(key.lastIndexOf('/') + 1),
    code,
    user: sender?.user,
    impersonator: sender?.impersonator,
    authenticator: sender?.authenticator ?? sender?.identity?.authenticator,
    allowedBy: sender?.permission?.allowedBy,
    reason: sender?.permission?.reason,
    refusal: refused ? recordedRefusal(refused.refusal) : trail?.refusal,
    opinions: trail?.opinions,
    asked: trail?.asked,
    steps: trail?.steps,
    dryRun: trail?.dryRun,
    unseenChanges: trail?.unseenChanges,
  };
}
