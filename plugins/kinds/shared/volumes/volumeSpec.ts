import type { PersistentVolumeSpec } from '../../../../kinds/v1.js';
import { dns1123Subdomain } from '../../../../core/model/names.js';
import { compareQuantities, quantityOf, ZERO_QUANTITY } from '../../../../core/model/quantity.js';
import { isAbsent } from '../../../../core/model/record.js';
import {
  forbiddenField,
  invalid,
  notSupported,
  required,
  Verbatim,
  type Violation,
} from '../../../../core/model/refusal.js';
import { validateNodeSelector } from '../podSpec/scheduling.js';
import { validateIfSet, validateOneOf } from '../violations.js';
import { validateAccessModes } from './accessModes.js';
import { validatePersistentSource } from './volumeSources.js';

/** Amounts of resources as Go prints them in messages. */
function goResources(amounts: readonly (readonly [string, unknown])[]): Verbatim {
  const members = amounts.map(([name, amount]) => `${JSON.stringify(name)}:${amount}`);
  return new Verbatim(`core.ResourceList{${members.join(', ')}}`);
}

const NO_RESOURCES = new Verbatim('core.ResourceList(nil)');

/** Violations of the capacity: storage, and nothing else. `isSent`: whether a capacity was sent, even an empty one. */
function validateCapacity(spec: PersistentVolumeSpec, at: string, isSent: boolean): Violation[] {
  const amounts = Object.entries(spec.capacity ?? {});
  const names = amounts.map(([name]) => name);
  return [
    ...(amounts.length === 0 ? [required(`${at}.capacity`)] : []),
    ...(names.length === 1 && names[0] === 'storage'
      ? []
      : [notSupported(`${at}.capacity`, isSent ? goResources(amounts) : NO_RESOURCES, ['storage'])]),
    ...amounts.flatMap(([name, amount]) => {
      const [field, quantity] = [`${at}.capacity[${name}]`, quantityOf(amount)];
      const found: Violation[] = [];
      if (compareQuantities(quantity, ZERO_QUANTITY) < 0)
        found.push(invalid(field, Number(quantity.nano / 1_000_000_000n), 'must be a valid resource quantity'));
      if (compareQuantities(quantity, ZERO_QUANTITY) <= 0)
        found.push(invalid(field, String(amount), 'must be greater than zero'));
      return found;
    }),
  ];
}

function validateAffinity(spec: PersistentVolumeSpec, at: string): Violation[] {
  const affinity = spec.nodeAffinity;
  const needed = affinity?.required;
  if (needed) return validateNodeSelector(needed, `${at}.nodeAffinity.required`);
  return affinity ? [required(`${at}.nodeAffinity.required`, 'must specify required node constraints')] : [];
}

/** Whether a path names the root folder. */
const isRoot = (path: string): boolean =>
  path.startsWith('/') && path.split('/').every(part => part === '' || part === '.');

const RECLAIM_POLICIES = ['Delete', 'Recycle', 'Retain'];

/**
 * Violations of the spec of a PersistentVolume; `at` is its field, `name` that of the volume. `emptied`: the members of
 * the spec that were sent empty.
 */
export function validateVolumeSpec(
  spec: PersistentVolumeSpec,
  at: string,
  name: string,
  emptied: ReadonlySet<string> | undefined,
): Violation[] {
  const policy = `${at}.persistentVolumeReclaimPolicy`;
  const recycled = (spec.persistentVolumeReclaimPolicy ?? '') === 'Recycle';
  return [
    ...validateAccessModes(spec, at),
    ...validateCapacity(spec, at, !isAbsent(spec.capacity) || emptied?.has('capacity') === true),
    ...validateOneOf(spec, 'persistentVolumeReclaimPolicy', policy, RECLAIM_POLICIES, false),
    ...validateAffinity(spec, at),
    ...validatePersistentSource(spec, at, name, !isAbsent(spec.nodeAffinity)),
    ...(recycled && isRoot(spec.hostPath?.path ?? '')
      ? [forbiddenField(policy, "may not be 'recycle' for a hostPath mount of '/'")]
      : []),
    ...validateIfSet(spec, 'storageClassName', `${at}.storageClassName`, dns1123Subdomain),
    ...(isAbsent(spec.volumeMode)
      ? []
      : validateOneOf(spec, 'volumeMode', `${at}.volumeMode`, ['Block', 'Filesystem'])),
  ];
}

const INLINE = 'in the context of inline volumes';

const refuseInline = (at: string, member: string, isSet: boolean): Violation[] =>
  isSet ? [forbiddenField(`${at}.${member}`, `may not be specified ${INLINE}`)] : [];

/** Violations of the spec of a volume that an attachment contains; `at` is its field. */
export function validateInlineVolumeSpec(spec: PersistentVolumeSpec, at: string): Violation[] {
  const policy = spec.persistentVolumeReclaimPolicy ?? '';
  return [
    ...refuseInline(at, 'claimRef', !isAbsent(spec.claimRef)),
    ...refuseInline(at, 'capacity', Object.entries(spec.capacity ?? {}).length > 0),
    ...(spec.csi ? [] : [required(`${at}.csi`, `has to be specified ${INLINE}`)]),
    ...validateAccessModes(spec, at),
    ...(policy === '' || policy === 'Retain'
      ? []
      : [forbiddenField(`${at}.persistentVolumeReclaimPolicy`, `may only be Retain ${INLINE}`)]),
    ...refuseInline(at, 'nodeAffinity', !isAbsent(spec.nodeAffinity)),
    ...validatePersistentSource(spec, at, '', false),
    ...refuseInline(at, 'storageClassName', (spec.storageClassName ?? '') !== ''),
    ...(isAbsent(spec.volumeMode) || spec.volumeMode === 'Filesystem'
      ? []
      : [forbiddenField(`${at}.volumeMode`, `may not specify volumeMode other than Filesystem ${INLINE}`)]),
  ];
}
