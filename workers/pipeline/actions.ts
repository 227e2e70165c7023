import type { Strategy } from '../../core/api/strategy.js';
import type { ApiObject, Frozen } from '../../core/model/object.js';
import { decodeStored } from '../../core/plugin/stored.js';
import { badRequest, methodNotAllowed } from '../../core/model/refusal.js';
import { type Answer, jsonHeaders } from './answer.js';
import { decodeBody, decodeSubresource } from './body.js';
import { type Context, type Permitted, rulesOf } from './context.js';
import type { WriteOptions } from './options.js';
import { absent, changeOf, checkNamespace, inRequestVersion, propose, refuseInvalid } from './write.js';

const SUCCESS = Buffer.from('{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","code":201}\n');

/**
 * POST on a subresource that changes its object (`binding`), or on a virtual kind; those that no rules know are refused
 * with a message that says so.
 */
export async function act(context: Context, permitted: Permitted, options: WriteOptions): Promise<Answer> {
  const { resource, route, job } = permitted;
  const { actsOn } = resource.strategy;
  const acted = actsOn && context.registry.find(resource.group, resource.version, actsOn.plural);
  const indirect = actsOn && acted?.strategy.actions?.get(actsOn.action);
  if (acted && indirect) {
    const body = decodeBody(context, permitted, options, job.body!);
    checkNamespace(permitted, body);
    if (!body.metadata.name) throw badRequest('Name parameter required.');
    await context.mutate(changeOf(permitted, 'CREATE', options.dryRun, body.metadata.name ?? ''), body);
    const target = {
      ...permitted.target,
      resource: acted.plural,
      subresource: actsOn.action,
      name: body.metadata.name ?? '',
    };
    return await apply(context, { ...permitted, resource: acted, target }, options, body, indirect);
  }
  const action = route.subresource && resource.strategy.actions?.get(route.subresource.name);
  if (!action) {
    if (resource.stored && !job.current) throw absent(permitted);
    const what = route.subresource ? `${resource.plural}/${route.subresource.name}` : resource.plural;
    throw methodNotAllowed(`create is not supported on ${what} by this server`);
  }
  const body = decodeSubresource(context, permitted, options, job.body!);
  checkNamespace(permitted, body);
  await context.mutate(changeOf(permitted, 'CREATE', options.dryRun, permitted.target.name), body);
  if (body.metadata.name !== permitted.target.name)
    throw badRequest(`name in URL does not match name in ${route.subresource!.kind} object`);
  return await apply(context, permitted, options, body, action);
}

type Action = NonNullable<ReturnType<NonNullable<Strategy['actions']>['get']>>;

/** Stores what the action makes of the current object; the answer is a Status. */
async function apply(
  context: Context,
  permitted: Permitted,
  options: WriteOptions,
  body: ApiObject,
  action: Action,
): Promise<Answer> {
  const { resource, job } = permitted;
  if (!job.current) throw absent(permitted);
  const current = inRequestVersion(resource, decodeStored(job.current.bytes));
  const object = action(body, structuredClone(current), rulesOf(context, permitted, options.dryRun));
  const change = changeOf(permitted, 'CREATE', options.dryRun, permitted.target.name, current);
  refuseInvalid(resource, permitted.target.name, await context.validate(change, object as Frozen<ApiObject>));
  const answer = { status: 201, headers: jsonHeaders(permitted.warnings), body: SUCCESS };
  if (options.dryRun) return answer;
  const proposed = await propose(context, permitted, object, {
    status: 201,
    dryRun: false,
    expect: job.current.revision,
  });
  return { ...answer, operations: proposed.operations };
}
