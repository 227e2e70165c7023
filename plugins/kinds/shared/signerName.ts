import { dns1123Label, dns1123Subdomain } from '../../../core/model/names.js';
import { invalid, required, tooLong, type Violation } from '../../../core/model/refusal.js';

const MOST_DOMAIN = 253;

/** A domain, a slash, and a path of a resource name, a dot and a label. */
const MOST_SIGNER = 571;

/** The violations of the first invalid label of a segment. */
function validateLabels(field: string, segment: string, check: (label: string) => string[]): Violation[] {
  for (const label of segment.split('.')) {
    const found = check(label).map(why => invalid(field, segment, `validating label ${JSON.stringify(label)}: ${why}`));
    if (found.length > 0) return found;
  }
  return [];
}

/** Checks that the name of a signer is a domain and a path: `example.com/signer`. */
export function validateSigner(field: string, name: string): Violation[] {
  if (name === '') return [required(field)];
  const [domain = '', path = '', ...more] = name.split('/');
  if (more.length > 0 || !name.includes('/'))
    return [invalid(field, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")];
  return [
    ...(domain.length > MOST_DOMAIN ? [tooLong(field, MOST_DOMAIN)] : []),
    ...validateLabels(field, domain, dns1123Label),
    ...(domain.includes('.')
      ? []
      : [invalid(field, domain, 'should be a domain with at least two segments separated by dots')]),
    ...validateLabels(field, path, dns1123Subdomain),
    ...(name.length > MOST_SIGNER ? [tooLong(field, MOST_SIGNER)] : []),
  ];
}
