import { textIn, type TextMember } from './values/members.js';
import { dns1123Subdomain, pathSegment } from '../../../core/model/names.js';
import { required, type Violation } from '../../../core/model/refusal.js';
import { toViolations, validatePresent } from './violations.js';

/** Checks that a member of a reference is set and is a path segment. */
function validateSegment<T extends object>(reference: T, member: TextMember<T>, field: string): Violation[] {
  const value = textIn(reference, member);
  return value === ''
    ? [required(`${field}.${member}`, `${member} is required`)]
    : toViolations(`${field}.${member}`, value, pathSegment(value));
}

/** A reference without a version. */
interface Reference {
  readonly apiGroup?: string | null;
  readonly kind: string;
  readonly name: string;
}

/** Checks a reference to an object by group, kind and name. The group may be absent, but not empty. */
export const validateTypedReference = (reference: Reference, field: string): Violation[] => [
  ...validatePresent(reference, 'apiGroup', `${field}.apiGroup`, dns1123Subdomain),
  ...validateSegment(reference, 'kind', field),
  ...validateSegment(reference, 'name', field),
];
