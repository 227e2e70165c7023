import type { ApiObject, Frozen } from '../model/object.js';
import { copyJson } from '../model/text/json.js';
import { replaceMembers } from '../model/record.js';
import type { Violation } from '../model/refusal.js';
import type { ResourceTarget } from '../model/target.js';
import type { User } from '../model/user.js';
import type { ReportedStep } from './observe/decisions.js';
import { after } from './awaitable.js';
import type { Match, Operation } from './checks/match.js';
import { checkMatch, matches, selectionOf } from './checks/matching.js';
import { checkViolations } from './checks/violations.js';
import { deepFreeze } from './checks/freeze.js';
import { requireMembers } from './checks/parts.js';
import { type Awaitable, type Contributed, definePoint, PluginFailure } from './point.js';

/**
 * A resource in a version, with the kind of the objects that requests show. The group is as clients name it.
 *
 * @example
 * const isScale = ({ kind }: ServedKind) => kind.group === 'autoscaling' && kind.kind === 'Scale';
 */
export interface ServedKind {
  readonly resource: { readonly group: string; readonly version: string; readonly resource: string };
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
}

/**
 * Another version that serves the objects of a change. `convert` converts an object that a ChangeView shows to this
 * version, `convertBack` one of this version to that of the request. Both throw Refusal if they cannot.
 *
 * @example
 * const objects = view.equivalents().map(other => other.convert(object));
 */
export interface EquivalentKind extends ServedKind {
  convert(object: ApiObject): Awaitable<ApiObject>;
  convertBack(object: ApiObject): Awaitable<ApiObject>;
}

/**
 * A change as parties outside the server see it: in the version of the request, and for a subresource with a kind of
 * its own as an object of that kind (`scale` shows a Scale, `binding` a Binding, a CONNECT its options).
 *
 * @example
 * const replicas = change.view.show(draft)?.['spec'];
 */
export interface ChangeView extends ServedKind {
  /** '' is the resource itself. */
  readonly subresource: string;
  /** The name in the request; '' for each object of a deletecollection. */
  readonly name: string;
  /** The other served versions of the resource. */
  equivalents(): readonly EquivalentKind[];
  /** The options of the request, such as CreateOptions; null for CONNECT. */
  options(): { readonly [member: string]: unknown } | null;
  /** The form in which the request shows a draft, or the object that validators get; undefined for DELETE. */
  show(object: ApiObject | undefined): ApiObject | undefined;
  /** The form in which the request shows the current object. */
  showOld(): ApiObject | undefined;
  /**
   * Returns how an object of a kind would look with the members of `configuration` set, merged by the kind's rules as
   * in an apply. Throws an Error that describes the fault of the configuration.
   */
  merge(kind: ServedKind, shown: ApiObject, configuration: { readonly [member: string]: unknown }): ApiObject;
  /**
   * Makes a draft show `shown`, which is JSON from outside: unknown fields are removed and defaults applied. Throws
   * Refusal('InternalError') if it is not an object of the kind and, with `strict`, if a built-in kind does not have
   * one of its fields.
   */
  accept(draft: ApiObject, shown: unknown, unknownFields?: 'strict'): void;
}

/**
 * Amounts that a change uses of a limit in another object, such as a quota: they are added to the quantities in
 * `status.used` of that object when the change is stored. If one of them would exceed the quantity in `status.hard`, or
 * if the object differs from the one at `resourceVersion` in more than the amounts used, nothing is stored and the
 * request runs again, with the current objects. A dry run, and a request that is refused, charge nothing; a server that
 * ends between the two writes may leave a charge without its object, but never an object without its charge.
 *
 * @example
 * const seat: Charge = { resource, namespace, name: 'hall', resourceVersion: '17', amounts: { seats: '1' } };
 */
export interface Charge {
  /** The resource of the object, named as for an informer. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  /** The version that the decision is based on. */
  readonly resourceVersion: string;
  /** Quantities by the name of the counter. */
  readonly amounts: { readonly [counter: string]: string };
}

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
  /** Whether the request runs again, because objects that were decided on have changed before it was stored. */
  readonly repeated: boolean;
  readonly old?: Frozen<ApiObject>;
  /**
   * The members of the object in which the client sent empty lists or maps, which drafts of built-in kinds do not have.
   * Each comes with the names of its own members that are or contain one.
   */
  readonly emptied?: ReadonlyMap<string, ReadonlySet<string>>;
  readonly view: ChangeView;
  /** Adds a Warning header to the answer, also to a refusal. */
  warn(text: string): void;
  /**
   * Adds an annotation to the audit event of the request, unless it has one of this name. Names are qualified
   * (`example.com/name`); others are ignored.
   */
  annotate(name: string, value: string): void;
  /**
   * Adds a step, an action of one part of the plugin, to the record that explains the decision later. Absent where
   * nothing is recorded.
   */
  report?(step: ReportedStep): void;
  /**
   * Must be called before anything outside the server is changed. From then on, the request is not given to another
   * thread if its own hangs or ends; it fails instead. Throws Refusal if another thread already handles it; the change
   * must then not be made.
   */
  beginSideEffects(): void;
  /**
   * Charges another object for the change: called by validators, at most once for each object. Throws TypeError for a
   * resource that cannot exist, or an amount that is no quantity.
   */
  charge(charge: Charge): void;
}

/**
 * Changes a draft in place. To refuse the request, throw Refusal('Forbidden'). Not called for DELETE and CONNECT.
 *
 * A mutator that returns `reinvoke` has made changes that earlier mutators should see: all mutators are called once
 * more, in order, with `again` set. The values that they return then have no effect.
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
  mutate(change: Change, draft: ApiObject, again: boolean): Awaitable<unknown>;
}

/**
 * Checks the object as it would be stored; `after` is undefined for DELETE and CONNECT. One answer has the violations
 * of all validators. To refuse the request immediately, throw Refusal('Forbidden'). The arguments are frozen.
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

/**
 * Checks the draft that a configured plugin returns. It is called with the draft before the plugin gets it; the
 * function that it returns is called with the draft as the plugin has changed it. That function adds the members that
 * decoding guarantees, and throws TypeError if the draft is no longer an object of its kind.
 */
type Complete = (before: ApiObject) => (draft: ApiObject) => void;

/**
 * Observes the calls of mutators and validators, which are made one after another.
 *
 * @example
 * observer.begin('Mutate', 'labels', draft);
 */
export interface AdmissionObserver {
  /** A call begins. `draft`: the object that a mutator is given. */
  begin(stage: 'Mutate' | 'Validate', plugin: string, draft?: ApiObject): void;
  /** The call has failed, and the request continues. */
  ignore(thrown: unknown): void;
  /** The call has ended: with an error that refuses the request, or with violations. */
  end(draft: ApiObject | undefined, thrown?: unknown, violations?: readonly Violation[]): void;
}

/**
 * The combination of all mutators, in order. `complete` checks the drafts of configured plugins. Throws the refusal of
 * a mutator, or PluginFailure.
 *
 * @example
 * await mutate(change, draft);
 */
export type Mutation = (
  change: Change,
  draft: ApiObject,
  complete?: Complete,
  observer?: AdmissionObserver,
) => Promise<void>;

/**
 * The combination of all validators: returns every violation. Throws the refusal of a validator, or PluginFailure.
 *
 * @example
 * const violations = await validate(change, object);
 */
export type Validation = (
  change: Change,
  after: Frozen<ApiObject> | undefined,
  observer?: AdmissionObserver,
) => Promise<readonly Violation[]>;

const isIgnored = (thrown: unknown, { failurePolicy }: Contributed<unknown>): boolean =>
  failurePolicy === 'Ignore' && thrown instanceof PluginFailure;

/**
 * A mutator whose failures are ignored works on a copy, so that the changes of a failed call, or changes after its time
 * limit, are discarded.
 */
async function mutateCopy(
  input: Contributed<Mutator>,
  change: Change,
  draft: ApiObject,
  again: boolean,
  complete: Complete | undefined,
  observer: AdmissionObserver | undefined,
): Promise<unknown> {
  const copy = structuredClone(draft);
  try {
    const result = await mutateChecked(input, change, copy, again, complete);
    replaceMembers(draft, copy);
    return result;
  } catch (thrown) {
    if (!isIgnored(thrown, input)) throw thrown;
    observer?.ignore(thrown);
    return undefined;
  }
}

/** Throws TypeError if a mutator has removed the metadata, which everything after it reads. */
function checkMetadata({ metadata }: ApiObject): void {
  if (typeof metadata !== 'object' || metadata === null)
    throw new TypeError('mutate must not remove the metadata of the draft');
}

/**
 * Calls a mutator. A plugin of the configuration gets an object of its own, and the draft a copy of the result, which
 * must be JSON: later changes by the plugin to its object have no effect.
 */
function mutateChecked(
  input: Contributed<Mutator>,
  change: Change,
  draft: ApiObject,
  again: boolean,
  complete: Complete | undefined,
): Awaitable<unknown> {
  const own = input.isBuiltIn ? draft : { ...draft };
  const completed = input.isBuiltIn ? undefined : complete?.(draft);
  return input.call(() =>
    after(input.value.mutate(change, own, again), result => {
      checkMetadata(own);
      if (own === draft) return result;
      replaceMembers(draft, copyJson(own, 'draft') as object);
      completed?.(draft);
      return result;
    }),
  );
}

/** A part with its selection, which is read once: later changes to it have no effect. */
const selecting = <Part extends { readonly on: Match }>(input: Contributed<Part>) => ({
  input,
  on: selectionOf(input.value.on),
});

/**
 * Freezes the change that a configured plugin receives, so that it cannot alter the objects that other plugins receive.
 */
function freezeChange(change: Change): void {
  for (const value of [change, change.target, change.user, change.user.groups]) Object.freeze(value);
  deepFreeze(change.old);
}

function inOrder(inputs: readonly Contributed<Mutator>[]): Mutation {
  const mutators = inputs.map(selecting);
  const runOnce = async (
    change: Change,
    draft: ApiObject,
    again: boolean,
    complete: Complete | undefined,
    observer: AdmissionObserver | undefined,
  ): Promise<boolean> => {
    let reinvoke = false;
    for (const { input, on } of mutators) {
      if (!matches(on, change)) continue;
      if (!input.isBuiltIn) freezeChange(change);
      observer?.begin('Mutate', input.plugin, draft);
      let result: unknown;
      try {
        result =
          input.failurePolicy === 'Ignore'
            ? await mutateCopy(input, change, draft, again, complete, observer)
            : await mutateChecked(input, change, draft, again, complete);
      } catch (thrown) {
        observer?.end(draft, thrown);
        throw thrown;
      }
      observer?.end(draft);
      if (result === 'reinvoke') reinvoke = true;
    }
    return reinvoke;
  };
  return async (change, draft, complete, observer) => {
    if (await runOnce(change, draft, false, complete, observer)) await runOnce(change, draft, true, complete, observer);
  };
}

async function violationsOf(
  input: Contributed<Validator>,
  change: Change,
  object: Frozen<ApiObject> | undefined,
  observer: AdmissionObserver | undefined,
): Promise<readonly Violation[]> {
  observer?.begin('Validate', input.plugin);
  try {
    const violations = await input.call(() => after(input.value.validate(change, object), checkViolations));
    observer?.end(undefined, undefined, violations);
    return violations;
  } catch (thrown) {
    if (!isIgnored(thrown, input)) {
      observer?.end(undefined, thrown);
      throw thrown;
    }
    observer?.ignore(thrown);
    observer?.end(undefined);
    return [];
  }
}

function everyOne(inputs: readonly Contributed<Validator>[]): Validation {
  const validators = inputs.map(selecting);
  return async (change, object, observer) => {
    const asked = validators.filter(({ on }) => matches(on, change));
    if (asked.length === 0) return [];
    // Built-in validators do not change their arguments.
    if (asked.some(({ input }) => !input.isBuiltIn)) {
      deepFreeze(object);
      freezeChange(change);
    }
    const found: Violation[] = [];
    for (const { input } of asked) found.push(...(await violationsOf(input, change, object, observer)));
    return found;
  };
}

/**
 * Changes objects before validation, in the order of the configuration.
 *
 * @example
 * contribute: config => [mutator.of(host => new DefaultLabels(config, host.log))],
 */
export const mutator = definePoint<Mutator>()('mutator', ['pool'], inOrder, value => {
  requireMembers({ on: 'object', mutate: 'function' })(value);
  checkMatch(value.on, ['CREATE', 'UPDATE']);
});
/**
 * Refuses objects. Every validator is called, and one answer has all violations.
 *
 * @example
 * contribute: config => [validator.of(() => new ImageRegistries(config))],
 */
export const validator = definePoint<Validator>()('validator', ['pool'], everyOne, value => {
  requireMembers({ on: 'object', validate: 'function' })(value);
  checkMatch(value.on);
});
