import type { Strategy } from '../../../core/api/strategy.js';
import type { ApiObject } from '../../../core/model/object.js';
import type { Naming } from '../../../core/naming.js';
import { loadEngine } from '../../../core/schema/custom/engine.js';
import { absent, at, fill, into, isRec, list, type Rec, spec, text } from '../record.js';
import { createViolations, updateViolations } from './validation.js';
import { keepMetadata } from '../status-metadata.js';

/** The finalizer under which the objects of a definition that goes away are removed first. */
const cleanupFinalizer = (naming: Naming): string =>
  naming.group('customresourcecleanup.apiextensions.orchestrator.io');

function defaults(object: ApiObject): void {
  const s = spec(object);
  const names = into(s, 'names');
  if (text(names, 'singular') === '') names.singular = text(names, 'kind').toLowerCase();
  if (text(names, 'listKind') === '' && text(names, 'kind') !== '') names.listKind = `${text(names, 'kind')}List`;
  const conversion = into(s, 'conversion');
  fill(conversion, 'strategy', 'None');
  const service = at(conversion, 'webhook', 'clientConfig', 'service');
  if (service) fill(service, 'port', 443);
  if (absent(s.preserveUnknownFields) || s.preserveUnknownFields === false) delete s.preserveUnknownFields;
}

/** Objects may be stored in the storage version from now on: the status remembers that. */
function rememberStored(object: ApiObject, status: Rec): void {
  const known = Array.isArray(status.storedVersions) ? [...status.storedVersions] : [];
  const stored = list(at(object, 'spec'), 'versions').find(version => version.storage === true);
  if (stored && !known.includes(stored.name)) known.push(stored.name);
  status.storedVersions = known;
  object.status = status;
}

const statusOf = (object: ApiObject): Rec => (isRec(object.status) ? object.status : {});

/** A definition that is deleted stays until its objects are gone, and says so. */
function beginDeletion(object: ApiObject, finalizer: string): void {
  const { metadata } = object;
  if (!metadata.finalizers?.includes(finalizer)) metadata.finalizers = [...(metadata.finalizers ?? []), finalizer];
  const status = statusOf(object);
  const conditions = list(status, 'conditions').filter(condition => condition.type !== 'Terminating');
  status.conditions = [
    ...conditions,
    {
      type: 'Terminating',
      status: 'True',
      lastTransitionTime: metadata.deletionTimestamp,
      reason: 'InstanceDeletionPending',
      message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
    },
  ];
  object.status = status;
}

/** The rules of definitions of custom resources. */
export function definition(naming: Naming): Partial<Strategy> {
  const finalizer = cleanupFinalizer(naming);
  return {
    anyFinalizer: true,
    hasGeneration: true,
    hasStatus: true,
    unconditionalUpdate: false,
    load: loadEngine,
    defaults,
    prepareCreate: object => rememberStored(object, { conditions: null, acceptedNames: { plural: '', kind: '' } }),
    prepareUpdate: (object, old) =>
      rememberStored(object, structuredClone(statusOf(isRec(object.status) ? object : old))),
    prepareStatus: (object, old) => {
      keepMetadata(object, old);
      rememberStored(object, statusOf(object));
    },
    validateCreate: object => createViolations(object, naming),
    validateUpdate: (object, old) => updateViolations(object, old, naming),
    validateStatus: (object, old) => updateViolations(object, old, naming),
    heldBy: object => (object.metadata.deletionTimestamp ? [] : [finalizer]),
    onDeletion: object => beginDeletion(object, finalizer),
  };
}
