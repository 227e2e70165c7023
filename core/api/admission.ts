import type { ApiObject, Frozen } from '../model/object.js';
import type { Violation } from '../model/refusal.js';
import type { ResourceTarget } from '../model/target.js';
import type { User } from '../model/user.js';
import { after } from './awaitable.js';
import { checkViolations } from './violations.js';
import { deepFreeze } from './freeze.js';
import { requireMembers } from './parts.js';
import { type Awaitable, type Contributed, definePoint, PluginFailure } from './point.js';

/**
 * The operations of admission.
 *
 * @example
 * const on: Match = { operations: ['CREATE', 'UPDATE'] };
 */
export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/**
 * The change that a request makes. `old` is the current object; it is undefined for the CREATE of an object, but set
 * for the CREATE of a subresource (`binding`), which changes an object.
 *
 * @example
 * const isRename = change.operation === 'UPDATE' && change.old?.['spec'] !== undefined;
 */
export interface Change {
  readonly operation: Operation;
  readonly target: ResourceTarget;
  readonly kind: string;
  readonly user: User;
  /** Whether nothing will be stored. */
  readonly dryRun: boolean;
  readonly old?: Frozen<ApiObject>;
}

/**
 * The changes for which a mutator or validator is called; absent members match everything. Groups and resources are in
 * neutral names.
 *
 * @example
 * const on: Match = { groups: ['apps'], resources: ['deployments'], subresources: ['', 'scale'] };
 */
export interface Match {
  readonly groups?: readonly string[];
  readonly resources?: readonly string[];
  readonly operations?: readonly Operation[];
  /** Subresources; '' is the main resource. Absent: only the main resource. */
  readonly subresources?: readonly string[];
}

/**
 * Changes a draft in place. To refuse the request, throw Refusal('Forbidden'). Not called for DELETE.
 *
 * @example
 * const owner: Mutator = {
 *   on: { operations: ['CREATE'] },
 *   mutate: ({ user }, draft) => {
 *     draft.metadata.labels = { ...draft.metadata.labels, owner: user.name };
 *   },
 * };
 */
export interface Mutator {
  readonly on: Match;
  mutate(change: Change, draft: ApiObject): Awaitable<void>;
}

/**
 * Checks the object as it would be stored; `after` is undefined for DELETE. One answer has the violations of all
 * validators. To refuse the request immediately, throw Refusal('Forbidden'). The arguments are frozen.
 *
 * @example
 * const named: Validator = {
 *   on: { resources: ['configmaps'], operations: ['CREATE'] },
 *   validate: (_change, after) => (after?.metadata.labels ? [] : [required('metadata.labels')]),
 * };
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

/**
 * The combination of all mutators, in order. Throws the refusal of a mutator, or PluginFailure.
 *
 * @example
 * await mutate(change, draft);
 */
export type Mutation = (change: Change, draft: ApiObject) => Promise<void>;
/**
 * The combination of all validators: returns every violation. Throws the refusal of a validator, or PluginFailure.
 *
 * @example
 * const violations = await validate(change, object);
 */
export type Validation = (change: Change, after: Frozen<ApiObject> | undefined) => Promise<readonly Violation[]>;

const isIgnored = (thrown: unknown, { failurePolicy }: Contributed<unknown>): boolean =>
  failurePolicy === 'Ignore' && thrown instanceof PluginFailure;

/** Makes `object` equal to `other` by moving its members. */
function replaceMembers(object: ApiObject, other: ApiObject): void {
  for (const name of Object.keys(object)) delete object[name];
  Object.defineProperties(object, Object.getOwnPropertyDescriptors(other));
}

/**
 * A mutator whose failures are ignored works on a copy, so that the changes of a failed call, or changes after its time
 * limit, are discarded.
 */
async function mutateCopy(input: Contributed<Mutator>, change: Change, draft: ApiObject): Promise<void> {
  const copy = structuredClone(draft);
  try {
    await input.call(() => input.value.mutate(change, copy));
  } catch (thrown) {
    if (isIgnored(thrown, input)) return;
    throw thrown;
  }
  replaceMembers(draft, copy);
}

function inOrder(inputs: readonly Contributed<Mutator>[]): Mutation {
  return async (change, draft) => {
    for (const input of inputs) {
      if (!matches(input.value.on, change)) continue;
      if (input.failurePolicy === 'Ignore') await mutateCopy(input, change, draft);
      else await input.call(() => input.value.mutate(change, draft));
    }
  };
}

async function violationsOf(
  input: Contributed<Validator>,
  change: Change,
  object: Frozen<ApiObject> | undefined,
): Promise<readonly Violation[]> {
  try {
    return await input.call(() => after(input.value.validate(change, object), checkViolations));
  } catch (thrown) {
    if (isIgnored(thrown, input)) return [];
    throw thrown;
  }
}

function everyOne(inputs: readonly Contributed<Validator>[]): Validation {
  return async (change, object) => {
    const asked = inputs.filter(({ value }) => matches(value.on, change));
    if (asked.length === 0) return [];
    deepFreeze(object);
    deepFreeze(change.old);
    const found: Violation[] = [];
    for (const input of asked) found.push(...(await violationsOf(input, change, object)));
    return found;
  };
}

/**
 * Changes objects before validation, in the order of the configuration.
 *
 * @example
 * contribute: config => [mutator.of(host => new DefaultLabels(config, host.log))],
 */
export const mutator = definePoint<Mutator>()(
  'mutate',
  ['request'],
  inOrder,
  requireMembers({ on: 'object', mutate: 'function' }),
);
/**
 * Refuses objects. Every validator is called, and one answer has all violations.
 *
 * @example
 * contribute: config => [validator.of(() => new ImageRegistries(config))],
 */
export const validator = definePoint<Validator>()(
  'validate',
  ['request'],
  everyOne,
  requireMembers({ on: 'object', validate: 'function' }),
);
