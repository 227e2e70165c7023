import type { PersistentVolumeClaimSpec, PersistentVolumeSpec } from '../../../../kinds/v1.js';
import { forbiddenField, notSupported, required, type Violation } from '../../../../core/model/refusal.js';

const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];

/** The mode that no other one may be used with. */
const ALONE = 'ReadWriteOncePod';

/**
 * Violations of the access modes in the spec of a volume or claim; `field` is the spec. `noAccessMode` is the detail of
 * the message if there is no access mode.
 */
export function validateAccessModes(
  spec: Pick<PersistentVolumeClaimSpec | PersistentVolumeSpec, 'accessModes'>,
  field: string,
  noAccessMode = '',
): Violation[] {
  const modes = spec.accessModes ?? [];
  return [
    ...(modes.length === 0 ? [required(`${field}.accessModes`, noAccessMode)] : []),
    ...modes
      .filter(mode => !ACCESS_MODES.includes(mode))
      .map(mode => notSupported(`${field}.accessModes`, mode, ACCESS_MODES)),
    ...(modes.includes(ALONE) && modes.some(mode => mode !== ALONE && ACCESS_MODES.includes(mode))
      ? [forbiddenField(`${field}.accessModes`, 'may not use ReadWriteOncePod with other access modes')]
      : []),
  ];
}
