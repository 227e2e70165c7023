import type { Time } from '../../../../core/model/scalars.js';
import type { CustomResourceDefinitionStatus, CustomResourceDefinition } from '../../../../kinds/apiextensions/v1.js';
import { builtInKind } from '../../../../core/api/resource.js';
import { isAbsent, setDefault } from '../../../../core/model/record.js';
import type { Naming } from '../../../../core/naming.js';
import { loadEngine } from '../../../../core/schema/custom/engine.js';
import { validateNewDefinition, validateChangedDefinition } from './validation.js';

/** The finalizer that keeps a definition until its objects are removed. */
const cleanupFinalizer = (naming: Naming): string =>
  naming.group('customresourcecleanup.apiextensions.orchestrator.io');

function setDefinitionDefaults(object: CustomResourceDefinition): void {
  const spec = object.spec;
  const names = spec.names;
  if ((names.singular ?? '') === '') names.singular = names.kind.toLowerCase();
  if ((names.listKind ?? '') === '' && names.kind !== '') names.listKind = `${names.kind}List`;
  if (isAbsent(spec.conversion)) spec.conversion = { strategy: 'None' };
  const service = spec.conversion.webhook?.clientConfig?.service;
  if (service) setDefault(service, 'port', 443);
  if (isAbsent(spec.preserveUnknownFields) || spec.preserveUnknownFields === false) delete spec.preserveUnknownFields;
}

/** Adds the storage version to `status.storedVersions`. */
function addStoredVersion(object: CustomResourceDefinition, status: CustomResourceDefinitionStatus): void {
  const known = [...(status.storedVersions ?? [])];
  const stored = (object.spec.versions ?? []).find(version => version.storage === true);
  if (stored && !known.includes(stored.name)) known.push(stored.name);
  status.storedVersions = known;
  object.status = status;
}

const statusOf = (object: CustomResourceDefinition): CustomResourceDefinitionStatus =>
  object.status ?? { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: null };

/** A deleted definition remains until its objects are removed; its conditions report this. */
function markTerminating(object: CustomResourceDefinition, finalizer: string): void {
  const { metadata } = object;
  // As in upstream, the deletion of a definition neither has a grace period nor counts as a change of its content.
  delete metadata.deletionGracePeriodSeconds;
  if (metadata.generation) metadata.generation--;
  if (!metadata.finalizers?.includes(finalizer)) metadata.finalizers = [...(metadata.finalizers ?? []), finalizer];
  const status = statusOf(object);
  const conditions = (status.conditions ?? []).filter(condition => condition.type !== 'Terminating');
  status.conditions = [
    ...conditions,
    {
      type: 'Terminating',
      status: 'True',
      lastTransitionTime: (metadata.deletionTimestamp ?? null) as Time | null,
      reason: 'InstanceDeletionPending',
      message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
    },
  ];
  object.status = status;
}

/** CustomResourceDefinition: its objects define resource types (`source.ts`). */
export const customResourceDefinition = builtInKind<CustomResourceDefinition>(
  'apiextensions.orchestrator.io/customresourcedefinitions',
  naming => {
    const finalizer = cleanupFinalizer(naming);
    return {
      allowAnyFinalizer: true,
      hasGeneration: true,
      // Its schemas and rules are compiled.
      weight: 16,
      hasStatus: true,
      storePath: `${naming.group('apiextensions.orchestrator.io')}/customresourcedefinitions`,
      allowUnconditionalUpdate: false,
      load: loadEngine,
      applyDefaults: setDefinitionDefaults,
      prepareCreate: object => addStoredVersion(object, statusOf({ ...object, status: undefined })),
      prepareUpdate: (object, old) => addStoredVersion(object, structuredClone(statusOf(object.status ? object : old))),
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
