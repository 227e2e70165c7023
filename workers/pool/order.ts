import type { Awaitable } from '../../core/api/point.js';
import { checkNameParameter } from '../../core/model/nameParameter.js';
import { unknownPath } from '../../core/model/refusal.js';
import { withSelectors } from '../../core/request/selectors.js';
import { unstoredAt } from '../../core/schema/decode/unstored.js';
import { checkPermission, findSender } from './stages/access.js';
import { prepareAction } from './subresources/actions.js';
import { mutateDraft, validateWrite } from './stages/admission.js';
import { apply } from './operations/apply.js';
import type { Context } from './context.js';
import { create } from './operations/create.js';
import { decodeRequest } from './stages/decode.js';
import { patch } from './operations/patch.js';
import { answerWrite } from './stages/proposal.js';
import { remove } from './operations/remove.js';
import { reviewDraft } from './operations/review.js';
import { performWrite } from './stages/perform.js';
import type {
  Action,
  Authenticated,
  Authorized,
  AuthorizedRequest,
  Decoded,
  DecodedWrite,
  Deletion,
  Merge,
  Merged,
  Mutated,
  ObjectWrite,
  Permission,
  Proposal,
  Received,
  Review,
  Sender,
  Valid,
  WriteRequest,
} from './types.js';
import { update } from './operations/update.js';

/**
 * Runs the stages of a write, after `authenticate` and `authorize`, which reads pass as well. The argument of each
 * stage is the result of the previous one, and nothing else makes such a value: code that skips a stage does not
 * compile. Operations differ only in their merge. Actions and reviews, whose bodies are not stored as they were sent,
 * are performed instead of validated.
 */
export async function write(context: Context, request: AuthorizedRequest): Promise<Proposal> {
  const decoded = decode(context, request);
  const merged = await merge(context, decoded);
  const mutated = await mutate(context, merged);
  const valid = await (isStored(mutated) ? validate(context, mutated) : perform(context, mutated));
  return await propose(context, valid);
}

/**
 * Stage 1: identifies the sender, or the user that it impersonates. Throws 401.
 */
export async function authenticate(context: Context, received: Received): Promise<Authenticated> {
  const { job, run, route, warnings, trail } = received;
  const found = await findSender(context, received);
  const { user, identityFor, objects, use, authenticator, impersonator, refusal } = found;
  // Member by member: spreading two objects takes a microsecond.
  return {
    job,
    run,
    route,
    warnings,
    trail,
    user,
    identityFor,
    objects,
    use,
    authenticator,
    impersonator,
    refusal,
  } satisfies Received & Sender as Authenticated;
}

/**
 * Stage 2: checks that the sender may make the request, unless the front end has done so. Throws 403, and the refusal
 * of the impersonation.
 */
export async function authorize(context: Context, request: Authenticated): Promise<Authorized> {
  const { job, run, route, warnings, trail, user, identityFor, objects, use } = request;
  const { authenticator, impersonator, refusal } = request;
  if (refusal !== undefined) throw refusal;
  const { allowedFor, resources, reason, allowedBy }: Permission = job.granted
    ? { allowedFor: 'never', resources: [] }
    : await checkPermission(context, user, withSelectors(route), trail);
  return {
    job,
    run,
    route,
    warnings,
    trail,
    user,
    identityFor,
    objects,
    use,
    authenticator,
    impersonator,
    allowedFor,
    resources,
    reason,
    allowedBy,
  } satisfies Received & Sender & Permission as Authorized;
}

/** An authorized request, if it is a write on a resource. Throws 404 where the resource is no longer served. */
export function asWrite({ job, run, route, warnings, trail, user }: Authorized): AuthorizedRequest | undefined {
  const { target, resource } = route;
  if (job.body === undefined || target.is === 'path') return undefined;
  if (!resource) throw unknownPath();
  const request: WriteRequest = {
    job,
    run,
    route,
    warnings,
    trail,
    user,
    target,
    resource,
    charges: [],
    duplicates: [],
    emptied: new Map(),
    unstored: unstoredAt(''),
  };
  return request as AuthorizedRequest;
}

/** Stage 3: decodes options and body, as far as possible without the current object. Throws 400, 404, 405, 415, 422. */
export function decode(context: Context, request: AuthorizedRequest): Decoded {
  const decoded = decodeRequest(context, request);
  request.trail.isDryRun = decoded.options.dryRun;
  return decoded as Decoded;
}

/**
 * Stage 4: merges the current object and what was sent into a draft. Throws the errors that each operation documents.
 */
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

/** Stage 5: lets mutators change the draft. Throws their errors. */
export async function mutate(context: Context, merged: Merged): Promise<Mutated> {
  await mutateDraft(context, merged);
  return merged as Mutated;
}

const isStored = (mutated: Mutated): mutated is Mutated & (ObjectWrite | Deletion) =>
  mutated.is === 'object' || mutated.is === 'deletion';

/**
 * Stage 6 of creates, updates and deletes: sets defaults and the values that the kind and the server decide, then
 * validates with the rules of the kind and all validators. Throws 422 with all violations, and the errors of
 * validators.
 */
export const validate = (context: Context, mutated: Mutated & (ObjectWrite | Deletion)): Promise<Valid> =>
  validateWrite(context, mutated) as Promise<Valid>;

/**
 * Stage 6 of actions (`pods/binding`, `pods/eviction`, `serviceaccounts/token`) and reviews: carries them out and asks
 * all validators, in the order that each needs. Throws 422 with all violations, 404, and the errors of the kind and the
 * validators.
 */
export const perform = (context: Context, mutated: Mutated & (Action | Review)): Promise<Valid> =>
  performWrite(context, mutated) as Promise<Valid>;

/**
 * Stage 7: makes the transaction that stores the result, and the answer to the client. A dry run has no transaction.
 */
export const propose = (context: Context, valid: Valid): Awaitable<Proposal> =>
  answerWrite(context, valid) as Awaitable<Proposal>;
