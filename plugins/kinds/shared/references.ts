import { dns1123Subdomain, pathSegment } from '../../../core/model/names.js';
import { stringAt, type UnknownRecord } from '../../../core/model/record.js';
import { required, type Violation } from '../../../core/model/refusal.js';
import { toViolations, validatePresent } from './violations.js';

/** Checks that a member of a reference is set and is a path segment. */
export function validateSegment(reference: unknown, member: string, field: string): Violation[] {
  const value = stringAt(reference, member);
  return value === ''
    ? [required(`${field}.${member}`, `${member} is required`)]
    : toViolations(`${field}.${member}`, value, pathSegment(value));
}

/** Checks a reference to an object by group, kind and name. The group may be absent, but not empty. */
export const validateTypedReference = (reference: UnknownRecord, field: string): Violation[] => [
  ...validatePresent(reference, 'apiGroup', `${field}.apiGroup`, dns1123Subdomain),
  ...validateSegment(reference, 'kind', field),
  ...validateSegment(reference, 'name', field),
];
