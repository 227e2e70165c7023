import { type ApiObject, ConfigError, controller, type Host, type Plugin } from '../../core/api/index.js';
import { Keeper, type Kept } from './keeper.js';

/** Port that workloads know the server by. */
const HTTPS = 443;

/**
 * Where the server is reached from outside of itself; without an address only from this machine, and then the Service
 * has no endpoints.
 */
export interface OwnServiceConfig {
  /** First address of the range that Services are given. */
  readonly clusterIP: string;
  readonly port: number;
  readonly address?: string;
}

type Members = { readonly [member: string]: unknown };

/** Whether everything in `wanted` is in `found`, which may have more members. */
function covers(found: unknown, wanted: unknown): boolean {
  if (typeof wanted !== 'object' || wanted === null) return found === wanted;
  if (typeof found !== 'object' || found === null) return false;
  if (Array.isArray(wanted) && (found as readonly unknown[]).length !== wanted.length) return false;
  return Object.entries(wanted).every(([key, value]) => covers((found as Members)[key], value));
}

/**
 * An object in `default` of which some members always say where the server is now: it may have moved since they were
 * written.
 */
function current(storageName: string, object: ApiObject, members: (found: ApiObject) => Members): Kept {
  return {
    storageName,
    object: { ...object, ...members(object) },
    mended: found => (covers(found, members(found)) ? undefined : { ...found, ...members(found) }),
  };
}

/** The Service that workloads reach the server by, and its endpoints in their two forms. */
function ownObjects({ naming }: Host, { clusterIP, port, address }: OwnServiceConfig): Kept[] {
  const name = naming.product;
  const metadata = { name, namespace: 'default' };
  const https = { name: 'https', protocol: 'TCP' };
  const service = current(
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
    current(
      'core/endpoints',
      {
        apiVersion: 'v1',
        kind: 'Endpoints',
        metadata: { ...metadata, labels: { [naming.label('endpointslice.orchestrator.io/skip-mirror')]: 'true' } },
      },
      () => ({ subsets: [{ addresses: [{ ip: address }], ports: [{ ...https, port }] }] }),
    ),
    current(
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

/** Checks the configuration, which the server fills in itself. */
function parse(config: unknown): OwnServiceConfig {
  const { clusterIP, port, address } = (config ?? {}) as Partial<OwnServiceConfig>;
  if (typeof clusterIP !== 'string') throw new ConfigError('config.clusterIP', 'must be an address');
  if (typeof port !== 'number') throw new ConfigError('config.port', 'must be a port');
  return { clusterIP, port, ...(address === undefined ? {} : { address }) };
}

/** Keeps the server's own Service, and what says where it is. */
export const ownService = {
  name: 'controllers/own-service',
  parse,
  contribute: config => [controller.of(host => new Keeper(host, 'own-service', ownObjects(host, config)))],
} satisfies Plugin<OwnServiceConfig>;
