import type { Strategy } from '../../../core/api/strategy.js';
import { dns1123Label, dns1123Subdomain, qualifiedName } from '../../../core/model/names.js';
import type { ApiObject } from '../../../core/model/object.js';
import { required, type Violation } from '../../../core/model/refusal.js';
import { absent, fill, list, num, type Rec, same, text } from '../record.js';
import { nonSpecialIp } from '../validation/addresses.js';
import { complaints, ifSet, ipText, oneOf, portNumber } from '../validation/checks.js';

const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];

function addressViolations(address: Rec, field: string): Violation[] {
  const ip = text(address, 'ip');
  const found = complaints(`${field}.ip`, ip, ipText(ip));
  found.push(...ifSet(address, 'hostname', `${field}.hostname`, dns1123Label));
  if (!absent(address.nodeName)) {
    const node = text(address, 'nodeName');
    found.push(...complaints(`${field}.nodeName`, node, dns1123Subdomain(node)));
  }
  return [...found, ...nonSpecialIp(ip, `${field}.ip`)];
}

/** A port; one of several needs a name. */
function portViolations(port: Rec, named: boolean, field: string): Violation[] {
  const found: Violation[] = [];
  const name = text(port, 'name');
  if (name !== '') found.push(...complaints(`${field}.name`, name, dns1123Label(name)));
  else if (named) found.push(required(`${field}.name`));
  const number = num(port, 'port') ?? 0;
  found.push(...complaints(`${field}.port`, number, portNumber(number)));
  found.push(...oneOf(port, 'protocol', `${field}.protocol`, PROTOCOLS));
  return [...found, ...ifSet(port, 'appProtocol', `${field}.appProtocol`, qualifiedName)];
}

function subsetViolations(object: ApiObject): Violation[] {
  return list(object, 'subsets').flatMap((subset, i) => {
    const field = `subsets[${i}]`;
    const [addresses, others, ports] = [
      list(subset, 'addresses'),
      list(subset, 'notReadyAddresses'),
      list(subset, 'ports'),
    ];
    const none = addresses.length === 0 && others.length === 0;
    return [
      ...(none ? [required(field, 'must specify `addresses` or `notReadyAddresses`')] : []),
      ...addresses.flatMap((address, j) => addressViolations(address, `${field}.addresses[${j}]`)),
      ...others.flatMap((address, j) => addressViolations(address, `${field}.notReadyAddresses[${j}]`)),
      ...ports.flatMap((port, j) => portViolations(port, ports.length > 1, `${field}.ports[${j}]`)),
    ];
  });
}

/** Rules of Endpoints. */
export const endpoints = (): Partial<Strategy> => ({
  createOnUpdate: true,
  defaults: object => {
    for (const subset of list(object, 'subsets'))
      for (const port of list(subset, 'ports')) fill(port, 'protocol', 'TCP');
  },
  validateCreate: subsetViolations,
  validateUpdate: (object, old) => (same(object.subsets, old.subsets) ? [] : subsetViolations(object)),
});
