import { AsyncLocalStorage } from 'node:async_hooks';
import { type TraceContext, traceIdOf } from '../../request/traceContext.js';
import { randomUUID } from '../../runtime/random.js';

/** The fields of a log record that identify its request. */
export interface RequestFields {
  readonly method: string;
  readonly path: string;
  /** Absent before the sender is authenticated. */
  readonly user?: string;
  /** The id of its audit events, which is in the header Audit-Id of the answer. */
  readonly auditId: string;
  /** The id of the trace that the client has named with the header traceparent. */
  readonly traceId?: string;
}

/** A request that runs in this thread, as the log knows it. */
export class LoggedRequest {
  /** The name of the user; to be set when the sender is authenticated. */
  user: string | undefined;
  /** The audit id that was generated for a record, because the request had none. The answer must contain it. */
  newAuditId: string | undefined;
  /** The time, by `monotonicTime`, from which its client no longer waits for it; to be set when its query is read. */
  endsAt = Number.POSITIVE_INFINITY;

  constructor(
    readonly method: string,
    readonly path: string,
    /** The audit id of the request, if it has one. */
    readonly auditId: string | undefined,
    /** The headers of calls that are made for it, if the client has named a trace. */
    readonly trace: TraceContext | undefined,
  ) {}

  /** The audit id of the request. If it has none, one is generated, which the answer must contain. */
  get id(): string {
    return this.auditId ?? (this.newAuditId ??= randomUUID());
  }

  /** The members of a record about the request. */
  get fields(): RequestFields {
    const { method, path, user, trace, id: auditId } = this;
    return { method, path, ...(user !== undefined && { user }), auditId, ...(trace && { traceId: traceIdOf(trace) }) };
  }
}

const requests = new AsyncLocalStorage<LoggedRequest>();

/**
 * Runs `work` for a request: `currentRequest` returns it until `work` has ended, also in code that continues after an
 * `await`.
 */
export const inRequest = <T>(request: LoggedRequest, work: () => T): T => requests.run(request, work);

/** The request for which the current code runs; undefined outside of requests. */
export const currentRequest = (): LoggedRequest | undefined => requests.getStore();
