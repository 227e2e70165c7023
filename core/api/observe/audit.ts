import { deepFreeze } from '../checks/freeze.js';
import { requireMembers } from '../checks/parts.js';
import { isPromise } from '../awaitable.js';
import { type Awaitable, type Contributed, definePoint } from '../point.js';

/**
 * How much of a request an event contains: `Request` adds the body of the request to `Metadata`, `RequestResponse` also
 * that of the answer.
 *
 * @example
 * const hasBodies = (level: AuditLevel): boolean => level !== 'Metadata';
 */
export type AuditLevel = 'Metadata' | 'Request' | 'RequestResponse';

/**
 * When an event was recorded: when the request arrived, when a long answer began, or when the answer was complete.
 *
 * @example
 * const isLast = (stage: AuditStage): boolean => stage === 'ResponseComplete';
 */
export type AuditStage = 'RequestReceived' | 'ResponseStarted' | 'ResponseComplete';

/**
 * A user in an audit event. Members that would be empty are absent.
 *
 * @example
 * const ann: AuditUser = { username: 'ann', groups: ['devs', 'system:authenticated'] };
 */
export interface AuditUser {
  /** Absent for a sender that is not known, because its credentials are invalid. */
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: { readonly [key: string]: readonly string[] };
}

/**
 * An audit event, as `audit.k8s.io/v1` defines it; group and annotations are in the naming of the server. It is JSON,
 * but integers of bodies that a number cannot hold exactly are bigints: `writeJson` writes them.
 *
 * @example
 * const line = ({ auditID, user, requestURI }: AuditEvent): string => `${auditID} ${user.username} ${requestURI}`;
 */
export interface AuditEvent {
  readonly kind: 'Event';
  readonly apiVersion: string;
  readonly level: AuditLevel;
  /** The same in all events of a request, and in the header `Audit-Id` of its answer. */
  readonly auditID: string;
  readonly stage: AuditStage;
  readonly requestURI: string;
  readonly verb: string;
  /** The sender. */
  readonly user: AuditUser;
  /** The user that the sender impersonates. */
  readonly impersonatedUser?: AuditUser;
  /** Addresses that the client and proxies named, and last that of the connection. */
  readonly sourceIPs?: readonly string[];
  readonly userAgent?: string;
  /** The object of the request; members that would be empty are absent. */
  readonly objectRef?: { readonly [member: string]: string };
  /** Absent in the stage `RequestReceived`, like all members that follow. */
  readonly responseStatus?: { readonly metadata: object; readonly code: number; readonly [member: string]: unknown };
  readonly requestObject?: object;
  readonly responseObject?: object;
  /** RFC 3339 with microseconds. */
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
  readonly annotations?: { readonly [name: string]: string };
}

/**
 * How a sink takes events. `batch`: no answer waits for it. `blocking`: an answer is sent after the events of its
 * request have been written, or have failed to be. `blocking-strict`: in addition, a request whose first event cannot
 * be written is refused with 500 before it is processed.
 *
 * @example
 * const mode: AuditMode = 'blocking';
 */
export type AuditMode = 'batch' | 'blocking' | 'blocking-strict';

/**
 * A destination of audit events. The audit policy of the server (`--audit-policy-file`) decides which requests have
 * events, and how much they contain.
 *
 * @example
 * const counting: AuditSink = { write: ({ verb }) => counts.set(verb, (counts.get(verb) ?? 0) + 1) };
 */
export interface AuditSink {
  /** Read once. Absent: `batch`. */
  readonly mode?: AuditMode;
  /**
   * Takes an event: a request has arrived, its answer has begun, or it was answered. An error is logged and counted,
   * and the event is lost. It must not take long before it returns, because no other request is served meanwhile: in
   * the mode `batch`, gather events and send them later; in others, return a promise. The event must not be changed;
   * other sinks get the same one.
   */
  write(event: AuditEvent): Awaitable<void>;
  /** Resolves when everything that was taken is written. Called when the last request of the thread was answered. */
  close?(): Awaitable<void>;
}

/**
 * The combination of all sinks.
 *
 * @example
 * const sinks: AuditSinks | undefined = host.at(auditSink);
 */
export interface AuditSinks {
  /** Whether answers wait for a sink. */
  readonly isBlocking: boolean;
  /**
   * Gives all sinks an event. Returns whether the request may continue: false if a sink of the mode `blocking-strict`
   * has not written it. Waits for sinks that are blocking. Never throws, and never rejects.
   */
  write(event: AuditEvent): Awaitable<boolean>;
  /** Resolves when all sinks have written the events that they took, or have failed. */
  close(): Promise<void>;
}

const MODES: readonly unknown[] = [undefined, 'batch', 'blocking', 'blocking-strict'];

const succeed = (): boolean => true;

/**
 * Combines the sinks; undefined if there are none. An error of one is a failure of its plugin; the others are still
 * called.
 */
function everySink(inputs: readonly Contributed<AuditSink>[]): AuditSinks | undefined {
  if (inputs.length === 0) return undefined;
  const isShared = inputs.length > 1;
  const sinks = inputs.map(({ value, call }) => ({ value, call, mode: value.mode ?? 'batch' }));
  return {
    isBlocking: sinks.some(({ mode }) => mode !== 'batch'),
    write(event) {
      if (isShared) deepFreeze(event);
      const waiting: Promise<boolean>[] = [];
      let isAccepted = true;
      for (const { value, call, mode } of sinks) {
        // The failure is already logged and counted.
        const fail = (): boolean => mode !== 'blocking-strict';
        try {
          const written = call(() => value.write(event), never);
          if (!isPromise(written)) continue;
          const settled = written.then(succeed, fail);
          if (mode !== 'batch') waiting.push(settled);
        } catch {
          isAccepted &&= fail();
        }
      }
      if (waiting.length === 0) return isAccepted;
      return Promise.all(waiting).then(results => isAccepted && results.every(Boolean));
    },
    async close() {
      await Promise.allSettled(inputs.map(async ({ value, call }) => await call(() => value.close?.(), never)));
    },
  };
}

/** No error of a sink is an answer to the client. */
const never = (): boolean => false;

/**
 * Takes the audit events of the server: a file, a service, a queue. All sinks get every event.
 *
 * @example
 * contribute: ({ url }) => [auditSink.of(host => new AuditQueue(url, host.log))],
 */
export const auditSink = definePoint<AuditSink>()(
  'auditSink',
  ['front'],
  everySink,
  requireMembers({
    write: 'function',
    mode: [value => MODES.includes(value), 'batch, blocking or blocking-strict, or absent'],
    close: [value => value === undefined || typeof value === 'function', 'a function, or absent'],
  }),
);
