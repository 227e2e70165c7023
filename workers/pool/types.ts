/** Arguments and results of the stages of a write. See `order.ts`. */
import type { SubresourceAnswer, SubresourceDeletion, SubresourceWrite } from '../../core/api/strategy.js';
import type { ApiObject } from '../../core/model/object.js';
import type { Refusal, Violation } from '../../core/model/refusal.js';
import type { ResourceTarget } from '../../core/model/target.js';
import type { User } from '../../core/model/user.js';
import type { Route } from '../../core/request/route.js';
import type { Unstored } from '../../core/schema/decode/unstored.js';
import type { Resource } from '../../core/schema/resource.js';
import type { Grant, Job, ProposedCharge } from '../../core/threads/messages/messages.js';
import type { Run } from '../../core/threads/runs.js';
import type { Answer } from './answers/answer.js';
import type { DeleteOptions, WriteOptions } from './body/options.js';
import type { OtherChange, Outcome } from './stages/outcomes.js';
import type { ChangingFormat } from './body/patchFormats.js';
import type { RequestTrail } from './trail.js';

/** The entries of `metadata.managedFields`. */
export type ManagedFields = ApiObject['metadata']['managedFields'];

/** A permission: how long it may be remembered (see `Grant`), and why the request is allowed. */
export interface Permission {
  readonly allowedFor: Grant['allowedFor'];
  readonly resources: Grant['resources'];
  readonly reason?: string | undefined;
  /** The plugin that allows it. */
  readonly allowedBy?: string | undefined;
}

/** A write without violations, and its outcome. */
export interface ValidWrite {
  readonly request: AuthorizedRequest;
  readonly dryRun: boolean;
  readonly outcome: Outcome;
  /** `success`: the answer is a Status and not the object. */
  readonly answer?: 'success';
  /** Other objects that change in the same transaction, each at the revision in its metadata. */
  readonly changes?: readonly OtherChange[];
}

/** The mark of a stage's result. Its key is known in this file alone: only `order.ts` makes one. */
declare const passed: unique symbol;

type Passed<Stage extends string> = { readonly [passed]: { readonly [S in Stage]: true } };

/** A request as it came from the front end. */
export interface Received {
  readonly job: Job;
  readonly run: Pick<Run, 'makeFinal'>;
  readonly route: Route;
  /** Texts of Warning headers, collected on the way. */
  readonly warnings: string[];
  /** Facts that the stages note about the request besides its result. */
  readonly trail: RequestTrail;
}

/** The sender of a request; `identityFor` and `objects`: how long the front end may remember that. */
export interface Sender {
  readonly user: User;
  readonly identityFor: Grant['identityFor'];
  readonly objects: Grant['objects'];
  readonly use?: Grant['use'];
  /** The plugin that has authenticated the sender. */
  readonly authenticator?: string | undefined;
  /** The user who acts as `user`. */
  readonly impersonator?: User;
  /** The error that refuses the request, because its sender may not act as another user. */
  readonly refusal?: unknown;
}

/** A request whose sender is known. */
export type Authenticated = Received & Sender & Passed<'authenticated'>;

/** A request that its sender may make; `allowedFor` and `resources`: how long the front end may remember that. */
export type Authorized = Authenticated & Permission & Passed<'authorized'>;

/** A write on a resource. */
export interface WriteRequest extends Received {
  readonly user: User;
  readonly target: ResourceTarget;
  readonly resource: Resource;
  /** The charges of the change to other objects. */
  readonly charges: ProposedCharge[];
  /** Errors for duplicate members of the body, until the decoder reports them together with its own. */
  readonly duplicates: string[];
  /** Where decoding has left out empty lists and maps of the object (`DecodeSink.emptied`). */
  readonly emptied: Map<string, Set<string>>;
  /** The members of the object that decoding has not kept as they were sent. */
  readonly unstored: Unstored;
  /** The error in a number of the body, if its parsed form does not show it. */
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

/** A patch that changes the current object. The merge reads the body: how it is read depends on that object. */
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

/** The request's content, as far as it can be read without the current object. */
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
  /** The object as it was sent, which mutators change, or the result of an apply or patch. */
  readonly draft: ApiObject;
  /** The object that it replaces; absent: it is created. */
  readonly old?: ApiObject;
  /** `prepare` has generated the name. If it is taken, the next attempt generates another one. */
  readonly hasGeneratedName?: boolean;
  /** Why a new object is refused once it has passed all validators: the store would not take it. */
  readonly refusal?: Refusal | undefined;
  /** The value that the merge has set as `metadata.managedFields`. */
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
  /** The rule of the kind for the body. */
  readonly rule: ActionRule;
}

/** The functions of a strategy for creates on subresources, by what they do. */
export type ActionRule =
  | { readonly is: 'store'; readonly run: SubresourceWrite }
  | { readonly is: 'delete'; readonly run: SubresourceDeletion }
  | { readonly is: 'answer'; readonly run: SubresourceAnswer };

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
  /** The object that is left, or that it is removed. */
  readonly outcome: Outcome;
}

/** The result of stage 6, of either kind: a write without violations. */
export type Valid = ValidWrite & Passed<'validated'>;

/** The result of stage 7: the answer of a write, with the transaction that it waits for. */
export type Proposal = Answer & Passed<'proposed'>;
