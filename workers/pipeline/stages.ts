import type { Awaitable } from '../../core/api/point.js';
import type { ApiObject } from '../../core/model/object.js';
import { checkNameParameter } from '../../core/model/nameParameter.js';
import { unknownPath, type Violation } from '../../core/model/refusal.js';
import type { ResourceTarget } from '../../core/model/target.js';
import type { User } from '../../core/model/user.js';
import type { Route } from '../../core/request/route.js';
import { withSelectors } from '../../core/request/selectors.js';
import type { Resource } from '../../core/schema/resource.js';
import type { Grant, Job } from '../../core/threads/messages.js';
import { checkPermission, findSender, type Permission } from './access.js';
import { prepareAction } from './actions.js';
import { mutateDraft, validateWrite } from './admission.js';
import type { Answer } from './answer.js';
import { apply } from './apply.js';
import type { Context } from './context.js';
import { create } from './create.js';
import { decodeRequest } from './decode.js';
import type { ManagedFields } from './managers.js';
import type { DeleteOptions, WriteOptions } from './options.js';
import type { Outcome, ValidWrite } from './outcome.js';
import { patch } from './patch.js';
import type { ChangingFormat } from './patchFormat.js';
import { answerWrite } from './proposal.js';
import { remove } from './remove.js';
import { reviewDraft } from './review.js';
import { update } from './update.js';

/**
 * Runs the stages of a write, after `authenticate` and `authorize`, which reads pass as well. The argument of each
 * stage is the result of the one before it, and nothing else makes such a value: code that skips a stage does not
 * compile. Operations differ only in their merge.
 */
export async function write(context: Context, request: AuthorizedRequest): Promise<Proposal> {
  const decoded = decode(context, request);
  const merged = await merge(context, decoded);
  const mutated = await mutate(context, merged);
  const valid = await validate(context, mutated);
  return await propose(context, valid);
}

/**
 * Stage 1: identifies the sender, or the user that it impersonates. Throws 401.
 */
export async function authenticate(context: Context, received: Received): Promise<Authenticated> {
  const { job, route, warnings, annotations } = received;
  const { user, identityFor, objects, use, impersonator, refusal } = await findSender(context, received);
  // Member by member: to spread two objects takes a microsecond.
  return {
    job,
    route,
    warnings,
    annotations,
    user,
    identityFor,
    objects,
    use,
    impersonator,
    refusal,
  } satisfies Received & Sender as Authenticated;
}

/**
 * Stage 2: checks that the sender may make the request, unless the front end has done so. Throws 403, and what refuses
 * the impersonation.
 */
export async function authorize(context: Context, request: Authenticated): Promise<Authorized> {
  const { job, route, warnings, annotations, user, identityFor, objects, use, impersonator, refusal } = request;
  if (refusal !== undefined) throw refusal;
  const { dependsOn, reason }: Permission = job.granted
    ? { dependsOn: 'never' }
    : await checkPermission(context, user, withSelectors(route));
  return {
    job,
    route,
    warnings,
    annotations,
    user,
    identityFor,
    objects,
    use,
    impersonator,
    dependsOn,
    reason,
  } satisfies Received & Sender & Permission as Authorized;
}

/** An authorized request, if it is a write on a resource. Throws 404 where the resource is no longer served. */
export function asWrite({ job, route, warnings, annotations, user }: Authorized): AuthorizedRequest | undefined {
  const { target, resource } = route;
  if (job.body === undefined || target.is === 'path') return undefined;
  if (!resource) throw unknownPath();
  const request: WriteRequest = { job, route, warnings, annotations, user, target, resource, duplicates: [] };
  return request as AuthorizedRequest;
}

/** Stage 3: decodes options and body, as far as possible without the current object. Throws 400, 404, 405, 415, 422. */
export const decode = (context: Context, request: AuthorizedRequest): Decoded =>
  decodeRequest(context, request) as Decoded;

/** Stage 4: merges the current object and what was sent into a draft. Throws what each operation documents. */
export const merge = (context: Context, decoded: Decoded): Awaitable<Merged> =>
  mergeOf(context, decoded) as Awaitable<Merged>;

function mergeOf(context: Context, decoded: DecodedWrite): Awaitable<Merge> {
  const { name } = decoded.request.target;
  if (name !== '') checkNameParameter(name);
  switch (decoded.is) {
    case 'create':
      return create(context, decoded);
    case 'update':
      return update(context, decoded);
    case 'patch':
      return patch(context, decoded);
    case 'apply':
      return apply(context, decoded);
    case 'action':
      return prepareAction(context, decoded);
    case 'review':
      return reviewDraft(context, decoded);
    case 'delete':
      return remove(context, decoded);
  }
}

/** Stage 5: lets mutators change the draft. Throws what they throw. */
export async function mutate(context: Context, merged: Merged): Promise<Mutated> {
  await mutateDraft(context, merged);
  return merged as Mutated;
}

/**
 * Stage 6: sets defaults and what the kind and the server decide, then validates with the rules of the kind and all
 * validators. Throws 422 with all violations, and what validators throw.
 */
export const validate = (context: Context, mutated: Mutated): Promise<Valid> =>
  validateWrite(context, mutated) as Promise<Valid>;

/**
 * Stage 7: makes the transaction that stores the result, and the answer to the client. A dry run has no transaction.
 */
export const propose = (context: Context, valid: Valid): Awaitable<Proposal> =>
  answerWrite(context, valid) as Awaitable<Proposal>;

/** The mark of a stage's result. Its key is known in this file alone: only the functions above make one. */
declare const passed: unique symbol;
type Passed<Stage extends string> = { readonly [passed]: { readonly [S in Stage]: true } };

/** A request as it came from the front end. */
export interface Received {
  readonly job: Job;
  readonly route: Route;
  /** Texts of Warning headers, collected on the way. */
  readonly warnings: string[];
  /** The annotations that admission adds to the audit event. */
  readonly annotations: Map<string, string>;
}

/** The sender of a request; `identityFor` and `objects`: how long the front end may remember that. */
export interface Sender {
  readonly user: User;
  readonly identityFor: Grant['identityFor'];
  readonly objects: Grant['objects'];
  readonly use?: Grant['use'];
  /** The user who acts as `user`. */
  readonly impersonator?: User;
  /** The error with which the request is refused, because its sender may not act as another user. */
  readonly refusal?: unknown;
}

/** A request whose sender is known. */
export type Authenticated = Received & Sender & Passed<'authenticated'>;
/** A request that its sender may make; `dependsOn`: how long the front end may remember that. */
export type Authorized = Authenticated & Permission & Passed<'authorized'>;

/** A write on a resource. */
interface WriteRequest extends Received {
  readonly user: User;
  readonly target: ResourceTarget;
  readonly resource: Resource;
  /** Errors for duplicate members of the body, until the decoder reports them together with its own. */
  readonly duplicates: string[];
  /** Describes what is wrong with a number of the body, if its parsed form does not show it. */
  numberMismatch?: string | undefined;
}

/** A write on a resource that the sender may make. */
export type AuthorizedRequest = WriteRequest & Passed<'authorized'>;

interface WithOptions {
  readonly request: AuthorizedRequest;
  readonly options: WriteOptions;
}

/** The object of the body of a create or update, or the one that an action or review is about. */
export interface DecodedObject extends WithOptions {
  readonly is: 'create' | 'update' | 'action' | 'review';
  readonly object: ApiObject;
}

/** A patch that changes the current object. The merge reads the body: how depends on that object. */
export interface DecodedPatch extends WithOptions {
  readonly is: 'patch';
  readonly format: ChangingFormat;
}

/** An apply. The merge reads the configuration in the body. */
export interface DecodedApply extends WithOptions {
  readonly is: 'apply';
}

/** A delete. */
export interface DecodedDelete {
  readonly is: 'delete';
  readonly request: AuthorizedRequest;
  readonly options: DeleteOptions;
}

/** The body of a write, decoded as far as it can be without the current object. */
export type DecodedWrite = DecodedObject | DecodedPatch | DecodedApply | DecodedDelete;

/** The result of stage 3. */
export type Decoded = DecodedWrite & Passed<'decoded'>;

/** The result of an operation's merge. */
export type Merge = ObjectWrite | Action | Review | Deletion;

/** The result of stage 4. */
export type Merged = Merge & Passed<'merged'>;
/** The result of stage 5. */
export type Mutated = Merged & Passed<'mutated'>;

/** A create, or an update of an object or of one of its subresources. */
export interface ObjectWrite {
  readonly is: 'object';
  readonly request: AuthorizedRequest;
  readonly dryRun: boolean;
  /** The object as it was sent, which mutators change, or what an apply or patch made of it. */
  readonly draft: ApiObject;
  /** The object that it replaces; absent: it is created. */
  readonly old?: ApiObject;
  /** `prepare` has generated the name. If it is taken, the next attempt generates another one. */
  readonly hasGeneratedName?: boolean;
  /** The value of `metadata.managedFields` that the merge has set. */
  readonly managedFields: ManagedFields;
  /** Sets the fields that the kind decides, and restores those that the write may not change. Called after mutation. */
  prepare(object: ApiObject): void;
  /** Validates with the kind's rules. Called when the object is complete; may throw a Refusal. */
  violations(object: ApiObject): readonly Violation[];
}

/**
 * A create on a subresource that changes its object (`binding`), deletes it (`eviction`) or is answered (`token`), or
 * on a virtual kind that acts on another resource.
 */
export interface Action {
  readonly is: 'action';
  /** The request as it was sent: mutators are asked about it. */
  readonly sent: AuthorizedRequest;
  /** The same request on the object that it changes. */
  readonly request: AuthorizedRequest;
  readonly dryRun: boolean;
  /** The object of the body. */
  readonly draft: ApiObject;
  readonly managedFields: ManagedFields;
  /**
   * Carries out the action. Called after mutation. Asks the validators, before it refuses for what the current object
   * is or that there is none. Throws 404 where there is none, and what the kind refuses.
   */
  perform(body: ApiObject, ask: AskValidators): Promise<Performed>;
}

/** Asks the validators of an action on `old` about the body, or about what becomes of `old`. Throws what they throw. */
export type AskValidators = (old: ApiObject | undefined, shown: ApiObject) => Promise<void>;

/** The result of an action. */
export type Performed = Omit<ValidWrite, 'request'>;

/** A create on a kind that is answered and never stored. */
export interface Review {
  readonly is: 'review';
  readonly request: AuthorizedRequest;
  readonly dryRun: boolean;
  /** The object of the body. */
  readonly draft: ApiObject;
  readonly managedFields: ManagedFields;
}

/** A delete of one object. There is no draft for mutators. */
export interface Deletion {
  readonly is: 'deletion';
  readonly request: AuthorizedRequest;
  readonly options: DeleteOptions;
  readonly old: ApiObject;
  /** The object that is left, or that none is. */
  readonly outcome: Outcome;
}

/** The result of stage 6: a write without violations. */
export type Valid = ValidWrite & Passed<'validated'>;

/** The result of stage 7: the answer of a write, with the transaction that it waits for. */
export type Proposal = Answer & Passed<'proposed'>;
