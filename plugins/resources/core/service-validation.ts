import type { ApiObject } from '../../../core/model/object.js';
import { invalid, type Violation } from '../../../core/model/refusal.js';
import { at, strings, text } from '../record.js';
import { hasClusterIP } from './service-fields.js';

/** What is wrong with a Service, before anything is allocated. */
export function serviceViolations(object: ApiObject): Violation[] {
  const spec = at(object, 'spec');
  const found: Violation[] = [];
  const [one, all] = [text(spec, 'clusterIP'), strings(spec, 'clusterIPs')];
  if (all.length > 0 && one === '')
    found.push(invalid('spec.clusterIPs', all, 'must be empty when `clusterIP` is not specified'));
  else if (all.length > 0 && all[0] !== one) found.push(invalid('spec.clusterIP', all, 'first value must match `clusterIP`'));
  return found;
}

/** What an update may not do: addresses stay once they are given. */
export function serviceUpdateViolations(object: ApiObject, old: ApiObject): Violation[] {
  const [now, before] = [at(object, 'spec'), at(old, 'spec')];
  const found = serviceViolations(object);
  const [address, earlier] = [strings(now, 'clusterIPs'), strings(before, 'clusterIPs')];
  if (hasClusterIP(now) && hasClusterIP(before) && earlier[0] && address[0] !== earlier[0]) {
    found.push(invalid('spec.clusterIPs[0]', address, 'may not change once set'));
  }
  return found;
}
