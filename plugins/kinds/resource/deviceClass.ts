import type { DeviceClass } from '../../../kinds/resource/v1beta1.js';
import { builtInKind } from '../../../core/api/resource.js';
import { NAME_AND_AGE } from '../shared/columns.js';

/** DeviceClass. */
export const deviceClass = builtInKind<DeviceClass>('resource.orchestrator.io/deviceclasses', () => ({
  returnsDeletedObject: true,
  hasGeneration: true,
  columns: NAME_AND_AGE,
}));
