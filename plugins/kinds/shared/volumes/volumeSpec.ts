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
import { PERSISTENT_SOURCES, validatePersistentSource } from './volumeSources.js';

/** Amounts of resources as Go prints them in messages. */
const goResources = (amounts: readonly (readonly [string, unknown])[]): Verbatim =>
  new Verbatim(`core.ResourceList{${amounts.map(([name, amount]) => `${JSON.stringify(name)}:${amount}`).join(', ')}}`);

/** Violations of the capacity: storage, and nothing else. */
function validateCapacity(spec: PersistentVolumeSpec, at: string): Violation[] {
  const amounts = Object.entries(spec.capacity ?? {});
  const names = amounts.map(([name]) => name);
  return [
    ...(amounts.length === 0 ? [required(`${at}.capacity`)] : []),
    ...(names.length === 1 && names[0] === 'storage'
      ? []
      : [notSupported(`${at}.capacity`, goResources(amounts), ['storage'])]),
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
  if (affinity) return [required(`${at}.nodeAffinity.required`, 'must specify required node constraints')];
  return PERSISTENT_SOURCES.find(source => spec[source]) === 'local'
    ? [required(`${at}.nodeAffinity`, 'Local volume requires node affinity')]
    : [];
}

/** Whether a path names the root folder. */
const isRoot = (path: string): boolean =>
  path.startsWith('/') && path.split('/').every(part => part === '' || part === '.');

const RECLAIM_POLICIES = ['Delete', 'Recycle', 'Retain'];

/** Violations of the spec of a PersistentVolume; `at` is its field, `name` that of the volume. */
export function validateVolumeSpec(spec: PersistentVolumeSpec, at: string, name: string): Violation[] {
  const policy = `${at}.persistentVolumeReclaimPolicy`;
  const recycled = (spec.persistentVolumeReclaimPolicy ?? '') === 'Recycle';
  return [
    ...validateAccessModes(spec, at),
    ...validateCapacity(spec, at),
    ...validateOneOf(spec, 'persistentVolumeReclaimPolicy', policy, RECLAIM_POLICIES, false),
    ...validateAffinity(spec, at),
    ...validatePersistentSource(spec, at, name),
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

const refuseInline = (_spec: PersistentVolumeSpec, at: string, member: string, isSet: boolean): Violation[] =>
  isSet ? [forbiddenField(`${at}.${member}`, `may not be specified ${INLINE}`)] : [];

/** Violations of the spec of a volume that an attachment contains; `at` is its field. */
export function validateInlineVolumeSpec(spec: PersistentVolumeSpec, at: string): Violation[] {
  const policy = spec.persistentVolumeReclaimPolicy ?? '';
  const hasLocal = PERSISTENT_SOURCES.find(source => spec[source]) === 'local';
  return [
    ...validateAccessModes(spec, at),
    ...validatePersistentSource(spec, at, ''),
    ...refuseInline(spec, at, 'capacity', Object.entries(spec.capacity ?? {}).length > 0),
    ...refuseInline(spec, at, 'storageClassName', (spec.storageClassName ?? '') !== ''),
    ...(['claimRef', 'nodeAffinity'] as const).flatMap(member =>
      refuseInline(spec, at, member, !isAbsent(spec[member])),
    ),
    ...(spec.csi ? [] : [required(`${at}.csi`, `has to be specified ${INLINE}`)]),
    ...(policy === '' || policy === 'Retain'
      ? []
      : [forbiddenField(`${at}.persistentVolumeReclaimPolicy`, `may only be Retain ${INLINE}`)]),
    ...(isAbsent(spec.volumeMode) || spec.volumeMode === 'Filesystem'
      ? []
      : [forbiddenField(`${at}.volumeMode`, `may not specify volumeMode other than Filesystem ${INLINE}`)]),
    ...(hasLocal && isAbsent(spec.nodeAffinity)
      ? [required(`${at}.nodeAffinity`, 'Local volume requires node affinity')]
      : []),
  ];
}
