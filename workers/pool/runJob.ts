import type { Transaction } from '../../core/api/storage.js';
import { badRequest, Refusal } from '../../core/model/refusal.js';
import type { LoggedRequest } from '../../core/plugin/calls/requestScope.js';
import { stackOf } from '../../core/plugin/calls/stack.js';
import { isConnect, objectName, refuseConnect } from '../../core/request/connect.js';
import { chooseAnswerForm } from '../../core/request/forms.js';
import { timeoutOf } from '../../core/request/query.js';
import { parseRoute } from '../../core/request/route.js';
import { monotonicTime } from '../../core/runtime/clock.js';
import { isConfidential } from '../../core/services/audit/confidential.js';
import type { Target } from '../../core/model/target.js';
import type { Charges, Grant, Job, JobResult } from '../../core/threads/messages/messages.js';
import type { Run } from '../../core/threads/runs.js';
import { validateConnection } from './stages/admission.js';
import { type Answer, statusAnswer } from './answers/answer.js';
import type { Context } from './context.js';
import { notFoundError, UnseenObject } from './errors.js';
import { checkCollection } from './operations/remove.js';
import { formsOf, render } from './answers/render.js';
import { storedObject } from './answers/versions.js';
import { asWrite, authenticate, authorize, write } from './order.js';
import { RequestTrail } from './trail.js';
import type { AuthorizedRequest } from './types.js';

/** A job, and its run in this thread. */
export interface RunningJob {
  readonly job: Job;
  readonly run: Run;
}

/**
 * Runs one request of the front end: a write through all of its stages (`order.ts`), a read up to its authorization,
 * as the front end answers it; or shows objects in another form. `propose` is given the transaction of a write and its
 * charges, and `logged` the user. Never throws: an error becomes a Status.
 */
export async function run(
  context: Context,
  { job, run }: RunningJob,
  logged: LoggedRequest,
  propose: (operations: Transaction, charges: Charges | undefined) => void,
): Promise<JobResult> {
  const { id } = job;
  const warnings: string[] = [...(job.warnings ?? [])];
  const trail = new RequestTrail(context.recording);
  const { annotations } = trail;
  const found = (): JobResult['annotations'] => (annotations.size > 0 ? Object.fromEntries(annotations) : undefined);
  let grant: Grant | undefined;
  let target: Target | undefined;
  try {
    const route = parseRoute(context.registry, job.method, job.path, job.query);
    target = route.target;
    if (route.query.has('timeout')) logged.endsAt = monotonicTime() + timeoutOf(route.query);
    trail.isConfidential = isConfidential(route);
    if (job.render) {
      // For a refusal: an answer with the objects has the warning already.
      if (route.resource?.warning !== undefined) warnings.push(route.resource.warning);
      const shown = await render(context, job, route, job.render);
      return { id, ...shown, auditId: logged.newAuditId };
    }
    const authenticated = await authenticate(context, { job, run, route, warnings, trail });
    const { user, identityFor, objects, use, authenticator, impersonator } = authenticated;
    logged.user = user.name;
    const known = {
      user,
      identityFor,
      objects,
      use,
      authenticator,
      impersonator,
      warnings: job.user || warnings.length === 0 ? undefined : [...warnings],
    };
    if (!job.granted) grant = { ...known, allowedFor: 'never', resources: [], allowed: false };
    const authorized = await authorize(context, authenticated);
    const { allowedFor, resources, reason, allowedBy } = authorized;
    if (!job.granted) grant = { ...known, allowedFor, resources, reason, allowedBy, allowed: true };
    const request = asWrite(authorized);
    if (!request) return { id, is: 'granted', grant };
    const { strategy, warning } = request.resource;
    if (strategy.load) await strategy.load();
    if (warning !== undefined) warnings.push(warning);
    if (request.target.verb === 'deletecollection') {
      checkCollection(context, request);
      return { id, is: 'granted', warnings, grant, trail: trail.result(logged.id) };
    }
    await checkAnswerable(context, request);
    const answer = await write(context, request);
    if (answer.operations) propose(answer.operations, answer.charges);
    // A review changes nothing, and its answer says everything.
    const explained = strategy.review ? undefined : trail.result(logged.id);
    const auditId = explained?.auditId ?? logged.newAuditId;
    return resultOf(answer, { id, grant, annotations: found(), trail: explained, auditId });
  } catch (thrown) {
    if (thrown instanceof UnseenObject) return { id, is: 'unseen', key: thrown.key, grant };
    const { answer, refusal } = refusalAnswer(context, job, logged, thrown, warnings);
    const explained = trail.result(logged.id, refusal, target);
    return { id, ...answer, grant, annotations: found(), trail: explained, auditId: explained.auditId };
  }
}

/**
 * The result of a write that was not refused. It is made member by member: V8 takes about a microsecond for each member
 * that follows those of another object.
 */
function resultOf(
  { status, headers, body, gaps, more, operations, key }: Answer,
  { id, grant, annotations, trail, auditId }: Pick<JobResult, 'id' | 'grant' | 'annotations' | 'trail' | 'auditId'>,
): JobResult {
  if (!operations) return { id, grant, annotations, trail, auditId, is: 'respond', status, headers, body: body!, key };
  const written = operations[0]!.key;
  return { id, grant, annotations, trail, auditId, is: 'proposed', status, headers, body, gaps, more, key: written };
}

/**
 * Throws 406, before anything is done, if the answer could not be sent. After validators were asked about them, refuses
 * requests that would have to connect to a process or port.
 */
async function checkAnswerable(context: Context, request: AuthorizedRequest): Promise<void> {
  const { resource, route, target, job } = request;
  // The answer to a deletecollection is a list: it has been checked before its first delete. That of a connection has
  // the form that its other end chooses.
  if (!job.collection && !route.subresource?.connect)
    chooseAnswerForm(resource, job.accept, context, false, formsOf(route));
  if (!isConnect(route.subresource)) return;
  if (route.subresource.connect) {
    if (route.query.has('dryRun')) throw badRequest('dryRun is not supported');
    await validateConnection(context, request);
  }
  if (!job.current) {
    const name = objectName(resource, route.subresource, target.name);
    throw notFoundError({ ...request, target: { ...target, name } });
  }
  refuseConnect(resource, route.subresource, target.verb, storedObject(request), route.query);
}

/** A refusal, and the answer that says so. */
interface Refused {
  readonly refusal: Refusal;
  readonly answer: { is: 'respond' } & ReturnType<typeof statusAnswer>;
}

/**
 * The Status of a Refusal. Anything else is a bug: it is logged with its stack and answered with 500. Never throws,
 * because the other requests of the batch would fail as well.
 */
function refusalAnswer(
  context: Context,
  job: Job,
  logged: LoggedRequest,
  thrown: unknown,
  warnings: readonly string[],
): Refused {
  let cause = thrown;
  if (thrown instanceof Refusal)
    try {
      return { refusal: thrown, answer: { is: 'respond', ...statusAnswer(thrown, job, context, warnings) } };
    } catch (unsendable) {
      cause = unsendable;
    }
  context.log.error({ ...logged.fields, stack: stackOf(cause) }, 'a request failed unexpectedly');
  const refusal = new Refusal(
    'InternalError',
    'Internal error occurred: the request could not be completed; see the log of the server',
  );
  return { refusal, answer: { is: 'respond', ...statusAnswer(refusal, job, context) } };
}
