import {
  type ApiObject,
  ConfigError,
  controller,
  type Frozen,
  type Host,
  type Plugin,
} from '../../../core/api/index.js';
import { type DesiredObject, desiredObjects } from '../desiredObjects.js';

/** Port of the Service. */
const HTTPS = 443;

/**
 * The address of the server. Without `address` the server is local to its machine, and the Service has no endpoints.
 */
export interface OwnServiceConfig {
  /** The first address of the Service network. */
  readonly clusterIP: string;
  readonly port: number;
  readonly address?: string;
}

type Members = { readonly [member: string]: unknown };

/** Whether `found` includes all members of `wanted`, recursively. */
function includesAll(found: unknown, wanted: unknown): boolean {
  if (typeof wanted !== 'object' || wanted === null) return found === wanted;
  if (typeof found !== 'object' || found === null) return false;
  if (Array.isArray(wanted) && (found as readonly unknown[]).length !== wanted.length) return false;
  return Object.entries(wanted).every(([key, value]) => includesAll((found as Members)[key], value));
}

/** An object with members that are updated if they differ, since the server's address may change between starts. */
function desiredObject(
  storageName: string,
  object: ApiObject,
  members: (found: Frozen<ApiObject>) => Members,
): DesiredObject {
  return {
    storageName,
    object: { ...object, ...members(object) },
    repair: found => (includesAll(found, members(found)) ? undefined : { ...found, ...members(found) }),
  };
}

/** The Service of the server itself, with Endpoints and EndpointSlice if it has an address. */
function ownObjects({ naming }: Host<'control'>, { clusterIP, port, address }: OwnServiceConfig): DesiredObject[] {
  const name = naming.product;
  const metadata = { name, namespace: 'default' };
  const https = { name: 'https', protocol: 'TCP' };
  const service = desiredObject(
    'core/services',
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { ...metadata, labels: { component: 'apiserver', provider: name } },
      spec: { clusterIP, sessionAffinity: 'None', type: 'ClusterIP' },
    },
    ({ spec }) => ({ spec: { ...(spec as Members), ports: [{ ...https, port: HTTPS, targetPort: port }] } }),
  );
  if (!address) return [service];
  const discovery = naming.apiVersion('discovery.orchestrator.io/v1');
  return [
    service,
    desiredObject(
      'core/endpoints',
      {
        apiVersion: 'v1',
        kind: 'Endpoints',
        metadata: { ...metadata, labels: { [naming.label('endpointslice.orchestrator.io/skip-mirror')]: 'true' } },
      },
      () => ({ subsets: [{ addresses: [{ ip: address }], ports: [{ ...https, port }] }] }),
    ),
    desiredObject(
      'discovery.orchestrator.io/endpointslices',
      {
        apiVersion: discovery,
        kind: 'EndpointSlice',
        metadata: { ...metadata, labels: { [naming.label('orchestrator.io/service-name')]: name } },
        addressType: address.includes(':') ? 'IPv6' : 'IPv4',
      },
      () => ({ endpoints: [{ addresses: [address], conditions: { ready: true } }], ports: [{ ...https, port }] }),
    ),
  ];
}

/** Parses the configuration, which the server generates. */
function parse(config: unknown): OwnServiceConfig {
  const { clusterIP, port, address } = (config ?? {}) as Partial<OwnServiceConfig>;
  if (typeof clusterIP !== 'string') throw new ConfigError('config.clusterIP', 'must be an address');
  if (typeof port !== 'number') throw new ConfigError('config.port', 'must be a port');
  return { clusterIP, port, ...(address === undefined ? {} : { address }) };
}

/** Maintains the server's own Service and its endpoints. */
export const ownService = {
  name: 'controllers/own-service',
  parse,
  contribute: config => [controller.of(host => desiredObjects(host, 'own-service', ownObjects(host, config)))],
} satisfies Plugin<OwnServiceConfig>;
