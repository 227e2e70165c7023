import type { Change, Mutation } from '../../../core/api/admission.js';
import type { ApiObject, Frozen, Json } from '../../../core/model/object.js';
import { replaceMembers } from '../../../core/model/record.js';
import type { Violation } from '../../../core/model/refusal.js';
import { typeViolations } from '../../../core/schema/custom/validate.js';
import { decodeAsKind } from '../../../core/schema/decode/decode.js';
import type { Resource } from '../../../core/schema/resource.js';
import { changeOf, reviewChange } from './admissionChange.js';
import type { Context } from '../context.js';
import { throwIfInvalid } from '../errors.js';
import { managerNameViolations, restoreManagedFields } from './managers.js';
import { contentChanged, dropRepeatedOwners, keepSystemMetadata, metadataViolations } from './metadata.js';
import { outcomeOf } from './outcome.js';
import { ensureNamespace } from './preconditions.js';
import type { AuthorizedRequest, Deletion, Merge, ObjectWrite, ValidWrite } from '../types.js';

/** The name of the object; that of a new one is known once mutators have run. */
const nameOf = ({ request, draft, old }: ObjectWrite): string =>
  (old ? request.target.name : draft.metadata.name) ?? '';

function objectChange(context: Context, write: ObjectWrite, mutates?: boolean): Change {
  const { request, dryRun, old } = write;
  return changeOf({
    context,
    request,
    operation: old ? 'UPDATE' : 'CREATE',
    name: nameOf(write),
    dryRun,
    old,
    mutates,
  });
}

/** The paths in a draft of a custom kind with values of another type than its schema says. */
const wrongTypes = ({ custom }: Resource, draft: ApiObject): Violation[] =>
  custom ? typeViolations(draft as unknown as Json, custom.schema) : [];

/**
 * Decodes a draft after a plugin has changed it, in the same way as the body of a request: the rules of kinds rely on
 * the guarantees of decoding. Throws TypeError for a draft that is no longer an object of the kind. Parts of a custom
 * kind that the client has sent in a wrong type are left to the validation.
 */
const completing =
  (resource: Resource): NonNullable<Parameters<Mutation>[2]> =>
  before => {
    const sent = new Set(wrongTypes(resource, before).map(({ field }) => field));
    return draft => {
      try {
        const whole = decodeAsKind(resource, draft as unknown as Json, { strictErrors: [], keepsNulls: true });
        // Decoding writes null as the time of an object that is not created yet. Drafts do not have the member.
        if (whole.metadata.creationTimestamp === null) delete whole.metadata.creationTimestamp;
        replaceMembers(draft, whole);
      } catch (error) {
        throw new TypeError(`the draft is no ${resource.kind} any more: ${(error as Error).message}`);
      }
      const wrong = wrongTypes(resource, draft).find(({ field }) => !sent.has(field));
      if (wrong) throw new TypeError(`the draft is no ${resource.kind} any more: ${wrong.field}: ${wrong.message}`);
    };
  };

/**
 * Lets mutators change the draft of a write. A deletion has no draft. For a request with two writes, plugins are asked
 * about the first only.
 */
export async function mutateDraft(context: Context, write: Merge): Promise<void> {
  switch (write.is) {
    case 'object': {
      const { draft, managedFields, request } = write;
      await context.mutate(objectChange(context, write, true), draft, completing(request.resource), request.trail);
      dropRepeatedOwners(draft, request.warnings, true);
      restoreManagedFields(draft, managedFields, request.warnings);
      return;
    }
    case 'action': {
      const { draft, managedFields, sent, dryRun } = write;
      if (sent.job.begun) return;
      const name = sent.target.name || (draft.metadata.name ?? '');
      const change = changeOf({ context, request: sent, operation: 'CREATE', name, dryRun, body: draft });
      const type = sent.route.subresource?.type;
      const complete = type && completing({ ...sent.resource, type, kind: draft.kind, apiVersion: draft.apiVersion });
      await context.mutate(change, draft, complete, sent.trail);
      restoreManagedFields(draft, managedFields, sent.warnings);
      return;
    }
    case 'review': {
      const { draft, managedFields, request } = write;
      await context.mutate(reviewChange(context, write), draft, completing(request.resource), request.trail);
      restoreManagedFields(draft, managedFields, request.warnings);
      return;
    }
    case 'deletion':
  }
}

/**
 * Validates a write with the rules of its kind and all validators. Returns its outcome. Throws 422 with all violations.
 */
export const validateWrite = (context: Context, write: ObjectWrite | Deletion): Promise<ValidWrite> =>
  write.is === 'object' ? validateObject(context, write) : validateDeletion(context, write);

async function validateObject(context: Context, write: ObjectWrite): Promise<ValidWrite> {
  const { request, draft: object, old, dryRun } = write;
  const { resource } = request;
  // Mutators may have replaced the metadata as a whole.
  ensureNamespace(request, object);
  if (old) keepSystemMetadata(object, old);
  // After mutators, which may have changed anything: first the values that the server sets, then the defaults of
  // members that mutators have added.
  write.prepare(object);
  resource.strategy.applyDefaults(object);
  setVersions(write);
  const violations = runValidation(request, () => {
    const ofMetadata = [...metadataViolations(resource, object, old), ...managerNameViolations(object)];
    const ofKind = write.violations(object);
    if (!old && resource.strategy.validatesMetadataLast) return ofKind.length > 0 ? ofKind : ofMetadata;
    return [...ofMetadata, ...ofKind];
  });
  throwIfInvalid(resource, nameOf(write), violations);
  await askValidators(context, request, objectChange(context, write), object);
  return { request, dryRun, outcome: outcomeOf(context, write) };
}

async function validateDeletion(context: Context, { request, options, old, outcome }: Deletion): Promise<ValidWrite> {
  const { dryRun } = options;
  const { name } = request.target;
  if (outcome.is === 'remove' && outcome.isUnreadable) return { request, dryRun, outcome };
  const change = changeOf({ context, request, operation: 'DELETE', name, dryRun, old, options });
  await askValidators(context, request, change, undefined);
  return { request, dryRun, outcome };
}

/** Asks all validators about a connection to a process or port. Throws their errors. */
export function validateConnection(context: Context, request: AuthorizedRequest): Promise<void> {
  const { name } = request.target;
  const change = changeOf({ context, request, operation: 'CONNECT', name, dryRun: false });
  return askValidators(context, request, change, undefined);
}

/** Sets generation and resourceVersion, which neither clients nor mutators decide. */
function setVersions({ request, draft, old }: ObjectWrite): void {
  const { metadata } = draft;
  if (request.resource.strategy.hasGeneration) metadata.generation = generationOf(request, draft, old);
  if (old) metadata.resourceVersion = old.metadata.resourceVersion;
}

/** The generation of the object after a write: a change of anything but metadata and status adds 1. */
function generationOf(
  { resource, route, emptied }: AuthorizedRequest,
  object: ApiObject,
  old: ApiObject | undefined,
): number | undefined {
  if (!old) return 1;
  const { changesGeneration = contentChanged } = resource.strategy;
  const { generation } = old.metadata;
  return route.subresource?.name !== 'status' && changesGeneration(object, old, emptied)
    ? Number(generation ?? 0) + 1
    : generation;
}

/** The violations of a kind's rules. Warnings of the rules are reported for valid objects only. */
export function runValidation(
  { warnings }: AuthorizedRequest,
  validate: () => readonly Violation[],
): readonly Violation[] {
  const before = warnings.length;
  const violations = validate();
  if (violations.length > 0) warnings.splice(before);
  return violations;
}

/** Asks all validators, once for a request. Throws 422 with the violations that they return. */
export async function askValidators(
  context: Context,
  { resource, job, trail }: AuthorizedRequest,
  change: Change,
  after: ApiObject | undefined,
): Promise<void> {
  // Validators were asked before the first of the two writes.
  if (job.begun) return;
  const violations = await context.validate(change, after as Frozen<ApiObject> | undefined, trail);
  throwIfInvalid(resource, change.target.name, violations);
}
