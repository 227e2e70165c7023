import type { Endpoints, Service } from '../../../kinds/v1.js';
import type { ApiObject } from '../../../core/model/object.js';
import { ownValue } from '../../../core/model/record.js';
import { randomInt } from '../../../core/runtime/random.js';
import type { AggregationRules } from '../../../core/settings/aggregation.js';
import { urlHost } from '../../../core/settings/address.js';
import type { AggregatedVersion } from './apiServices.js';

/** Returns the stored object with this key. */
type Find = <Kind extends ApiObject>(key: string) => Kind | undefined;

/** Thrown for a service without an address, with the reason. */
export class NoAddress extends Error {}

/** The host and port, as in a URL, where a service is reached. Throws NoAddress. */
export function addressOf({ service }: AggregatedVersion, rules: AggregationRules, find: Find): string {
  const { namespace, name, port } = service;
  const mapped =
    ownValue(rules.services, `${namespace}/${name}:${port}`) ?? ownValue(rules.services, `${namespace}/${name}`);
  if (mapped !== undefined) return new URL(mapped).host;
  const found = find<Service>(`core/services/${namespace}/${name}`);
  if (!found) throw new NoAddress(`service "${name}" not found`);
  if (found.spec?.type === 'ExternalName') return `${found.spec.externalName}:${port}`;
  const served = found.spec?.ports?.find(one => one.port === port);
  if (!served) throw new NoAddress(`no service port ${port} found for service "${name}"`);
  if (rules.routesToEndpoints)
    return endpointOf(find<Endpoints>(`core/endpoints/${namespace}/${name}`), name, served.name ?? '');
  const address = found.spec?.clusterIP ?? '';
  if (address === '' || address === 'None') throw new NoAddress(`service "${name}" has no cluster IP`);
  return `${urlHost(address)}:${port}`;
}

/** One of the ready endpoints of a service, at random. */
function endpointOf(endpoints: Endpoints | undefined, name: string, portName: string): string {
  const addresses = (endpoints?.subsets ?? []).flatMap(({ addresses, ports }) => {
    const port = ports?.find(one => (one.name ?? '') === portName)?.port;
    return port === undefined ? [] : (addresses ?? []).map(({ ip }) => `${urlHost(ip ?? '')}:${port}`);
  });
  if (addresses.length === 0) throw new NoAddress(`no endpoints available for service "${name}"`);
  return addresses[randomInt(addresses.length)]!;
}
