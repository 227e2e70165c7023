import type { Target } from '../../model/target.js';
import type { User } from '../../model/user.js';
import type { ExplainedOpinion, Opinion } from './explain.js';
import type { Awaitable } from '../awaitable.js';

/**
 * A step of admission for a request: a call of a mutator or validator or, within one, of a webhook or policy.
 *
 * @example
 * change.report({ part: 'webhook tea.example.com', result: 'Passed', ms: 3 });
 */
export interface AdmissionStep {
  readonly stage: 'Mutate' | 'Validate';
  /** The name of the plugin. */
  readonly plugin: string;
  /** The part of the plugin that acted, such as a webhook, or a policy and its binding. */
  readonly part?: string | undefined;
  /** `Failed`: the call failed, and the request continued. */
  readonly result: 'Changed' | 'Passed' | 'Refused' | 'Warned' | 'Failed';
  readonly message?: string | undefined;
  /** Milliseconds that it took. */
  readonly ms?: number | undefined;
  /** Cost of the expressions that were evaluated. */
  readonly cost?: number | undefined;
  /** The JSON Patch (RFC 6902) of a change, if it is known. */
  readonly patch?: string | undefined;
}

/**
 * A step within a call, as a plugin reports it.
 *
 * @example
 * change.report?.({ part: 'webhook tea.example.com', result: 'Refused', message: 'no tea' });
 */
export type ReportedStep = Omit<AdmissionStep, 'stage' | 'plugin'>;

/**
 * A field that an apply would have taken from another manager, and since when that manager has it.
 *
 * @example
 * const conflict: FieldConflict = { field: '.spec.replicas', manager: 'hpa', operation: 'Update' };
 */
export interface FieldConflict {
  readonly field: string;
  readonly manager: string;
  readonly operation: string;
  readonly subresource?: string | undefined;
  /** RFC 3339. */
  readonly since?: string | undefined;
}

/**
 * A field that is not valid. `rule`: the expression that is not true.
 *
 * @example
 * const cause: RecordedCause = { reason: 'FieldValueInvalid', field: 'spec', message: 'min is above max' };
 */
export interface RecordedCause {
  readonly reason: string;
  readonly message: string;
  readonly field: string;
  readonly rule?: string | undefined;
}

/**
 * The Status with which a request was refused, shortened. It contains no values of objects with credentials.
 *
 * @example
 * const refusal: RecordedRefusal = { reason: 'NotFound', message: 'pods "tea" not found', causes: [] };
 */
export interface RecordedRefusal {
  readonly reason: string;
  readonly message: string;
  readonly causes: readonly RecordedCause[];
  readonly conflicts?: readonly FieldConflict[] | undefined;
}

/**
 * Facts that the pool records about a request in addition to its answer. Data only: it is copied between threads.
 *
 * @example
 * const trail: Trail = { auditId: '7d1c7a3c-5a0b-4b0e-9d3b-0d4f0c1f2a3b' };
 */
export interface Trail {
  readonly auditId: string;
  readonly refusal?: RecordedRefusal | undefined;
  /** The opinions of the authorizers about a request that none of them allows. */
  readonly opinions?: readonly Opinion[] | undefined;
  /** The target of these opinions, if it is not that of the request: for an impersonation, or a create by an update. */
  readonly asked?: Target | undefined;
  /** The steps of admission, as JSON: a list of AdmissionStep. */
  readonly steps?: string | undefined;
  /** Whether the request was a dry run. */
  readonly dryRun?: boolean | undefined;
  /** Whether the changes of mutators were not determined, because that would have taken too much time. */
  readonly unseenChanges?: boolean | undefined;
}

/**
 * A request that was refused, or that has changed something, as the server keeps it in memory. Data only.
 *
 * @example
 * const isRecent = ({ at }: DecisionRecord): boolean => at > host.now() - 60_000;
 */
export interface DecisionRecord extends Trail {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Milliseconds that the request took. */
  readonly ms: number;
  /** The path without its query. */
  readonly path: string;
  readonly target: Target;
  /** The name of a created object, whose path does not have it. */
  readonly name?: string | undefined;
  readonly code: number;
  /** Absent: the sender is not known, because its credentials are invalid. */
  readonly user?: User | undefined;
  /** The sender, if it acted as `user`. */
  readonly impersonator?: User | undefined;
  /**
   * The plugin that has authenticated the sender; absent for senders without credentials, and for requests of the
   * server itself.
   */
  readonly authenticator?: string | undefined;
  /** The authorizer that allowed the request, and its reason. */
  readonly allowedBy?: string | undefined;
  readonly reason?: string | undefined;
}

/**
 * Access to current facts, used when a client asks for the explanation of a record.
 *
 * @example
 * const said = await context.explain(user, target);
 */
export interface RecordContext {
  /** The decisions of all authorizers by the current rules, with their explanations. */
  explain(user: User, target: Target): Awaitable<readonly ExplainedOpinion[]>;
}
