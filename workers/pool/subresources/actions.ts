import type { Strategy, SubresourceAnswer, SubresourceDeletion, SubresourceWrite } from '../../../core/api/strategy.js';
import type { ApiObject, Json } from '../../../core/model/object.js';
import { badRequest, methodNotAllowed } from '../../../core/model/refusal.js';
import { keyOf } from '../../../core/request/keys.js';
import { equalJson, deepCopy } from '../../../core/schema/patch/members.js';
import type { Resource } from '../../../core/schema/resource.js';
import { type Context, strategyContextOf } from '../context.js';
import { notFoundError, UnseenObject } from '../errors.js';
import { managersOfBody, setManagers } from '../stages/managers.js';
import { parseDeleteOptions } from '../body/options.js';
import { checkPreconditions, deletionOutcome } from '../operations/remove.js';
import type { Action, AskValidators, AuthorizedRequest, DecodedObject, Performed } from '../types.js';
import { currentObject } from '../answers/versions.js';

/** The functions of a strategy for creates on subresources, by what they do. */
type Rule =
  | { readonly is: 'store'; readonly run: SubresourceWrite }
  | { readonly is: 'delete'; readonly run: SubresourceDeletion }
  | { readonly is: 'answer'; readonly run: SubresourceAnswer };

/** The action of a create that stores no object of its own, and the resource that it changes. */
interface Target {
  readonly resource: AuthorizedRequest['resource'];
  readonly subresource: string;
  readonly rule: Rule;
}

function ruleOf({ actions, deletions, answers }: Strategy, name: string): Rule | undefined {
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
  return {
    is: 'action',
    sent,
    request,
    dryRun,
    draft: body,
    managedFields,
    perform: async (draft, ask) => {
      if (!indirect && rule.is !== 'answer' && draft.metadata.name !== name)
        throw badRequest(`name in URL does not match name in ${sent.route.subresource!.kind} object`);
      return await perform(context, request, rule, draft, dryRun, ask);
    },
  };
}

/** Carries out a rule on the current object. Throws 404 where there is none, and what the rule and validators throw. */
async function perform(
  context: Context,
  request: AuthorizedRequest,
  rule: Rule,
  draft: ApiObject,
  dryRun: boolean,
  ask: AskValidators,
): Promise<Performed> {
  const old = await currentObject(context, request);
  if (rule.is === 'delete' || (rule.is === 'store' && !old)) await ask(old, draft);
  if (!old) throw notFoundError(request);
  const strategyContext = strategyContextOf(context, request, dryRun);
  switch (rule.is) {
    case 'store': {
      const object = await runAndAsk(() => rule.run(draft, deepCopy(old), strategyContext), old, draft, ask);
      const expect = request.job.current!.revision;
      return { dryRun, outcome: { is: 'store', object, expect, status: 201 }, answer: 'success' };
    }
    case 'answer': {
      const object = await rule.run(draft, deepCopy(old), strategyContext);
      // Validators see what was asked for, not the answer, which may hold secrets.
      await ask(old, draft);
      return { dryRun, outcome: { is: 'answered', object, status: 201 } };
    }
    case 'delete':
      return performDeletion(context, request, rule.run, draft, old, dryRun);
  }
}

/** The changed object, once validators were asked about it; about the body where the kind refuses the change. */
async function runAndAsk(
  run: () => ApiObject,
  old: ApiObject,
  draft: ApiObject,
  ask: AskValidators,
): Promise<ApiObject> {
  let object: ApiObject;
  try {
    object = run();
  } catch (refusal) {
    await ask(old, draft);
    throw refusal;
  }
  await ask(old, object);
  return object;
}

function performDeletion(
  context: Context,
  request: AuthorizedRequest,
  run: SubresourceDeletion,
  draft: ApiObject,
  old: ApiObject,
  asked: boolean,
): Performed {
  const deletion = run(draft, deepCopy(old), strategyContextOf(context, request, asked));
  const options = parseDeleteOptions(request.route.query, deletion.options, context.naming);
  checkPreconditions(request, old, options);
  const outcome = deletionOutcome(context, request, options, old, deletion.object);
  // The object is already being deleted, but the kind has changed it.
  const isChanged =
    outcome.is === 'unchanged' && !equalJson(deletion.object as unknown as Json, old as unknown as Json);
  return {
    dryRun: options.dryRun,
    outcome: isChanged
      ? { is: 'store', object: deletion.object, expect: request.job.current!.revision, status: outcome.status }
      : outcome,
    answer: 'success',
    changes: deletion.changes?.map(({ storageName, object }) => ({
      object,
      resource: storedResource(context, storageName),
    })),
  };
}

/** The resource of a storage name that a strategy reads. */
function storedResource({ registry }: Context, storageName: string): Resource {
  const resource = registry.stored.find(stored => stored.storageName === storageName);
  if (!resource) throw new Error(`${storageName} is not served`);
  return resource;
}
