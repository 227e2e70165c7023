import { builtInKind } from '../../../../core/api/resource.js';
import type { ApiObject } from '../../../../core/model/object.js';
import {
  ensureRecord,
  isAbsent,
  isRecord,
  recordAt,
  recordsAt,
  setDefault,
  specOf,
  stringAt,
  type UnknownRecord,
} from '../../../../core/model/record.js';
import type { Naming } from '../../../../core/naming.js';
import { loadEngine } from '../../../../core/schema/custom/engine.js';
import { validateNewDefinition, validateChangedDefinition } from './validation.js';

/** The finalizer that keeps a definition until its objects are removed. */
const cleanupFinalizer = (naming: Naming): string =>
  naming.group('customresourcecleanup.apiextensions.orchestrator.io');

function setDefinitionDefaults(object: ApiObject): void {
  const spec = specOf(object);
  const names = ensureRecord(spec, 'names');
  if (stringAt(names, 'singular') === '') names.singular = stringAt(names, 'kind').toLowerCase();
  if (stringAt(names, 'listKind') === '' && stringAt(names, 'kind') !== '')
    names.listKind = `${stringAt(names, 'kind')}List`;
  if (isAbsent(spec.conversion)) spec.conversion = { strategy: 'None' };
  const service = recordAt(spec, 'conversion', 'webhook', 'clientConfig', 'service');
  if (service) setDefault(service, 'port', 443);
  if (isAbsent(spec.preserveUnknownFields) || spec.preserveUnknownFields === false) delete spec.preserveUnknownFields;
}

/** Adds the storage version to `status.storedVersions`. */
function addStoredVersion(object: ApiObject, status: UnknownRecord): void {
  const known = Array.isArray(status.storedVersions) ? [...status.storedVersions] : [];
  const stored = recordsAt(object, 'spec', 'versions').find(version => version.storage === true);
  if (stored && !known.includes(stored.name)) known.push(stored.name);
  status.storedVersions = known;
  object.status = status;
}

const statusOf = (object: ApiObject): UnknownRecord => (isRecord(object.status) ? object.status : {});

/** A deleted definition remains until its objects are removed; its conditions report this. */
function markTerminating(object: ApiObject, finalizer: string): void {
  const { metadata } = object;
  // As upstream, the deletion of a definition neither has a grace period nor counts as a change of its content.
  delete metadata.deletionGracePeriodSeconds;
  if (metadata.generation) metadata.generation--;
  if (!metadata.finalizers?.includes(finalizer)) metadata.finalizers = [...(metadata.finalizers ?? []), finalizer];
  const status = statusOf(object);
  const conditions = recordsAt(status, 'conditions').filter(condition => condition.type !== 'Terminating');
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

/** CustomResourceDefinition: its objects define resource types (`source.ts`). */
export const customResourceDefinition = builtInKind(
  'apiextensions.orchestrator.io/customresourcedefinitions',
  naming => {
    const finalizer = cleanupFinalizer(naming);
    return {
      allowAnyFinalizer: true,
      hasGeneration: true,
      // Its schemas and rules are compiled.
      weight: 16,
      hasStatus: true,
      allowUnconditionalUpdate: false,
      load: loadEngine,
      applyDefaults: setDefinitionDefaults,
      prepareCreate: object => addStoredVersion(object, { conditions: null, acceptedNames: { plural: '', kind: '' } }),
      prepareUpdate: (object, old) =>
        addStoredVersion(object, structuredClone(statusOf(isRecord(object.status) ? object : old))),
      // Writes of the status change metadata, but own none.
      unownedFields: new Map([['status', [['metadata']]]]),
      prepareStatus: object => addStoredVersion(object, statusOf(object)),
      validateCreate: object => validateNewDefinition(object, naming),
      validateUpdate: (object, old) => validateChangedDefinition(object, old, naming),
      validateStatus: (object, old) => validateChangedDefinition(object, old, naming),
      extraFinalizers: object => (object.metadata.deletionTimestamp ? [] : [finalizer]),
      beginDeletion: object => markTerminating(object, finalizer),
    };
  },
);
