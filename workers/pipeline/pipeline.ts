import type { Transaction } from '../../core/api/storage.js';
import { methodNotAllowed, Refusal, unknownPath } from '../../core/model/refusal.js';
import { leadsAway, unconnected } from '../../core/request/connect.js';
import { chooseForm } from '../../core/request/forms.js';
import { routeOf } from '../../core/request/route.js';
import { withSelectors } from '../../core/request/selectors.js';
import { decodeStored } from '../../core/plugin/stored.js';
import type { Grant, Job, JobResult } from '../../core/threads/messages.js';
import { authenticate, authorize } from './access.js';
import type { Context, Permitted } from './context.js';
import { create } from './create.js';
import { checkCollection, remove } from './remove.js';
import { render } from './render.js';
import { type Answer, statusAnswer } from './answer.js';
import { patch, update } from './update.js';
import { absent } from './write.js';

/**
 * One request through the stages, in this order and no other: authenticate, authorize, then per verb: decode, fetch
 * (the front end sends the current object along), merge, mutate, validate, propose. Reads end after authorization: the
 * front end answers them. Never throws: what is thrown becomes a Status.
 */
export async function run(
  context: Context,
  job: Job,
  propose: (id: number, operations: Transaction) => void,
): Promise<JobResult> {
  let grant: Grant | undefined;
  const warnings: string[] = [];
  try {
    const route = routeOf(context.registry, job.method, job.path, job.query);
    if (job.render) return { id: job.id, ...(await render(context, job, route, job.render)) };
    const { user, identityFor } = await authenticate(context, job, route, warnings);
    if (!job.granted) {
      grant = { user, identityFor, dependsOn: 'never', allowed: false };
      const dependsOn = await authorize(context, user, withSelectors(route));
      grant = { user, identityFor, dependsOn, allowed: true };
    }
    const { target, resource } = route;
    // The kind went while the request was on its way here.
    if (job.body !== undefined && target.is === 'resource' && !resource) throw unknownPath();
    if (job.body === undefined || target.is === 'path' || !resource) return { id: job.id, is: 'granted', grant };
    if (resource.strategy.load) await resource.strategy.load();
    if (resource.warning !== undefined) warnings.push(resource.warning);
    const permitted: Permitted = { job, route, target, resource, user, warnings, duplicates: [] };
    if (target.verb === 'deletecollection') {
      checkCollection(context, permitted);
      return { id: job.id, is: 'granted', grant };
    }
    const answer = await write(context, permitted);
    if (!answer.operations)
      return {
        id: job.id,
        is: 'respond',
        status: answer.status,
        headers: answer.headers,
        body: answer.body!,
        key: answer.key,
        grant,
      };
    propose(job.id, answer.operations);
    return {
      id: job.id,
      is: 'proposed',
      status: answer.status,
      headers: answer.headers,
      body: answer.body,
      gaps: answer.gaps,
      more: answer.more,
      key: answer.operations[0]!.key,
      grant,
    };
  } catch (thrown) {
    return { id: job.id, ...refused(context, job, thrown, warnings), grant };
  }
}

function write(context: Context, permitted: Permitted): Promise<Answer> {
  // Nothing is done for a client that could not be told.
  chooseForm(permitted.resource, permitted.job.accept, context.naming);
  const { resource, route, target } = permitted;
  if (leadsAway(route.subresource)) {
    if (!permitted.job.current) throw absent(permitted);
    unconnected(resource, route.subresource, target.verb, decodeStored(permitted.job.current.bytes), route.query);
  }
  switch (permitted.target.verb) {
    case 'create':
      return create(context, permitted);
    case 'update':
      return update(context, permitted);
    case 'patch':
      return patch(context, permitted);
    case 'delete':
      return remove(context, permitted);
    default:
      throw methodNotAllowed();
  }
}

type Refused = { is: 'respond' } & ReturnType<typeof statusAnswer>;

/**
 * A Refusal goes out as its Status; anything else is a bug: logged with its stack, answered with 500. Never throws, as
 * other requests share the batch.
 */
function refused(context: Context, job: Job, thrown: unknown, warnings: readonly string[]): Refused {
  let cause = thrown;
  if (thrown instanceof Refusal)
    try {
      return { is: 'respond', ...statusAnswer(thrown, job, context.naming, warnings) };
    } catch (unsendable) {
      cause = unsendable;
    }
  context.log.error(
    { stack: (cause as Error)?.stack ?? String(cause), method: job.method, path: job.path },
    'a request failed unexpectedly',
  );
  return {
    is: 'respond',
    ...statusAnswer(
      new Refusal(
        'InternalError',
        'Internal error occurred: the request could not be completed; see the log of the server',
      ),
      job,
      context.naming,
    ),
  };
}
