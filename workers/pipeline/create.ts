import type { ApiObject, Frozen } from '../../core/model/object.js';
import { alreadyExists, badRequest, Refusal } from '../../core/model/refusal.js';
import { decodeBody, validateMetadata } from './body.js';
import { decodeStored } from '../../core/plugin/stored.js';
import type { Owners } from '../../core/schema/apply/owners.js';
import type { Answer } from './answer.js';
import { checkOwners, ownersOfNew, setOwners } from './apply.js';
import { type Context, type Permitted, rulesOf } from './context.js';
import { act } from './actions.js';
import { generatedName } from '../../core/model/names.js';
import { dropRepeatedOwners, setSystemMetadata } from './metadata.js';
import { writeOptionsOf } from './options.js';
import { changeOf, judged, named, propose, refuseInvalid } from './write.js';

/** Creates an object: POST on a collection, or on a subresource that acts on an object. */
export async function create(context: Context, permitted: Permitted): Promise<Answer> {
  const options = writeOptionsOf(permitted.route.query, context.naming, 'CreateOptions');
  if (permitted.route.subresource || !permitted.resource.stored) return await act(context, permitted, options);
  const object = decodeBody(context, permitted, options, permitted.job.body!);
  return await createObject(context, permitted, object, options.dryRun);
}

/** 409 for the name of a create; `current` is the object that has it, where it is known. */
function collision({ resource, job }: Permitted, name: string): Refusal {
  const refusal = alreadyExists(named(resource), name);
  const ending = job.current && decodeStored(job.current.bytes).metadata.deletionTimestamp;
  return ending
    ? new Refusal('AlreadyExists', `object is being deleted: ${refusal.message}`, refusal.details)
    : refusal;
}

/**
 * Stages from mutate on, for an object that is to be created. Also used by updates and applies that create; `owners`:
 * what an apply found.
 */
export async function createObject(
  context: Context,
  permitted: Permitted,
  object: ApiObject,
  dryRun: boolean,
  owners?: Owners,
): Promise<Answer> {
  const { resource, target, job } = permitted;
  const { strategy } = resource;
  const rules = rulesOf(context, permitted, dryRun);
  const { metadata } = object;
  if (resource.namespaced) inNamespace(metadata, target.namespace);
  else if (metadata.namespace) delete metadata.namespace;
  // Upstream's store is who minds: it reads over what is no number, and a dry run does not reach it.
  if (!dryRun && /^0*[1-9]\d*$/.test(metadata.resourceVersion ?? ''))
    throw badRequest('resourceVersion should not be set on objects to be created');
  if (!dryRun) delete metadata.resourceVersion;
  dropRepeatedOwners(object, permitted.warnings, false);
  const set = setOwners(object, owners ?? ownersOfNew(context, permitted, object));
  setSystemMetadata(object, rules.now);
  const generated = !metadata.name && Boolean(metadata.generateName);
  if (generated) metadata.name = generatedName(metadata.generateName!);
  await context.mutate(changeOf(permitted, 'CREATE', dryRun, metadata.name ?? ''), object);
  dropRepeatedOwners(object, permitted.warnings, true);
  checkOwners(object, set, permitted.warnings);
  if (strategy.hasStatus && !strategy.keepStatusOnCreate) delete object['status'];
  strategy.prepareCreate(object, rules);
  strategy.applyDefaults(object);
  if (strategy.hasGeneration) metadata.generation = 1;
  const violations = judged(permitted, () => [
    ...validateMetadata(object, resource),
    ...strategy.validateCreate(object, rules),
  ]);
  refuseInvalid(resource, metadata.name ?? '', violations);
  const change = changeOf(permitted, 'CREATE', dryRun, metadata.name!);
  refuseInvalid(resource, metadata.name!, await context.validate(change, object as Frozen<ApiObject>));
  // The front end sends the object along that has the name, once an attempt has told it the name.
  if (!generated && target.verb === 'create' && job.current) throw collision(permitted, metadata.name!);
  return await propose(context, permitted, object, { status: 201, dryRun, expect: 0 });
}

function inNamespace(metadata: ApiObject['metadata'], namespace: string): void {
  if (metadata.namespace && metadata.namespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  metadata.namespace = namespace;
}
