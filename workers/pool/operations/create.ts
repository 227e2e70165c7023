import { randomName } from '../../../core/model/names.js';
import type { ApiObject } from '../../../core/model/object.js';
import { badRequest } from '../../../core/model/refusal.js';
import { randomUUID } from '../../../core/runtime/random.js';
import type { FieldManagers } from '../../../core/schema/apply/fieldManagers.js';
import { type Context, strategyContextOf } from '../context.js';
import { nameTakenError } from '../errors.js';
import { managersOfNew, setManagers } from '../stages/managers.js';
import { clearSystemMetadata, dropRepeatedOwners, setSystemMetadata } from '../stages/metadata.js';
import type { AuthorizedRequest, DecodedObject, ObjectWrite } from '../types.js';

/**
 * POST on a collection. Throws 409 for an object that exists; one with a resourceVersion is refused once it is valid.
 * The front end sends the object that has the name from the second attempt on: it learns the name from the first, which
 * has passed all mutators and validators, so that they are not asked again.
 */
export function create(context: Context, { request, options, object }: DecodedObject): ObjectWrite {
  const { metadata } = object;
  if (request.job.current && metadata.name) throw nameTakenError(request, metadata.generateName);
  // Upstream's store refuses a version, but not a value that is not a number. A dry run does not reach the store.
  if (options.dryRun) return createObject(context, request, true, object);
  const isRefused = /^0*[1-9]\d*$/.test(metadata.resourceVersion ?? '');
  delete metadata.resourceVersion;
  const write = createObject(context, request, false, object);
  if (!isRefused) return write;
  return Object.assign(write, { refusal: badRequest('resourceVersion should not be set on objects to be created') });
}

/** The write that creates an object. `managers`: the owners of its fields, if an apply has computed them. */
export function createObject(
  context: Context,
  request: AuthorizedRequest,
  dryRun: boolean,
  object: ApiObject,
  managers?: FieldManagers,
): ObjectWrite {
  const { strategy } = request.resource;
  const strategyContext = strategyContextOf(context, request, dryRun);
  if (request.target.verb !== 'patch') dropRepeatedOwners(object, request.warnings, false);
  const uid = randomUUID();
  const keepsDeletion = request.target.verb !== 'create';
  // Upstream shows mutators a new object without uid and time.
  clearSystemMetadata(object, keepsDeletion);
  const managedFields = setManagers(object, managers ?? managersOfNew(context, request, object));
  let hasGeneratedName = false;
  return {
    is: 'object',
    request,
    dryRun,
    draft: object,
    managedFields,
    get hasGeneratedName() {
      return hasGeneratedName;
    },
    prepare(created) {
      clearSystemMetadata(created, keepsDeletion);
      setSystemMetadata(created, uid, strategyContext.now);
      const { name, generateName } = created.metadata;
      hasGeneratedName = !name && Boolean(generateName);
      if (hasGeneratedName) created.metadata.name = randomName(generateName!);
      if (strategy.hasStatus && !strategy.keepStatusOnCreate) delete created['status'];
      strategy.prepareCreate(created, strategyContext);
    },
    violations: created => strategy.validateCreate(created, strategyContext),
  };
}
