import type { Strategy } from '../../../core/api/strategy.js';
import type { ApiObject } from '../../../core/model/object.js';
import { compareQuantities, quantityOf } from '../../../core/model/quantity.js';
import type { Naming } from '../../../core/naming.js';
import { volumeSourceDefaults } from '../pod-defaults.js';
import { forbiddenField, type Violation } from '../../../core/model/refusal.js';
import { claimStatusViolations } from '../validation/statuses.js';
import { fixed } from '../validation/workload.js';
import { absent, at, fill, isRec, type Rec, spec, same, text } from '../record.js';

function protect(object: ApiObject, finalizer: string): void {
  const now = object.metadata.finalizers ?? [];
  if (!now.includes(finalizer)) object.metadata.finalizers = [...now, finalizer];
}

/** Rules of PersistentVolumes: pending until a controller says more, protected while in use. */
export const persistentVolume = (naming: Naming): Partial<Strategy> => ({
  hasStatus: true,
  deleteAnswer: 'object',
  validateUpdate: volumeUpdateViolations,
  defaults: object => {
    const s = spec(object);
    fill(s, 'persistentVolumeReclaimPolicy', 'Retain');
    fill(s, 'volumeMode', 'Filesystem');
    for (const [member, source] of Object.entries(s)) if (isRec(source)) volumeSourceDefaults(member, source);
  },
  prepareCreate: (object, rules) => {
    object.status = { phase: 'Pending', lastPhaseTransitionTime: rules.now };
    protect(object, naming.label('orchestrator.io/pv-protection'));
  },
  prepareStatus: (object, old, rules) => {
    const [now, before] = [at(object, 'status'), at(old, 'status')];
    if (!now || text(now, 'phase') === text(before, 'phase')) return;
    if (absent(now.lastPhaseTransitionTime) || now.lastPhaseTransitionTime === before?.lastPhaseTransitionTime)
      now.lastPhaseTransitionTime = rules.now;
  },
});

/** Defaults of the spec of a claim, also inside templates. */
export function claimSpecDefaults(claim: Rec): void {
  fill(claim, 'volumeMode', 'Filesystem');
}

/** Rules of PersistentVolumeClaims. */
export const persistentVolumeClaim = (naming: Naming): Partial<Strategy> => ({
  hasStatus: true,
  deleteAnswer: 'object',
  defaults: object => claimSpecDefaults(spec(object)),
  validateStatus: claimStatusViolations,
  validateUpdate: claimUpdateViolations,
  prepareCreate: object => {
    object.status = { phase: 'Pending' };
    protect(object, naming.label('orchestrator.io/pvc-protection'));
    referDataSource(spec(object));
  },
});

/** `dataSource` and `dataSourceRef` name the same thing; core kinds other than claims cannot be a source. */
function referDataSource(claim: Rec): void {
  const source = at(claim, 'dataSource');
  if (source && text(source, 'apiGroup') === '' && text(source, 'kind') !== 'PersistentVolumeClaim')
    delete claim.dataSource;
  if (at(claim, 'dataSource') && !at(claim, 'dataSourceRef')) claim.dataSourceRef = structuredClone(claim.dataSource);
  const reference = at(claim, 'dataSourceRef');
  if (reference && !at(claim, 'dataSource') && text(reference, 'namespace') === '')
    claim.dataSource = structuredClone(reference);
}

const CLAIM_FIXED =
  'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';

/** A bound claim may grow; everything else of its spec stays, but for the volume's name, set once. */
function claimUpdateViolations(object: ApiObject, old: ApiObject): Violation[] {
  const [now, before] = [structuredClone(spec(object)), structuredClone(spec(old))];
  if (text(before, 'volumeName') === '') delete now.volumeName;
  const [size, earlier] = [at(now, 'resources', 'requests')?.storage, at(before, 'resources', 'requests')?.storage];
  const grows =
    text(at(old, 'status'), 'phase') === 'Bound' && compareQuantities(quantityOf(size), quantityOf(earlier)) > 0;
  if (grows) now.resources = before.resources;
  return same(now, before) ? [] : [forbiddenField('spec', CLAIM_FIXED)];
}

const VOLUME_PLAIN = new Set([
  'accessModes',
  'capacity',
  'claimRef',
  'mountOptions',
  'nodeAffinity',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'volumeAttributesClassName',
  'volumeMode',
]);

function volumeUpdateViolations(object: ApiObject, old: ApiObject): Violation[] {
  const source = (o: ApiObject): Rec =>
    Object.fromEntries(Object.entries(spec(o)).filter(([member]) => !VOLUME_PLAIN.has(member)));
  const found = same(source(object), source(old))
    ? []
    : [forbiddenField('spec.persistentvolumesource', 'spec.persistentvolumesource is immutable after creation')];
  return [...found, ...fixed(spec(object), spec(old), 'volumeMode', 'volumeMode')];
}
