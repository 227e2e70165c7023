import { qualifiedName } from '../../../../core/model/names.js';
import type { Naming } from '../../../../core/naming.js';

/** Whether a resource is an extended one: its name has a domain that is not the system's. */
export const isDeviceResource = (name: string, { label }: Naming): boolean =>
  name.includes('/') &&
  !name.includes(label('orchestrator.io/')) &&
  !name.startsWith('requests.') &&
  qualifiedName(`requests.${name}`).length === 0;
