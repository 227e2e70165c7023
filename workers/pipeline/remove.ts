import type { ApiObject } from '../../core/model/object.js';
import { conflict } from '../../core/model/refusal.js';
import { formOf, statusForm } from '../../core/request/forms.js';
import { keyOf } from '../../core/request/keys.js';
import { decodeStored } from '../../core/plugin/stored.js';
import { type Answer, jsonHeaders } from './answer.js';
import { decodeOptions } from './body.js';
import { claimOperations } from './claims.js';
import { type Context, type Permitted, timestamp } from './context.js';
import { type DeleteOptions, deleteOptionsOf } from './options.js';
import { shape } from './render.js';
import { absent, changeOf, inRequestVersion, named, propose, refuseInvalid } from './write.js';

/** Finalizers that the garbage collector answers to (spec, "Deletion lifecycle"). */
const ORPHAN = 'orphan';
const FOREGROUND = 'foregroundDeletion';

const optionsOf = (context: Context, permitted: Permitted): DeleteOptions =>
  deleteOptionsOf(permitted.route.query, decodeOptions(context, permitted), context.naming);

/**
 * What a deletecollection is checked for before any object is looked at: that its answer can be sent, and its options.
 */
export function checkCollection(context: Context, permitted: Permitted): void {
  formOf(permitted.resource, permitted.job.accept, context.naming, true);
  optionsOf(context, permitted);
}

/** DELETE on one object: begins its deletion, shortens its grace, or removes it (spec, "Deletion lifecycle"). */
export async function remove(context: Context, permitted: Permitted): Promise<Answer> {
  const { job, resource, target } = permitted;
  const options = optionsOf(context, permitted);
  if (!job.current) throw absent(permitted);
  const old = inRequestVersion(resource, decodeStored(job.current.bytes));
  checkPreconditions(permitted, old, options);
  const { deletionWarning } = resource.strategy;
  if (deletionWarning && options.propagationPolicy === undefined && options.orphanDependents === undefined)
    permitted.warnings.push(deletionWarning);
  const change = changeOf(permitted, 'DELETE', options.dryRun, target.name, old);
  refuseInvalid(resource, target.name, await context.validate(change, undefined));
  const object = structuredClone(old);
  const { deletionGracePeriodSeconds: running } = old.metadata;
  const grace = graceOf(permitted, object, options.gracePeriodSeconds);
  // Who asks in so many words that dependents go as well is told that this takes its time.
  const status = options.orphanDependents === false ? 202 : 200;
  // While an object has its grace, a delete that does not shorten it changes nothing.
  if (running && grace >= running) return await shape(context, permitted, old, status, permitted.warnings);
  object.metadata.finalizers = finalizersOf(permitted, object, options);
  if (object.metadata.finalizers.length === 0) delete object.metadata.finalizers;
  const held =
    (object.metadata.finalizers?.length ?? 0) > 0 || (resource.strategy.extraFinalizers?.(object).length ?? 0) > 0;
  const dies = !held && grace === 0;
  // As upstream: what is removed in grace is marked first, also where the grace is 0, so that watches see it end; the
  // second write removes it.
  if (dies && resource.strategy.hasGrace && !options.dryRun && begin(context, permitted, object, old, grace)) {
    const marked = await propose(context, permitted, object, {
      status: 200,
      dryRun: false,
      expect: job.current.revision,
    });
    return { ...marked, more: true };
  }
  if (dies)
    return await removal(context, permitted, old, resource.strategy.hasGrace ? ended(context, object) : undefined, {
      status: 200,
      dryRun: options.dryRun,
    });
  if (!begin(context, permitted, object, old, grace))
    return await shape(context, permitted, old, status, permitted.warnings);
  return await propose(context, permitted, object, { status, dryRun: options.dryRun, expect: job.current.revision });
}

/** Seconds of grace: of a deletion under way what is left of it, unless the client names fewer. */
function graceOf({ resource }: Permitted, object: ApiObject, asked: number | undefined): number {
  const { deletionTimestamp, deletionGracePeriodSeconds } = object.metadata;
  const running = deletionGracePeriodSeconds ?? 0;
  if (!deletionTimestamp) return resource.strategy.gracePeriod(object, asked);
  if (!running || asked === undefined) return running;
  return asked < 0 ? 1 : asked;
}

/** The object as a delete without grace shows it. */
function ended(context: Context, object: ApiObject): ApiObject {
  object.metadata.deletionTimestamp ??= timestamp(context.now());
  object.metadata.deletionGracePeriodSeconds = 0;
  return object;
}

/** Marks the object for deletion; false if that changes nothing. */
function begin(context: Context, { resource }: Permitted, object: ApiObject, old: ApiObject, grace: number): boolean {
  const { metadata } = object;
  const sameFinalizers = JSON.stringify(metadata.finalizers ?? []) === JSON.stringify(old.metadata.finalizers ?? []);
  const running = old.metadata.deletionTimestamp;
  // A later delete may shorten the grace period, never lengthen it.
  if (running && grace >= (old.metadata.deletionGracePeriodSeconds ?? 0) && sameFinalizers) return false;
  const began = running ? Date.parse(running) - (old.metadata.deletionGracePeriodSeconds ?? 0) * 1000 : context.now();
  if (!running || grace < (old.metadata.deletionGracePeriodSeconds ?? 0)) {
    metadata.deletionTimestamp = timestamp(began + grace * 1000);
    metadata.deletionGracePeriodSeconds = grace;
  }
  if (!running && metadata.generation) metadata.generation++;
  if (!running) resource.strategy.beginDeletion?.(object);
  return true;
}

/** Finalizers after the client's choice of propagation, or the kind's default. */
function finalizersOf({ resource }: Permitted, object: ApiObject, options: DeleteOptions): string[] {
  const present = object.metadata.finalizers ?? [];
  const others = present.filter(name => name !== ORPHAN && name !== FOREGROUND);
  const policy =
    options.propagationPolicy ??
    (options.orphanDependents === undefined ? undefined : options.orphanDependents ? 'Orphan' : 'Background');
  if (resource.strategy.cannotBeOwner) return others;
  if (policy === 'Orphan') return [...others, ORPHAN];
  if (policy === 'Foreground') return [...others, FOREGROUND];
  if (policy === 'Background') return others;
  if (present.length === others.length && resource.strategy.orphansByDefault && !object.metadata.deletionTimestamp)
    return [...others, ORPHAN];
  return present;
}

function checkPreconditions(
  { resource, target, job }: Permitted,
  old: ApiObject,
  { preconditions }: DeleteOptions,
): void {
  if (!preconditions) return;
  const { uid, resourceVersion } = preconditions;
  const fails = (what: string, asked: string, found: string | undefined): never => {
    const why = `Precondition failed: ${what} in precondition: ${asked}, ${what} in object meta: ${found}`;
    throw conflict(named(resource), target.name, why);
  };
  // Kinds that hold their objects themselves begin the deletion themselves, upstream, with words of their own.
  const own = resource.strategy.extraFinalizers !== undefined;
  if (uid !== undefined && uid !== old.metadata.uid) {
    if (own) fails('UID', uid, old.metadata.uid);
    const why = `the UID in the precondition (${uid}) does not match the UID in record (${old.metadata.uid}). The object might have been deleted and then recreated`;
    throw conflict(preconditionName(resource), target.name, why);
  }
  if (resourceVersion !== undefined && !job.begun && resourceVersion !== String(job.current!.revision)) {
    if (own) fails('ResourceVersion', resourceVersion, String(job.current!.revision));
    const why = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${job.current!.revision}). The object might have been modified`;
    throw conflict(preconditionName(resource), target.name, why);
  }
}

/**
 * Upstream names the kind here where deletion needs no grace and the kind answers with a Status: its store checks the
 * raw object.
 */
const preconditionName = (resource: Permitted['resource']) => ({ group: resource.group, resource: resource.kind });

/** Removes the object at once and answers with it or with a Status, as its kind does. */
export async function removal(
  context: Context,
  permitted: Permitted,
  old: ApiObject,
  shown: ApiObject | undefined,
  write: { readonly status: number; readonly dryRun: boolean },
): Promise<Answer> {
  const { resource, job, warnings, target } = permitted;
  // What a delete removed is shown at the revision of its removal, what an update removed by ending its deletion as it
  // was.
  const commits = !write.dryRun && target.verb === 'delete';
  const answer =
    shown || resource.strategy.returnsDeletedObject
      ? await shape(context, permitted, shown ?? old, write.status, warnings, commits && 'gone')
      : removed(context, permitted, old);
  if (write.dryRun) return answer;
  const key = keyOf(resource, target.namespace || old.metadata.namespace || '', old.metadata.name!);
  const operations = [
    { is: 'delete' as const, key, expect: job.current!.revision },
    ...claimOperations(resource, key, job.current, undefined),
  ];
  return { ...answer, operations };
}

function removed({ naming }: Context, { resource, warnings, job }: Permitted, old: ApiObject): Answer {
  const { group, resource: kind } = named(resource);
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { name: old.metadata.name, ...(group ? { group } : {}), kind, uid: old.metadata.uid },
  };
  const { contentType, bytes } = statusForm(status, job.accept, naming);
  return { status: 200, headers: [['content-type', contentType], ...jsonHeaders(warnings).slice(1)], body: bytes };
}
