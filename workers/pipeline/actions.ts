import { badRequest, methodNotAllowed } from '../../core/model/refusal.js';
import type { Strategy } from '../../core/api/strategy.js';
import { keyOf } from '../../core/request/keys.js';
import { deepCopy } from '../../core/schema/patch/members.js';
import { type Context, strategyContextOf } from './context.js';
import { notFoundError, UnseenObject } from './errors.js';
import type { Action, AuthorizedRequest, DecodedObject } from './stages.js';
import { currentObject } from './versions.js';

type Perform = NonNullable<ReturnType<NonNullable<Strategy['actions']>['get']>>;
type Reply = NonNullable<ReturnType<NonNullable<Strategy['answers']>['get']>>;

/** The action of a create that stores no object of its own, and the resource that it changes. */
interface Target {
  readonly resource: AuthorizedRequest['resource'];
  readonly subresource: string;
  /** Returns the object to store; or, as `reply`, an answer. */
  readonly perform: Perform | Reply;
  readonly reply: boolean;
}

/** The action of a virtual kind on another resource (`bindings` acts on `pods/binding`). */
function indirectTarget({ registry }: Context, { resource }: AuthorizedRequest): Target | undefined {
  const { actsOn } = resource.strategy;
  if (!actsOn) return undefined;
  const acted = registry.find(resource.group, resource.version, actsOn.plural);
  const perform = acted?.strategy.actions?.get(actsOn.action);
  return perform && { resource: acted!, subresource: actsOn.action, perform, reply: false };
}

function directTarget({ resource, route }: AuthorizedRequest): Target | undefined {
  const { name = '' } = route.subresource ?? {};
  const { actions, answers } = resource.strategy;
  const perform = actions?.get(name) ?? answers?.get(name);
  return perform && { resource, subresource: name, perform, reply: answers?.has(name) ?? false };
}

/**
 * Throws for a create on a subresource or virtual kind that no rules know: 404 where its object does not exist, else
 * 405.
 */
export function checkAction(context: Context, request: AuthorizedRequest): void {
  if (indirectTarget(context, request) ?? directTarget(request)) return;
  const { resource, route, job } = request;
  if (resource.stored && !job.current) throw notFoundError(request);
  const what = route.subresource ? `${resource.plural}/${route.subresource.name}` : resource.plural;
  throw methodNotAllowed(`create is not supported on ${what} by this server`);
}

/**
 * POST on a subresource that changes its object (`binding`) or is answered (`token`), or on a virtual kind that stands
 * for one. Throws 400 for a body without a name on a virtual kind, and UnseenObject until the job has the object
 * that it names.
 */
export function prepareAction(context: Context, { request: sent, options, object: body }: DecodedObject): Action {
  const indirect = indirectTarget(context, sent);
  const { resource, subresource, perform, reply } = indirect ?? directTarget(sent)!;
  if (indirect && !body.metadata.name) throw badRequest('Name parameter required.');
  const name = indirect ? body.metadata.name! : sent.target.name;
  const request: AuthorizedRequest = indirect
    ? { ...sent, resource, target: { ...sent.target, resource: resource.plural, subresource, name } }
    : sent;
  const key = keyOf(resource, sent.target.namespace, name);
  if (indirect && sent.job.currentKey !== key) throw new UnseenObject(key);
  return {
    is: 'action',
    sent,
    request,
    dryRun: options.dryRun,
    draft: body,
    reply,
    async perform(draft) {
      if (!indirect && !reply && draft.metadata.name !== name)
        throw badRequest(`name in URL does not match name in ${sent.route.subresource!.kind} object`);
      const old = currentObject(request);
      if (!old) throw notFoundError(request);
      return { object: await perform(draft, deepCopy(old), strategyContextOf(context, request, options.dryRun)), old };
    },
  };
}
