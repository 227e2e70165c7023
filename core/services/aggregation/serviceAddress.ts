import type { Endpoints, Service } from '../../../kinds/v1.js';
import type { Frozen } from '../../model/object.js';
import { ownValue } from '../../model/record.js';
import { randomInt } from '../../runtime/random.js';
import { urlHost } from '../../settings/address.js';

/** A port of a service, as an APIService refers to it. */
export interface ServicePort {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

/** The rules by which addresses of services are found. */
export interface AddressRules {
  /** URLs of services by `namespace/name` or `namespace/name:port`, for services that nothing else resolves. */
  readonly services: Readonly<Record<string, string>>;
  /** Whether requests go to an endpoint of a service instead of its cluster IP. */
  readonly routesToEndpoints: boolean;
}

/** The current objects in which addresses are looked up. */
export interface ServiceObjects {
  service(namespace: string, name: string): Frozen<Service> | undefined;
  endpoints(namespace: string, name: string): Frozen<Endpoints> | undefined;
}

/** Thrown for a service without an address, with the reason. */
export class NoAddress extends Error {}

/** The host and port that the settings name for a service, without looking at its objects. */
export function mappedAddress({ namespace, name, port }: ServicePort, { services }: AddressRules): string | undefined {
  const mapped = ownValue(services, `${namespace}/${name}:${port}`) ?? ownValue(services, `${namespace}/${name}`);
  return mapped === undefined ? undefined : new URL(mapped).host;
}

/** The host and port, as in a URL, at which a service is reached. Throws NoAddress. */
export function addressOf(target: ServicePort, rules: AddressRules, objects: ServiceObjects): string {
  const { namespace, name, port } = target;
  const mapped = mappedAddress(target, rules);
  if (mapped !== undefined) return mapped;
  const found = objects.service(namespace, name);
  if (!found) throw new NoAddress(`service "${name}" not found`);
  const { type, externalName, ports, clusterIP = '' } = found.spec ?? {};
  if (type === 'ExternalName') {
    if (rules.routesToEndpoints) throw new NoAddress(`unsupported service type "${type}"`);
    return `${externalName}:${port}`;
  }
  if (!rules.routesToEndpoints && clusterIP === 'None')
    throw new NoAddress('cannot route to service with ClusterIP "None"');
  const served = ports?.find(one => one.port === port);
  if (!served) throw new NoAddress(`no service port ${port} found for service "${name}"`);
  if (rules.routesToEndpoints) return endpointOf(objects.endpoints(namespace, name), name, served.name ?? '');
  return `${urlHost(clusterIP)}:${port}`;
}

/** One of the ready endpoints of a service, at random. */
function endpointOf(endpoints: Frozen<Endpoints> | undefined, name: string, portName: string): string {
  if (!endpoints) throw new NoAddress(`endpoints "${name}" not found`);
  const addresses = (endpoints.subsets ?? []).flatMap(({ addresses, ports }) => {
    const port = ports?.find(one => (one.name ?? '') === portName)?.port;
    return port === undefined ? [] : (addresses ?? []).map(({ ip }) => `${urlHost(ip ?? '')}:${port}`);
  });
  if (addresses.length === 0) throw new NoAddress(`no endpoints available for service "${name}"`);
  return addresses[randomInt(addresses.length)]!;
}
