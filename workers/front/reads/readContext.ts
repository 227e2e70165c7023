import type { Exchange } from '../../../core/api/listener.js';
import { FUTURE_REVISION_MS } from '../../../core/limits.js';
import { Refusal } from '../../../core/model/refusal.js';
import type { Naming } from '../../../core/naming.js';
import type { Resource } from '../../../core/schema/resource.js';
import type { Entry } from '../../../core/threads/entries/entry.js';
import type { PastEvent, Rendering } from '../../../core/threads/messages/messages.js';
import type { WireEvent } from '../../../core/threads/messages/wireEvent.js';
import type { Answers } from '../answers/answers.js';
import type { ContinueTokens } from './continueToken.js';
import type { FairLimiter } from '../fairness/fairLimiter.js';
import type { FrontRequest } from '../access/sender.js';
import type { Slices } from '../fairness/slices.js';
import type { Usage } from '../fairness/usage.js';
import type { State } from '../state/state.js';
import type { EventForm } from '../watch/watchEvents.js';
import type { WatchHub } from '../watch/watchHub.js';

/** The parts of the front end that reads need. */
export interface ReadContext {
  readonly state: State;
  readonly hub: WatchHub;
  readonly tokens: ContinueTokens;
  readonly naming: Naming;
  /** Whether answers may be in CBOR. */
  readonly cbor: boolean;
  /** Shares the main thread among lists and watches that look at many objects. */
  readonly slices: Slices;
  /** Limits the bytes of answers that are being made or sent. */
  readonly answers: Answers;
  /**
   * Limits the number of lists that look at many objects at the same time: each holds a reference to every object of
   * its collection.
   */
  readonly scans: FairLimiter;
  /**
   * Limits the number of lists and watches that read the past at the same time: the writer reads it, and it is held in
   * memory.
   */
  readonly pastReads: FairLimiter;
  /** Brings the state up to every acknowledged write. */
  catchUp(): void;
  /**
   * Brings the state up to every write acknowledged anywhere (spec, "Resource version semantics: meanings"). Undefined
   * if that is done already, as it is where no other process writes to the store. Throws Refusal 504.
   */
  mostRecent(): Promise<void> | undefined;
  /** Asks the writer for objects at an old revision; `remaining` is exact if `counted`. Throws Refusal 410. */
  range(
    prefix: string,
    revision: number,
    limit: number,
    after: string,
    counted: boolean,
  ): Promise<{ items: readonly WireEvent[]; more: boolean; remaining: number }>;
  /**
   * Asks the writer for past changes, for a sender with this usage. It answers with those up to `revision`, which is
   * below `to` if they have many bytes. Throws Refusal 410.
   */
  past(
    usage: Usage,
    prefix: string,
    from: number,
    to: number,
  ): Promise<{ readonly events: readonly PastEvent[]; readonly revision: number }>;
  /** Whether the request wants JSON of the stored version, which the front end holds. */
  wantsJson(exchange: Exchange, resource: Resource, stream?: boolean): boolean;
  /** Throws 406 if the resource has no form that the request accepts. */
  accepts(exchange: Exchange, resource: Resource, list?: boolean): void;
  /** Answers with an object in a form that is not the stored JSON. */
  respondObject(request: FrontRequest, resource: Resource, entry: Entry): Promise<void>;
  /**
   * Answers with a list in the form that the request accepts. `warnings`: texts of Warning headers, if not those of the
   * resource.
   */
  respondList(
    request: FrontRequest,
    resource: Resource,
    entries: readonly Entry[],
    metadata: NonNullable<Rendering['list']>,
    warnings?: readonly string[],
  ): Promise<void>;
  /**
   * The form of a watch's events that is not plain JSON; `listed`: of a watch that begins with a list of all objects,
   * which upstream does not send as Tables. Throws 406.
   */
  eventForm(request: FrontRequest, resource: Resource, listed: boolean): EventForm;
}

/** The message and cause that client-go looks for when a version is ahead of the server. */
function tooLarge(asked: string, current: number): Refusal {
  return new Refusal('Timeout', `Timeout: Too large resource version: ${asked}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });
}

/**
 * Waits until the state is at least at `revision` (spec, "Resource version semantics: meanings"); `asked` is how the
 * client wrote it. Throws 504.
 */
export async function notOlderThan(context: ReadContext, revision: number, asked: string): Promise<void> {
  context.catchUp();
  if (context.state.revision >= revision) return;
  if (!(await context.state.reaches(revision, FUTURE_REVISION_MS))) throw tooLarge(asked, context.state.revision);
}
