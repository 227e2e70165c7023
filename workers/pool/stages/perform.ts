import type { SubresourceDeletion } from '../../../core/api/strategy.js';
import type { ApiObject, Json } from '../../../core/model/object.js';
import { badRequest } from '../../../core/model/refusal.js';
import { deepCopy, equalJson } from '../../../core/schema/patch/members.js';
import type { Resource } from '../../../core/schema/resource.js';
import { currentObject } from '../answers/versions.js';
import { parseDeleteOptions } from '../body/options.js';
import { type Context, strategyContextOf } from '../context.js';
import { notFoundError, throwIfInvalid } from '../errors.js';
import { checkPreconditions, deletionOutcome } from '../operations/remove.js';
import { reviewContext } from '../operations/review.js';
import type { Action, Review, ValidWrite } from '../types.js';
import { askValidators, runValidation } from './admission.js';
import { changeOf, reviewChange } from './admissionChange.js';

/**
 * Carries out an action or a review once mutators have run, and asks the validators: about the resulting object where
 * the kind can make it before it is stored, else about the body. Throws the refusals of the kind and the validators.
 */
export const performWrite = (context: Context, write: Action | Review): Promise<ValidWrite> =>
  write.is === 'action' ? performAction(context, write) : performReview(context, write);

/** Throws 400 for a body with another name than the path, and 404 where there is no object to act on. */
async function performAction(context: Context, action: Action): Promise<ValidWrite> {
  const { sent, request, draft, dryRun, rule } = action;
  const { name } = request.target;
  if (sent === request && rule.is !== 'answer' && draft.metadata.name !== name)
    throw badRequest(`name in URL does not match name in ${sent.route.subresource!.kind} object`);
  const old = await currentObject(context, request);
  const ask = (shown: ApiObject): Promise<void> => {
    const change = changeOf({ context, request, sent, operation: 'CREATE', name, dryRun, old, body: draft });
    return askValidators(context, request, change, shown);
  };
  if (rule.is === 'delete' || (rule.is === 'store' && !old)) await ask(draft);
  if (!old) throw notFoundError(request);
  const strategyContext = strategyContextOf(context, request, dryRun);
  switch (rule.is) {
    case 'store': {
      const object = await runAndAsk(() => rule.run(draft, deepCopy(old), strategyContext), draft, ask);
      const expect = request.job.current!.revision;
      return { request, dryRun, outcome: { is: 'store', object, expect, status: 201 }, answer: 'success' };
    }
    case 'answer': {
      const object = await rule.run(draft, deepCopy(old), strategyContext);
      // Validators see the request, not the answer, which may hold secrets.
      await ask(draft);
      return { request, dryRun, outcome: { is: 'answered', object, status: 201 } };
    }
    case 'delete':
      return performDeletion(context, action, rule.run, old);
  }
}

/**
 * Returns the changed object, once validators were asked about it. If the kind refuses the change, they are asked about
 * the body.
 */
async function runAndAsk(
  run: () => ApiObject,
  draft: ApiObject,
  ask: (shown: ApiObject) => Promise<void>,
): Promise<ApiObject> {
  let object: ApiObject;
  try {
    object = run();
  } catch (refusal) {
    await ask(draft);
    throw refusal;
  }
  await ask(object);
  return object;
}

/** Deletes the object of an action as the kind says, under the options of its body. */
function performDeletion(
  context: Context,
  { request, draft, dryRun }: Action,
  run: SubresourceDeletion,
  old: ApiObject,
): ValidWrite {
  const deletion = run(draft, deepCopy(old), strategyContextOf(context, request, dryRun));
  const options = parseDeleteOptions(request.route.query, deletion.options, {
    naming: context.naming,
    unsafeDeletion: false,
  });
  checkPreconditions(request, old, options);
  const outcome = deletionOutcome(context, request, options, old, deletion.object);
  // The object is already being deleted, but the kind has changed it.
  const isChanged =
    outcome.is === 'unchanged' && !equalJson(deletion.object as unknown as Json, old as unknown as Json);
  return {
    request,
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

/** The resource of a storage name that a strategy names. */
export function storedResource({ registry }: Context, storageName: string): Resource {
  const resource = registry.stored.find(stored => stored.storageName === storageName);
  if (!resource) throw new Error(`${storageName} is not served`);
  return resource;
}

/** Answers a review that its kind finds valid. Its metadata is not validated, because no object gets it. */
async function performReview(context: Context, write: Review): Promise<ValidWrite> {
  const { request, draft, dryRun } = write;
  const { strategy } = request.resource;
  const review = reviewContext(context, request, dryRun);
  const violations = runValidation(request, () => strategy.validateCreate(draft, review));
  throwIfInvalid(request.resource, draft.metadata.name ?? '', violations);
  await askValidators(context, request, reviewChange(context, write), draft);
  const object = await strategy.review!(draft, review);
  return { request, dryRun, outcome: { is: 'answered', object, status: 201 } };
}
