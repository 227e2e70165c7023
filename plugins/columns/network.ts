import type { Column } from '../../core/api/strategy.js';
import {
  AGE,
  at,
  type Cell,
  column,
  joined,
  list,
  member,
  NAME,
  num,
  selectorText,
  shortList,
  str,
  text,
  wide,
} from './cells.js';

/** Most entries of a list that one cell shows. */
const MOST = 3;

/** Addresses that a load balancer reports, each once and sorted. */
const balancerAddresses = (object: unknown): string[] => [
  ...new Set(
    list(at(object, 'status', 'loadBalancer', 'ingress'))
      .map(entry => str(member(entry, 'ip')) || str(member(entry, 'hostname')))
      .filter(address => address !== '')
      .sort(),
  ),
];

const externalAddress: Cell = service => {
  const external = list(at(service, 'spec', 'externalIPs')).map(str);
  switch (at(service, 'spec', 'type')) {
    case 'ClusterIP':
    case 'NodePort':
      return external.join(',') || '<none>';
    case 'LoadBalancer':
      return [...balancerAddresses(service), ...external].join(',') || '<pending>';
    case 'ExternalName':
      return str(at(service, 'spec', 'externalName'));
    default:
      return '<unknown>';
  }
};

const servicePorts: Cell = service =>
  list(at(service, 'spec', 'ports'))
    .map(port => {
      const nodePort = num(member(port, 'nodePort'));
      return `${num(member(port, 'port'))}${nodePort > 0 ? `:${nodePort}` : ''}/${str(member(port, 'protocol'))}`;
    })
    .join(',') || '<none>';

const withPort = (ip: string, port: number): string => (ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`);

const endpoints: Cell = object => {
  const shown: string[] = [];
  const subsets = list(member(object, 'subsets'));
  for (const subset of subsets) {
    const ips = list(member(subset, 'addresses')).map(address => str(member(address, 'ip')));
    const ports = list(member(subset, 'ports'));
    if (ports.length === 0) shown.push(...ips);
    for (const port of ports) shown.push(...ips.map(ip => withPort(ip, num(member(port, 'port')))));
  }
  return shortList(shown, MOST, subsets.length === 0 ? '<none>' : '');
};

const slicePorts: Cell = object =>
  shortList(
    list(member(object, 'ports')).map(port => {
      const number = member(port, 'port');
      return typeof number === 'number' ? String(number) : str(member(port, 'name') ?? '*');
    }),
    MOST,
    '<unset>',
  ) || '<unset>';

const sliceAddresses: Cell = object =>
  shortList(
    list(member(object, 'endpoints')).flatMap(endpoint => list(member(endpoint, 'addresses')).map(str)),
    MOST,
    '<unset>',
  );

/** The first hosts; what is not shown is counted in rules, with a host or without. */
const ingressHosts: Cell = object => {
  const hosts = list(at(object, 'spec', 'rules')).map(rule => str(member(rule, 'host')));
  const shown: string[] = [];
  for (const host of hosts) {
    if (shown.length === MOST) return `${shown.join(',')} + ${hosts.length - MOST} more...`;
    if (host !== '') shown.push(host);
  }
  return shown.join(',') || '*';
};

const classParameters: Cell = object => {
  const parameters = at(object, 'spec', 'parameters');
  if (parameters === undefined || parameters === null) return '<none>';
  const group = str(member(parameters, 'apiGroup'));
  return `${str(member(parameters, 'kind'))}${group ? `.${group}` : ''}/${str(member(parameters, 'name'))}`;
};

const parentRef: Cell = object => {
  const parent = at(object, 'spec', 'parentRef');
  if (parent === undefined || parent === null) return '';
  const group = str(member(parent, 'group'));
  const namespace = str(member(parent, 'namespace'));
  return `${str(member(parent, 'resource'))}${group ? `.${group}` : ''}/${namespace ? `${namespace}/` : ''}${str(member(parent, 'name'))}`;
};

/** Columns of kinds around the network, by storage name. */
export const NETWORK: ReadonlyMap<string, readonly Column[]> = new Map([
  [
    'core/services',
    [
      NAME,
      column('Type', text('spec.type')),
      column(
        'Cluster-IP',
        object => str(list(at(object, 'spec', 'clusterIPs'))[0]) || str(at(object, 'spec', 'clusterIP')) || '<none>',
      ),
      column('External-IP', externalAddress),
      column('Port(s)', servicePorts),
      AGE,
      wide('Selector', object => selectorText(at(object, 'spec', 'selector'))),
    ],
  ],
  ['core/endpoints', [NAME, column('Endpoints', endpoints), AGE]],
  [
    'discovery.orchestrator.io/endpointslices',
    [
      NAME,
      column('AddressType', text('addressType')),
      column('Ports', slicePorts),
      column('Endpoints', sliceAddresses),
      AGE,
    ],
  ],
  [
    'networking.orchestrator.io/ingresses',
    [
      NAME,
      column('Class', text('spec.ingressClassName', '<none>')),
      column('Hosts', ingressHosts),
      column('Address', object => balancerAddresses(object).join(',')),
      column('Ports', object => (list(at(object, 'spec', 'tls')).length > 0 ? '80, 443' : '80')),
      AGE,
    ],
  ],
  [
    'networking.orchestrator.io/ingressclasses',
    [NAME, column('Controller', text('spec.controller')), column('Parameters', classParameters), AGE],
  ],
  [
    'networking.orchestrator.io/networkpolicies',
    [NAME, column('Pod-Selector', object => selectorText(at(object, 'spec', 'podSelector'))), AGE],
  ],
  ['networking.orchestrator.io/ipaddresses', [NAME, column('ParentRef', parentRef)]],
  ['networking.orchestrator.io/servicecidrs', [NAME, column('CIDRs', joined('spec.cidrs')), AGE]],
]);
