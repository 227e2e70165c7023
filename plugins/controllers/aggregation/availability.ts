import type { CertificatePair } from '../../../core/files/certificateFiles.js';
import {
  ConfigError,
  type Controller,
  type Condition,
  type ConditionUpdate,
  controller,
  type CurrentObjects,
  type Frozen,
  type Host,
  type Plugin,
  Refusal,
  reconciler,
  timestamp,
  withCondition,
} from '../../../core/api/index.js';
import { API_SERVICES, serviceOf } from '../../../core/services/aggregation/registration.js';
import { ProxyCredentials } from '../../../core/services/aggregation/proxyCredentials.js';
import {
  type AddressRules,
  mappedAddress,
  type ServicePort,
} from '../../../core/services/aggregation/serviceAddress.js';
import { discoveryFailure } from './discoveryCheck.js';

/** How often a server that is available is checked. */
const CHECK_MS = 30_000;
/** Servers checked at once: those that hang keep others from being checked for a few seconds. */
const CHECKS_AT_ONCE = 5;

/** How the servers of APIServices are reached. */
export interface AvailabilityConfig extends AddressRules {
  /** The certificate of this server for them. */
  readonly credentials?: CertificatePair | undefined;
}

const LOCAL = {
  type: 'Available',
  status: 'True',
  reason: 'Local',
  message: 'Local APIServices are always available',
} as const satisfies ConditionUpdate;

const PASSED = { type: 'Available', status: 'True', reason: 'Passed', message: 'all checks passed' } as const;

const unavailable = (reason: string, message: string): ConditionUpdate => ({
  type: 'Available',
  status: 'False',
  reason,
  message,
});

/** Returns why the objects of a service say that it cannot be reached; undefined if they do not. */
function objectFailure(
  target: ServicePort,
  rules: AddressRules,
  { get }: Pick<CurrentObjects, 'get'>,
): ConditionUpdate | undefined {
  if (mappedAddress(target, rules) !== undefined) return undefined;
  const { namespace, name, port } = target;
  const shown = `service/${name} in ${JSON.stringify(namespace)}`;
  const service = get('core/services', { namespace, name });
  if (!service) return unavailable('ServiceNotFound', `${shown} is not present`);
  if ((service.spec?.type ?? 'ClusterIP') !== 'ClusterIP') return undefined;
  const served = service.spec?.ports?.find(one => one.port === port);
  if (!served) return unavailable('ServicePortError', `${shown} is not listening on port ${port}`);
  const endpoints = get('core/endpoints', { namespace, name });
  if (!endpoints) return unavailable('EndpointsNotFound', `cannot find endpoints for ${shown}`);
  const portName = served.name ?? '';
  const isActive = endpoints.subsets?.some(
    ({ addresses, ports }) => addresses?.length && ports?.some(one => (one.name ?? '') === portName),
  );
  if (isActive) return undefined;
  const message = `endpoints for ${shown} have no addresses with port name ${JSON.stringify(portName)}`;
  return unavailable('MissingEndpoints', message);
}

/** The names of the APIServices of a service. */
const servedBy = (namespace: string, name: string, { list }: CurrentObjects): { readonly name: string }[] =>
  list(API_SERVICES).flatMap(({ metadata, spec }) =>
    spec.service?.namespace === namespace && spec.service.name === name ? [{ name: metadata.name! }] : [],
  );

/** Counts an APIService whose server is not available, and each time that it has become so. */
function observe(
  host: Pick<Host<'control'>, 'observe'>,
  name: string,
  before: readonly Frozen<Condition>[],
  { status, reason }: ConditionUpdate,
): void {
  const wasAvailable = before.every(one => one.type !== 'Available' || one.status === 'True');
  host.observe('aggregator_unavailable_apiservice', { name }, status === 'True' ? 0 : 1);
  if (status !== 'True' && wasAvailable) host.observe('aggregator_unavailable_apiservice_total', { name, reason }, 1);
}

/** Keeps the condition `Available` of APIServices: whether the server of each answers. */
function availability(host: Host<'control'>, config: AvailabilityConfig): Controller {
  const credentials = new ProxyCredentials(config.credentials);
  const ofService = {
    keys: ({ namespace, name }: { readonly namespace: string; readonly name: string }, objects: CurrentObjects) =>
      servedBy(namespace, name, objects),
  };
  return reconciler({
    name: 'apiservice-availability',
    for: API_SERVICES,
    watches: [
      { resource: 'core/services', ...ofService },
      { resource: 'core/endpoints', ...ofService },
    ],
    concurrency: CHECKS_AT_ONCE,
    async reconcile({ name }, { object, client, get, now }) {
      if (!object) {
        host.observe('aggregator_unavailable_apiservice', { name }, 0);
        return undefined;
      }
      const service = serviceOf(object);
      const set = async (update: ConditionUpdate): Promise<void> => {
        const before = object.status?.conditions ?? [];
        const conditions = withCondition(before, update, timestamp(now()));
        observe(host, name, before, update);
        if (conditions !== before)
          await client.resource(API_SERVICES).setStatus(object, { ...object.status, conditions });
      };
      if (!service) return void (await set(LOCAL));
      const missing = objectFailure(service, config, { get });
      if (missing) {
        await set(missing);
        return { after: CHECK_MS };
      }
      const failure = await discoveryFailure(object, service, { ...config, credentials }, get);
      await set(failure === undefined ? PASSED : unavailable('FailedDiscoveryCheck', failure));
      // The check is repeated soon, and later less often.
      if (failure !== undefined) throw new Refusal('ServiceUnavailable', failure);
      return { after: CHECK_MS };
    },
  })(host);
}

function parse(config: unknown): AvailabilityConfig {
  const { services, routesToEndpoints, credentials } = (config ?? {}) as Partial<AvailabilityConfig>;
  if (typeof services !== 'object') throw new ConfigError('config.services', 'must be URLs by service');
  return { services, routesToEndpoints: routesToEndpoints === true, ...(credentials ? { credentials } : {}) };
}

/** Says whether the servers of APIServices are available. */
export const apiServiceAvailability = {
  name: 'controllers/apiservice-availability',
  parse,
  contribute: config => [controller.of(host => availability(host, config))],
} satisfies Plugin<AvailabilityConfig>;
