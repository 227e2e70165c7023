import type { EndpointSlice, EndpointPort, Endpoint, ForZone } from '../../../kinds/discovery/v1.js';
import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import { dns1123Label, dns1123Subdomain, labelValue, qualifiedName } from '../../../core/model/names.js';
import { isAbsent, isDeepEqual, isSemanticallyEqual, type UnknownRecord } from '../../../core/model/record.js';
import { duplicate, notSupported, required, tooMany, type Violation } from '../../../core/model/refusal.js';
import { AGE, type Cell, column, MOST_SHOWN, NAME, shortList } from '../shared/columns.js';
import { validateFullDomainName, validateIpOfFamily, validateNonSpecialIp } from '../shared/ipAddresses.js';
import {
  toViolations,
  validateImmutable,
  validateIfSet,
  validateOneOf,
  validatePresent,
} from '../shared/violations.js';
import { setIfAbsent } from '../shared/values/defaults.js';

const ADDRESS_TYPES = ['FQDN', 'IPv4', 'IPv6'];

const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];

const MOST_ENDPOINTS = 1000;

const MOST_ADDRESSES = 100;

const MOST_PORTS = 20000;

const MOST_ZONES = 8;

function validateAddressType(type: string): Violation[] {
  if (type === '') return [required('addressType')];
  return ADDRESS_TYPES.includes(type) ? [] : [notSupported('addressType', type, ADDRESS_TYPES)];
}

function validateAddress(address: string, type: string, field: string): Violation[] {
  if (type === 'IPv4') return [...validateIpOfFamily(address, 4, field), ...validateNonSpecialIp(address, field)];
  if (type === 'IPv6') return [...validateIpOfFamily(address, 6, field), ...validateNonSpecialIp(address, field)];
  return type === 'FQDN' ? validateFullDomainName(address, field) : [];
}

function validateZones(zones: readonly ForZone[], field: string): Violation[] {
  if (zones.length > MOST_ZONES) return [tooMany(field, zones.length, MOST_ZONES)];
  const seen = new Set<string>();
  return zones.flatMap((zone, i) => {
    const name = zone.name;
    const found = seen.has(name) ? [duplicate(`${field}[${i}].name`, name)] : [];
    seen.add(name);
    return [...found, ...toViolations(`${field}[${i}].name`, name, labelValue(name))];
  });
}

function validateEndpoint(endpoint: Endpoint, type: string, field: string): Violation[] {
  const addresses = endpoint.addresses ?? [];
  const found: Violation[] = [];
  if (addresses.length === 0) found.push(required(`${field}.addresses`, 'must contain at least 1 address'));
  if (addresses.length > MOST_ADDRESSES) found.push(tooMany(`${field}.addresses`, addresses.length, MOST_ADDRESSES));
  found.push(...addresses.flatMap((address, i) => validateAddress(address, type, `${field}.addresses[${i}]`)));
  for (const [member, check] of [
    ['nodeName', dns1123Subdomain],
    ['hostname', dns1123Label],
  ] as const) {
    const value = endpoint[member] ?? '';
    if (!isAbsent(endpoint[member])) found.push(...toViolations(`${field}.${member}`, value, check(value)));
  }
  const hints = endpoint.hints;
  return hints ? [...found, ...validateZones(hints.forZones ?? [], `${field}.hints.forZones`)] : found;
}

function validatePorts(ports: readonly EndpointPort[]): Violation[] {
  if (ports.length > MOST_PORTS) return [tooMany('ports', ports.length, MOST_PORTS)];
  const seen = new Set<string>();
  return ports.flatMap((port, i) => {
    const field = `ports[${i}]`;
    const name = port.name ?? '';
    const found = validateIfSet(port, 'name', `${field}.name`, dns1123Label);
    if (seen.has(name)) found.push(duplicate(`${field}.name`, name));
    seen.add(name);
    found.push(...validateOneOf(port, 'protocol', `${field}.protocol`, PROTOCOLS));
    return [...found, ...validatePresent(port, 'appProtocol', `${field}.appProtocol`, qualifiedName)];
  });
}

function validateEndpointSlice(object: EndpointSlice): Violation[] {
  const type = object.addressType;
  const endpoints = object.endpoints ?? [];
  return [
    ...validateAddressType(type),
    ...(endpoints.length > MOST_ENDPOINTS
      ? [tooMany('endpoints', endpoints.length, MOST_ENDPOINTS)]
      : endpoints.flatMap((endpoint, i) => validateEndpoint(endpoint, type, `endpoints[${i}]`))),
    ...validatePorts(object.ports ?? []),
  ];
}

const withoutMetadata = ({ metadata: _metadata, ...content }: EndpointSlice): object => content;

/** The stable version has no topology: nodes and zones have their own fields. */
const dropTopology = (object: EndpointSlice): void => {
  for (const endpoint of Array.isArray(object.endpoints) ? (object.endpoints as UnknownRecord[]) : [])
    delete endpoint.deprecatedTopology;
};

/** The generation also counts changes of labels, by which consumers find the slices of a service. */
const isChanged = (object: EndpointSlice, old: EndpointSlice): boolean =>
  !isDeepEqual(withoutMetadata(object), withoutMetadata(old)) ||
  !isSemanticallyEqual(object.metadata.labels, old.metadata.labels);

const slicePorts: Cell<EndpointSlice> = object =>
  shortList(
    (object.ports ?? []).map(port => {
      const number = port.port;
      return typeof number === 'number' ? String(number) : (port.name ?? '*');
    }),
    MOST_SHOWN,
    '<unset>',
  ) || '<unset>';

const sliceAddresses: Cell<EndpointSlice> = object =>
  shortList(
    (object.endpoints ?? []).flatMap(endpoint => endpoint.addresses ?? []),
    MOST_SHOWN,
    '<unset>',
  );

const COLUMNS: readonly Column<EndpointSlice>[] = [
  NAME,
  column('AddressType', object => object.addressType),
  column('Ports', slicePorts),
  column('Endpoints', sliceAddresses),
  AGE,
];

/** EndpointSlice. Its address type is immutable. */
export const endpointSlice = builtInKind<EndpointSlice>('discovery.orchestrator.io/endpointslices', () => ({
  revalidatesName: 'first',
  applyDefaults: object => {
    for (const port of object.ports ?? []) {
      setIfAbsent(port, 'name', '');
      setIfAbsent(port, 'protocol', 'TCP');
    }
  },
  prepareCreate: object => {
    object.metadata.generation = 1;
    dropTopology(object);
  },
  // A topology that was sent counts as a change, and is then dropped.
  prepareUpdate: (object, old) => {
    if (isChanged(object, old)) object.metadata.generation = (old.metadata.generation ?? 0) + 1;
    dropTopology(object);
  },
  validateCreate: (object, { warn }) => {
    if (object.addressType === 'FQDN') warn?.('spec.addressType: FQDN endpoints are deprecated');
    return validateEndpointSlice(object);
  },
  validateUpdate: (object, old) => [
    ...validateEndpointSlice(object),
    ...validateImmutable(object, old, 'addressType', 'addressType'),
  ],
  columns: COLUMNS,
}));
