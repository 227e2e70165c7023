import {
  type ApiObject,
  type Controller,
  ConfigError,
  controller,
  type Host,
  type Plugin,
  Refusal,
} from '../../core/api/index.js';
import { Requests } from './requests.js';
import { WorkQueue } from './queue.js';

const NAME = 'own-service';
const SERVICES = 'core/services';
/** Port that workloads know the server by. */
const HTTPS = 443;

/** Where the server is reached from outside of itself; without an address only from this machine, and then the Service has no endpoints. */
export interface OwnServiceConfig {
  /** First address of the range that Services are given. */
  readonly clusterIP: string;
  readonly port: number;
  readonly address?: string;
}

/** Keeps the Service in `default` that workloads reach the server by, with its endpoints. */
class OwnService implements Controller {
  readonly name = NAME;
  readonly #host: Host;
  readonly #config: OwnServiceConfig;
  readonly #requests: Requests;
  readonly #queue: WorkQueue;

  constructor(host: Host, config: OwnServiceConfig) {
    this.#host = host;
    this.#config = config;
    this.#requests = new Requests(host, NAME);
    this.#queue = new WorkQueue({ name: NAME, log: host.log, workers: 1, handle: () => this.#reconcile() });
    host.onClose(() => this.#queue.close());
  }

  async start(): Promise<void> {
    const { product } = this.#host.naming;
    this.#host.watch(({ storageName, type, namespace, name }) => {
      const own = storageName === SERVICES && type === 'DELETED' && namespace === 'default' && name === product;
      const born = storageName === 'core/namespaces' && type === 'ADDED' && name === 'default';
      if (own || born) this.#queue.add(product);
    });
    await this.#queue.idle();
  }

  async #reconcile(): Promise<void> {
    const { clusterIP, port, address } = this.#config;
    const { naming } = this.#host;
    const name = naming.product;
    const https = { name: 'https', protocol: 'TCP' };
    await this.#create('/api/v1', 'services', {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, labels: { component: 'apiserver', provider: name } },
      spec: { clusterIP, ports: [{ ...https, port: HTTPS, targetPort: port }], sessionAffinity: 'None', type: 'ClusterIP' },
    });
    if (!address) return;
    await this.#create('/api/v1', 'endpoints', {
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { name, labels: { [naming.label('endpointslice.orchestrator.io/skip-mirror')]: 'true' } },
      subsets: [{ addresses: [{ ip: address }], ports: [{ ...https, port }] }],
    });
    const discovery = naming.apiVersion('discovery.orchestrator.io/v1');
    await this.#create(`/apis/${discovery}`, 'endpointslices', {
      apiVersion: discovery,
      kind: 'EndpointSlice',
      metadata: { name, labels: { [naming.label('orchestrator.io/service-name')]: name } },
      addressType: address.includes(':') ? 'IPv6' : 'IPv4',
      endpoints: [{ addresses: [address], conditions: { ready: true } }],
      ports: [{ ...https, port }],
    });
  }

  /** Creates what is not there. What is refused for good, as an address that the Service of another naming has, is not tried again. */
  async #create(prefix: string, plural: string, object: { readonly [member: string]: unknown }): Promise<void> {
    const path = `${prefix}/namespaces/default/${plural}`;
    if (await this.#requests.get(`${path}/${this.#host.naming.product}`)) return;
    try {
      await this.#requests.create(path, object as unknown as ApiObject);
    } catch (error) {
      if (!(error instanceof Refusal) || error.reason !== 'Invalid') throw error;
      this.#host.log.warn({ plural, error: error.message }, 'workloads will not find the server by its Service');
    }
  }
}

/** Checks the configuration, which the server fills in itself. */
function parse(config: unknown): OwnServiceConfig {
  const { clusterIP, port, address } = (config ?? {}) as Partial<OwnServiceConfig>;
  if (typeof clusterIP !== 'string') throw new ConfigError('config.clusterIP', 'must be an address');
  if (typeof port !== 'number') throw new ConfigError('config.port', 'must be a port');
  return { clusterIP, port, ...(address === undefined ? {} : { address }) };
}

/** Creates the server's own Service at the start, and again when it is deleted. */
export const ownService = {
  name: 'controllers/own-service',
  parse,
  contribute: config => [controller.of(host => new OwnService(host, config))],
} satisfies Plugin<OwnServiceConfig>;
