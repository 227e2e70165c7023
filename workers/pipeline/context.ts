import type { Authentication, Authorization } from '../../core/api/access.js';
import type { Mutation, Validation } from '../../core/api/admission.js';
import type { Log } from '../../core/api/host.js';
import type { StrategyContext } from '../../core/api/strategy.js';
import type { Route } from '../../core/request/route.js';
import type { ResourceTarget } from '../../core/model/target.js';
import type { User } from '../../core/model/user.js';
import type { Naming } from '../../core/naming.js';
import type { Registry, Resource } from '../../core/schema/resource.js';
import type { Job } from '../../core/threads/messages.js';

/** What the stages of a worker share; made once per worker. */
export interface Context {
  readonly naming: Naming;
  readonly registry: Registry;
  readonly authentication: Authentication;
  readonly authorization: Authorization;
  readonly mutate: Mutation;
  readonly validate: Validation;
  readonly anonymous: boolean;
  readonly log: Log;
  readonly now: () => number;
  readonly lookup: StrategyContext['lookup'];
  readonly listOf: NonNullable<StrategyContext['list']>;
  /** Brings this thread's informers up to every acknowledged write. */
  catchUp(): void;
}

/** A request whose sender is known and permitted, on a resource that has the verb. */
export interface Permitted {
  readonly job: Job;
  readonly route: Route;
  readonly target: ResourceTarget;
  readonly resource: Resource;
  readonly user: User;
  /** Warning header texts collected on the way. */
  readonly warnings: string[];
  /** Complaints about members that the body gives twice, until the decoder tells them with its own. */
  readonly duplicates: string[];
}

let lastSecond = 0;
let lastText = '';

/** RFC 3339 in whole seconds, UTC; made once a second. */
export function timestamp(milliseconds: number): string {
  const second = Math.floor(milliseconds / 1000);
  if (second !== lastSecond) {
    lastSecond = second;
    lastText = `${new Date(second * 1000).toISOString().slice(0, 19)}Z`;
  }
  return lastText;
}

/** The rules object strategies receive. */
export const rulesOf = (context: Context, permitted: Permitted, dryRun: boolean): StrategyContext => ({
  now: timestamp(context.now()),
  user: permitted.user,
  dryRun,
  lookup: context.lookup,
  list: context.listOf,
  warn: text => void permitted.warnings.push(text),
});
