import type { Strategy } from '../../../core/api/strategy.js';
import { badRequest, methodNotAllowed } from '../../../core/model/refusal.js';
import { keyOf } from '../../../core/request/keys.js';
import type { Context } from '../context.js';
import { notFoundError, UnseenObject } from '../errors.js';
import { managersOfBody, setManagers } from '../stages/managers.js';
import type { Action, ActionRule, AuthorizedRequest, DecodedObject } from '../types.js';

/** The action of a create that stores no object of its own, and the resource that it changes. */
interface Target {
  readonly resource: AuthorizedRequest['resource'];
  readonly subresource: string;
  readonly rule: ActionRule;
}

function ruleOf({ actions, deletions, answers }: Strategy, name: string): ActionRule | undefined {
  const [write, remove, answer] = [actions?.get(name), deletions?.get(name), answers?.get(name)];
  if (write) return { is: 'store', run: write };
  if (remove) return { is: 'delete', run: remove };
  return answer && { is: 'answer', run: answer };
}

/** The action of a virtual kind on another resource (`bindings` acts on `pods/binding`). */
function indirectTarget({ registry }: Context, { resource }: AuthorizedRequest): Target | undefined {
  const { actsOn } = resource.strategy;
  if (!actsOn) return undefined;
  const acted = registry.find(resource.group, resource.version, actsOn.plural);
  const rule = acted && ruleOf(acted.strategy, actsOn.action);
  return rule && { resource: acted, subresource: actsOn.action, rule };
}

function directTarget({ resource, route }: AuthorizedRequest): Target | undefined {
  const { name = '' } = route.subresource ?? {};
  const rule = ruleOf(resource.strategy, name);
  return rule && { resource, subresource: name, rule };
}

/**
 * Throws for a create on a subresource or virtual kind that no kind has rules for: 404 where its object does not exist,
 * else 405.
 */
export function checkAction(context: Context, request: AuthorizedRequest): void {
  if (indirectTarget(context, request) ?? directTarget(request)) return;
  const { resource, route, job } = request;
  if (resource.stored && !job.current) throw notFoundError(request);
  const what = route.subresource ? `${resource.plural}/${route.subresource.name}` : resource.plural;
  throw methodNotAllowed(`create is not supported on ${what} by this server`);
}

/**
 * POST on a subresource that changes its object (`binding`), deletes it (`eviction`) or is answered (`token`), or on a
 * virtual kind that stands for one. Throws 400 for a body without a name on a virtual kind, and UnseenObject until the
 * job has the object that it names.
 */
export function prepareAction(context: Context, { request: sent, options, object: body }: DecodedObject): Action {
  const indirect = indirectTarget(context, sent);
  const { resource, subresource, rule } = indirect ?? directTarget(sent)!;
  if (indirect && !body.metadata.name) throw badRequest('Name parameter required.');
  const name = indirect ? body.metadata.name! : sent.target.name;
  const request: AuthorizedRequest = indirect
    ? { ...sent, resource, target: { ...sent.target, resource: resource.plural, subresource, name } }
    : sent;
  const key = keyOf(resource, sent.target.namespace, name);
  if (indirect && sent.job.currentKey !== key) throw new UnseenObject(key);
  const { dryRun } = options;
  const managedFields = setManagers(body, managersOfBody(context, sent, body));
  return { is: 'action', sent, request, dryRun, draft: body, managedFields, rule };
}
