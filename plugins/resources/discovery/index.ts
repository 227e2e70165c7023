import type { Strategy } from '../../../core/api/strategy.js';
import { dns1123Label, dns1123Subdomain, labelValue, qualifiedName } from '../../../core/model/names.js';
import type { ApiObject } from '../../../core/model/object.js';
import { duplicate, notSupported, required, tooMany, type Violation } from '../../../core/model/refusal.js';
import { absent, at, fill, list, type Rec, strings, text } from '../record.js';
import type { KindTable } from '../strategies.js';
import { fullDomainName, ipOfFamily, nonSpecialIp } from '../validation/addresses.js';
import { complaints, ifSet, oneOf } from '../validation/checks.js';
import { fixed } from '../validation/workload.js';

const ADDRESS_TYPES = ['FQDN', 'IPv4', 'IPv6'];
const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];
const MOST_ENDPOINTS = 1000;
const MOST_ADDRESSES = 100;
const MOST_PORTS = 20000;
const MOST_ZONES = 8;

function typeViolations(type: string): Violation[] {
  if (type === '') return [required('addressType')];
  return ADDRESS_TYPES.includes(type) ? [] : [notSupported('addressType', type, ADDRESS_TYPES)];
}

function addressViolations(address: string, type: string, field: string): Violation[] {
  if (type === 'IPv4') return [...ipOfFamily(address, 4, field), ...nonSpecialIp(address, field)];
  if (type === 'IPv6') return [...ipOfFamily(address, 6, field), ...nonSpecialIp(address, field)];
  return type === 'FQDN' ? fullDomainName(address, field) : [];
}

function zoneViolations(zones: readonly Rec[], field: string): Violation[] {
  if (zones.length > MOST_ZONES) return [tooMany(field, zones.length, MOST_ZONES)];
  const seen = new Set<string>();
  return zones.flatMap((zone, i) => {
    const name = text(zone, 'name');
    const found = seen.has(name) ? [duplicate(`${field}[${i}].name`, name)] : [];
    seen.add(name);
    return [...found, ...complaints(`${field}[${i}].name`, name, labelValue(name))];
  });
}

function endpointViolations(endpoint: Rec, type: string, field: string): Violation[] {
  const addresses = strings(endpoint, 'addresses');
  const found: Violation[] = [];
  if (addresses.length === 0) found.push(required(`${field}.addresses`, 'must contain at least 1 address'));
  if (addresses.length > MOST_ADDRESSES) found.push(tooMany(`${field}.addresses`, addresses.length, MOST_ADDRESSES));
  found.push(...addresses.flatMap((address, i) => addressViolations(address, type, `${field}.addresses[${i}]`)));
  for (const [member, check] of [
    ['nodeName', dns1123Subdomain],
    ['hostname', dns1123Label],
  ] as const) {
    const value = text(endpoint, member);
    if (!absent(endpoint[member])) found.push(...complaints(`${field}.${member}`, value, check(value)));
  }
  const hints = at(endpoint, 'hints');
  return hints ? [...found, ...zoneViolations(list(hints, 'forZones'), `${field}.hints.forZones`)] : found;
}

function portViolations(ports: readonly Rec[]): Violation[] {
  if (ports.length > MOST_PORTS) return [tooMany('ports', ports.length, MOST_PORTS)];
  const seen = new Set<string>();
  return ports.flatMap((port, i) => {
    const field = `ports[${i}]`;
    const name = text(port, 'name');
    const found = ifSet(port, 'name', `${field}.name`, dns1123Label);
    if (seen.has(name)) found.push(duplicate(`${field}.name`, name));
    seen.add(name);
    found.push(...oneOf(port, 'protocol', `${field}.protocol`, PROTOCOLS));
    return [...found, ...ifSet(port, 'appProtocol', `${field}.appProtocol`, qualifiedName)];
  });
}

function sliceViolations(object: ApiObject): Violation[] {
  const type = text(object, 'addressType');
  const endpoints = list(object, 'endpoints');
  return [
    ...typeViolations(type),
    ...(endpoints.length > MOST_ENDPOINTS
      ? [tooMany('endpoints', endpoints.length, MOST_ENDPOINTS)]
      : endpoints.flatMap((endpoint, i) => endpointViolations(endpoint, type, `endpoints[${i}]`))),
    ...portViolations(list(object, 'ports')),
  ];
}

/** The stable version has no topology: nodes and zones have members of their own. */
const dropTopology = (object: ApiObject): void => {
  for (const endpoint of Array.isArray(object.endpoints) ? (object.endpoints as Rec[]) : [])
    delete endpoint.deprecatedTopology;
};

const endpointSlice = (): Partial<Strategy> => ({
  hasGeneration: true,
  defaults: object => {
    for (const port of list(object, 'ports')) {
      fill(port, 'name', '');
      fill(port, 'protocol', 'TCP');
    }
  },
  prepareCreate: dropTopology,
  prepareUpdate: dropTopology,
  validateCreate: sliceViolations,
  validateUpdate: (object, old) => [...sliceViolations(object), ...fixed(object, old, 'addressType', 'addressType')],
});

/** Kinds of the discovery group. */
export const discoveryKinds: KindTable = { 'discovery.orchestrator.io/endpointslices': endpointSlice };
