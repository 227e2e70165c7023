import { eachOmitted } from '../../core/schema/decode/unstored.js';
import type { AnonymousPolicy } from '../../core/access/identity.js';
import type { Time } from '../../core/model/scalars.js';
import type { Authentication, Authorization } from '../../core/api/access.js';
import type { Mutation, Validation } from '../../core/api/admission.js';
import type { Conversion } from '../../core/api/resource/conversion.js';
import type { Log } from '../../core/api/host.js';
import type { StrategyContext } from '../../core/api/strategy.js';
import type { Naming } from '../../core/naming.js';
import type { ApiObject } from '../../core/model/object.js';
import type { Registry, Resource } from '../../core/schema/resource.js';
import type { RecordingBudget } from './recordingBudget.js';
import type { AuthorizedRequest } from './types.js';

/** The services that all requests of a pool thread share. */
export interface Context {
  readonly naming: Naming;
  /** Whether bodies and answers may be in CBOR. */
  readonly cbor: boolean;
  /** Whether deletes may remove objects that cannot be read. */
  readonly unsafeDeletion: boolean;
  /** The claims of a resource. Used only where deletes may remove unreadable objects. */
  readonly claimsOf: (resource: Resource) => readonly ApiObject[];
  readonly registry: Registry;
  readonly authentication: Authentication;
  readonly authorization: Authorization;
  readonly mutate: Mutation;
  readonly validate: Validation;
  readonly conversion: Conversion;
  readonly anonymous: AnonymousPolicy;
  readonly log: Log;
  /** The time that the thread may spend on records. */
  readonly recording: RecordingBudget;
  /**
   * Whether a failure of a plugin is logged with its request even if the plugin has awaited something before. Only with
   * plugins of the configuration, because before Node.js 24 this costs each request some microseconds. Requests with a
   * trace are always tracked, for the webhooks that they call.
   */
  readonly tracksRequests: boolean;
  readonly now: () => number;
  readonly lookup: StrategyContext['lookup'];
  readonly listOf: NonNullable<StrategyContext['list']>;
  /** Brings this thread's informers up to every acknowledged write. */
  catchUp(): void;
}

let lastSecond = 0;
let lastText = '' as Time;

/** RFC 3339 in whole seconds, UTC. The text is made once a second. */
export function timestamp(milliseconds: number): Time {
  const second = Math.floor(milliseconds / 1000);
  if (second !== lastSecond) {
    lastSecond = second;
    lastText = `${new Date(second * 1000).toISOString().slice(0, 19)}Z` as Time;
  }
  return lastText;
}

/** Returns the part of a request, and of other objects, that strategies may use. */
export const strategyContextOf = (
  context: Context,
  { user, warnings, trail, emptied, unstored }: AuthorizedRequest,
  dryRun: boolean,
): StrategyContext => ({
  now: timestamp(context.now()),
  user,
  dryRun,
  emptied,
  eachEmptied: visit => eachOmitted(unstored, visit),
  lookup: context.lookup,
  list: context.listOf,
  warn: text => void warnings.push(text),
  annotate: (name, value) => trail.annotate(name, value),
});
