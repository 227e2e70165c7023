import type { Endpoints, EndpointPort, EndpointAddress } from '../../../kinds/v1.js';
import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import { dns1123Label, dns1123Subdomain, qualifiedName } from '../../../core/model/names.js';
import { isAbsent, isDeepEqual, setDefault } from '../../../core/model/record.js';
import { required, type Violation } from '../../../core/model/refusal.js';
import { AGE, type Cell, column, MOST_SHOWN, NAME, shortList } from '../shared/columns.js';
import { ipComplaints, validateNonSpecialIp } from '../shared/ipAddresses.js';
import { portNumberComplaints } from '../shared/ports.js';
import { toViolations, validateIfSet, validateOneOf, validatePresent } from '../shared/violations.js';

const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];

function validateAddress(address: EndpointAddress, field: string): Violation[] {
  const ip = address.ip;
  const found = toViolations(`${field}.ip`, ip, ipComplaints(ip));
  found.push(...validateIfSet(address, 'hostname', `${field}.hostname`, dns1123Label));
  if (!isAbsent(address.nodeName)) {
    const node = address.nodeName;
    found.push(...toViolations(`${field}.nodeName`, node, dns1123Subdomain(node)));
  }
  return [...found, ...validateNonSpecialIp(ip, `${field}.ip`)];
}

/** `named`: the port needs a name, because there are several. */
function validatePort(port: EndpointPort, named: boolean, field: string): Violation[] {
  const found: Violation[] = [];
  const name = port.name ?? '';
  if (name !== '') found.push(...toViolations(`${field}.name`, name, dns1123Label(name)));
  else if (named) found.push(required(`${field}.name`));
  const number = port.port;
  found.push(...toViolations(`${field}.port`, number, portNumberComplaints(number)));
  found.push(...validateOneOf(port, 'protocol', `${field}.protocol`, PROTOCOLS));
  return [...found, ...validatePresent(port, 'appProtocol', `${field}.appProtocol`, qualifiedName)];
}

/** Validates all subsets. */
function validateSubsets(object: Endpoints): Violation[] {
  return (object.subsets ?? []).flatMap((subset, i) => {
    const field = `subsets[${i}]`;
    const [addresses, others, ports] = [subset.addresses ?? [], subset.notReadyAddresses ?? [], subset.ports ?? []];
    const none = addresses.length === 0 && others.length === 0;
    return [
      ...(none ? [required(field, 'must specify `addresses` or `notReadyAddresses`')] : []),
      ...addresses.flatMap((address, j) => validateAddress(address, `${field}.addresses[${j}]`)),
      ...others.flatMap((address, j) => validateAddress(address, `${field}.notReadyAddresses[${j}]`)),
      ...ports.flatMap((port, j) => validatePort(port, ports.length > 1, `${field}.ports[${j}]`)),
    ];
  });
}

const withPort = (ip: string, port: number): string => (ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`);

/** The first addresses, each with its port. */
const addressesCell: Cell<Endpoints> = object => {
  const shown: string[] = [];
  const subsets = object.subsets ?? [];
  for (const subset of subsets) {
    const ips = (subset.addresses ?? []).map(address => address.ip);
    const ports = subset.ports ?? [];
    if (ports.length === 0) shown.push(...ips);
    for (const port of ports) shown.push(...ips.map(ip => withPort(ip, port.port)));
  }
  return shortList(shown, MOST_SHOWN, subsets.length === 0 ? '<none>' : '');
};

const COLUMNS: readonly Column<Endpoints>[] = [NAME, column('Endpoints', addressesCell), AGE];

/** Endpoints. An update is validated only if the subsets have changed. */
export const endpoints = builtInKind<Endpoints>('core/endpoints', () => ({
  revalidatesName: true,
  storePath: 'services/endpoints',
  allowCreateOnUpdate: true,
  applyDefaults: object => {
    for (const subset of object.subsets ?? [])
      for (const port of subset.ports ?? []) setDefault(port, 'protocol', 'TCP');
  },
  validateCreate: validateSubsets,
  validateUpdate: (object, old) => (isDeepEqual(object.subsets, old.subsets) ? [] : validateSubsets(object)),
  columns: COLUMNS,
}));
