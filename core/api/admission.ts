import type { ApiObject, Frozen } from '../model/object.js';
import type { Violation } from '../model/refusal.js';
import type { ResourceTarget } from '../model/target.js';
import type { User } from '../model/user.js';
import { type Awaitable, type Contributed, definePoint } from './point.js';

/** Operations admission distinguishes. */
export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** A change under way, as admission sees it. `object` is undefined for DELETE, `old` for CREATE. */
export interface Change {
  readonly operation: Operation;
  readonly target: ResourceTarget;
  readonly kind: string;
  readonly user: User;
  readonly dryRun: boolean;
  readonly old?: Frozen<ApiObject>;
}

/** Which changes a mutator or validator wants; absent members match all. Groups and resources in neutral names. */
export interface Match {
  readonly groups?: readonly string[];
  readonly resources?: readonly string[];
  readonly operations?: readonly Operation[];
  /** Subresources; absent means the main resource only. */
  readonly subresources?: readonly string[];
}

/** Changes a draft in place. Throws Refusal('Forbidden') to refuse. */
export interface Mutator {
  readonly on: Match;
  mutate(change: Change, draft: ApiObject): Awaitable<void>;
}

/**
 * Judges the object as it would be stored. All violations of all validators come in one reply; throw
 * Refusal('Forbidden') to refuse outright.
 */
export interface Validator {
  readonly on: Match;
  validate(change: Change, after: Frozen<ApiObject> | undefined): Awaitable<readonly Violation[]>;
}

const matches = (on: Match, change: Change): boolean =>
  (on.operations?.includes(change.operation) ?? true) &&
  (on.groups?.includes(change.target.group) ?? true) &&
  (on.resources?.includes(change.target.resource) ?? true) &&
  (on.subresources?.includes(change.target.subresource) ?? change.target.subresource === '');

/** All mutators as one, in order. */
export type Mutation = (change: Change, draft: ApiObject) => Promise<void>;
/** All validators as one: every violation. */
export type Validation = (change: Change, after: Frozen<ApiObject> | undefined) => Promise<readonly Violation[]>;

function inOrder(inputs: readonly Contributed<Mutator>[]): Mutation {
  return async (change, draft) => {
    for (const { value } of inputs) if (matches(value.on, change)) await value.mutate(change, draft);
  };
}

function everyOne(inputs: readonly Contributed<Validator>[]): Validation {
  return async (change, after) => {
    const found: Violation[] = [];
    for (const { value } of inputs) if (matches(value.on, change)) found.push(...(await value.validate(change, after)));
    return found;
  };
}

/** Changes objects before validation, in the order of the configuration. */
export const mutator = definePoint<Mutator, Mutation>('mutate', ['request'], inOrder);
/** Refuses objects; every validator speaks, all violations go into one reply. */
export const validator = definePoint<Validator, Validation>('validate', ['request'], everyOne);
