import type {
  PersistentVolumeClaimSpec,
  TypedLocalObjectReference,
  TypedObjectReference,
} from '../../../../kinds/v1.js';
import { compareQuantities, isInteger, quantityOf, ZERO_QUANTITY } from '../../../../core/model/quantity.js';
import { isAbsent } from '../../../../core/model/record.js';
import { invalid, required, Verbatim, type Violation } from '../../../../core/model/refusal.js';
import { isUnchanged } from '../values/equality.js';
import { validateSelector } from '../labels.js';
import { validateLabelIfSet, validateOneOf, validateRequired, validateSubdomainIfSet } from '../violations.js';
import { validateAccessModes } from './accessModes.js';

/** Sets the defaults of the spec of a claim, including one in a template. */
export function setClaimSpecDefaults(claim: PersistentVolumeClaimSpec): void {
  claim.volumeMode ??= 'Filesystem';
}

/** Violations of a reference to the object that a volume is filled from. */
function validateDataSource(
  source: TypedLocalObjectReference | TypedObjectReference | undefined,
  field: string,
  anyGroup: boolean,
): Violation[] {
  if (!source) return [];
  const [group, kind] = [source.apiGroup ?? '', source.kind];
  return [
    ...validateRequired(source, 'name', `${field}.name`),
    ...validateRequired(source, 'kind', `${field}.kind`),
    ...(group === '' && kind !== 'PersistentVolumeClaim'
      ? [invalid(field, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup")]
      : []),
    ...('namespace' in source ? validateLabelIfSet(source, 'namespace', `${field}.namespace`) : []),
    ...(anyGroup ? [] : validateSubdomainIfSet(source, 'apiGroup', `${field}.apiGroup`)),
  ];
}

/** Whether a stored claim has a source with a group, whose form was not always validated. */
const hasSourceGroup = (spec: PersistentVolumeClaimSpec | undefined): boolean =>
  (['dataSource', 'dataSourceRef'] as const).some(member => (spec?.[member]?.apiGroup ?? '') !== '');

/** A source whose group is always set: null if it has none. */
const withGroup = (source: Partial<TypedLocalObjectReference>): object => ({
  ...source,
  apiGroup: source.apiGroup ?? null,
});

/** Violations of the spec of a claim, including one in a template; `field` is the spec, `old` that of an update. */
export function validateClaimSpec(
  spec: PersistentVolumeClaimSpec,
  field: string,
  old?: PersistentVolumeClaimSpec,
): Violation[] {
  const anyGroup = hasSourceGroup(old);
  const size = spec.resources.requests?.storage;
  const storage = `${field}.resources[storage]`;
  const [source, reference] = [spec.dataSource, spec.dataSourceRef];
  const { namespace, ...local } = reference ?? {};
  const ofModes = validateAccessModes(spec, field, 'at least 1 access mode is required');
  const ofSelector = validateSelector(spec.selector, `${field}.selector`);
  const differs = source && reference && (namespace ?? '') === '' && !isUnchanged(withGroup(source), withGroup(local));
  return [
    ...((spec.accessModes ?? []).length === 0 ? [...ofModes, ...ofSelector] : [...ofSelector, ...ofModes]),
    ...(isAbsent(size)
      ? [required(storage)]
      : compareQuantities(quantityOf(size), ZERO_QUANTITY) <= 0
        ? [invalid(storage, String(size), 'must be greater than zero')]
        : []),
    ...validateSubdomainIfSet(spec, 'storageClassName', `${field}.storageClassName`),
    ...(isAbsent(spec.volumeMode)
      ? []
      : validateOneOf(spec, 'volumeMode', `${field}.volumeMode`, ['Block', 'Filesystem'])),
    ...validateDataSource(source, `${field}.dataSource`, anyGroup),
    ...validateDataSource(reference, `${field}.dataSourceRef`, anyGroup),
    ...(differs
      ? [invalid(field, new Verbatim(`field.Path{${JSON.stringify('dataSource')}}`), 'must match dataSourceRef')]
      : []),
  ];
}

/** Warnings about the spec of a claim whose size is not a whole number of bytes; `field` is the spec. */
export const claimWarnings = (spec: PersistentVolumeClaimSpec, field: string): string[] =>
  (['requests', 'limits'] as const).flatMap(member => {
    const size = spec.resources[member]?.storage;
    return isAbsent(size) || isInteger(quantityOf(size))
      ? []
      : [
          `${field}.resources.${member}[storage]: fractional byte value ${JSON.stringify(String(size))} is invalid, must be an integer`,
        ];
  });
