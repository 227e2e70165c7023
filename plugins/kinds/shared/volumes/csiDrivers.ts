import { dns1123Subdomain } from '../../../../core/model/names.js';
import { required, tooLong, type Violation } from '../../../../core/model/refusal.js';
import { toViolations } from '../violations.js';

/** The largest length of the name of a CSI driver, in bytes. */
const LONGEST_NAME = 63;

/** Checks the name of a CSI driver. */
export function validateDriverName(name: string, field: string): Violation[] {
  return [
    ...(name === '' ? [required(field)] : []),
    ...(Buffer.byteLength(name) > LONGEST_NAME ? [tooLong(field, LONGEST_NAME)] : []),
    ...toViolations(field, name, dns1123Subdomain(name.toLowerCase())),
  ];
}
