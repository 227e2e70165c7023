import type { Service } from '../../../../../kinds/v1.js';
import {
  type Controller,
  controller,
  type Frozen,
  type Host,
  type Plugin,
  reconciler,
} from '../../../../../core/api/index.js';
import { familyOf } from '../../../shared/addressRange.js';
import { addressesOf, portsOf } from '../allocator.js';
import { type RangeConfig, rangesOf, type ServiceRanges } from '../ranges.js';

/** Time between two reports that a Service has values outside of the ranges, in milliseconds: upstream's pause. */
const REPORT_MS = 180_000;

const ADVICE = 'please recreate service';

/** A value of a Service that the server would not allocate. */
interface Problem {
  readonly reason: string;
  readonly message: string;
}

/** The cluster IPs of a Service that are in no network of the server. */
function addressProblems(service: Service, { networks }: ServiceRanges): Problem[] {
  return addressesOf(service).flatMap(address => {
    const family = familyOf(address);
    const range = networks.get(family);
    if (range?.includes(address)) return [];
    if (range) {
      const place = `not within the service CIDR ${range.network}`;
      return [{ reason: 'ClusterIPOutOfRange', message: `Cluster IP [${family}]:${address} is ${place}; ${ADVICE}` }];
    }
    const place = 'of ip family that is no longer configured on cluster';
    return [{ reason: 'ClusterIPNotValid', message: `Cluster IP ${address}(${family}) is ${place}; ${ADVICE}` }];
  });
}

/** The node ports of a Service that are not in the range of the server. */
function portProblems(service: Service, { ports: [first, last] }: ServiceRanges): Problem[] {
  return portsOf(service)
    .filter(port => port < first || port > last)
    .map(port => ({
      reason: 'PortOutOfRange',
      message: `Port ${port} is not within the port range ${first}-${last}; ${ADVICE}`,
    }));
}

/** Records a warning for each problem of a Service, repeatedly until it is changed, because Events expire. */
function reports(host: Host<'control'>, name: string, problemsOf: (service: Service) => Problem[]): Controller {
  const problemsIn = (service: Frozen<Service> | undefined): Problem[] =>
    service ? problemsOf(service as Service) : [];
  return reconciler({
    name,
    for: 'core/services',
    predicate: ({ type, object }) => type !== 'DELETED' && problemsIn(object()).length > 0,
    async reconcile(_key, { object: service, event }) {
      const problems = problemsIn(service);
      for (const problem of problems) event(service!, { type: 'Warning', ...problem });
      return problems.length > 0 ? { after: REPORT_MS } : undefined;
    },
  })(host);
}

/** The configuration, which the server generates. */
interface RangeReportsConfig {
  readonly ranges: RangeConfig;
  /** Whether addresses come from the networks of ServiceCIDR objects, which other controllers guard. */
  readonly fromObjects: boolean;
}

/**
 * Events of Services whose cluster IPs or node ports are outside of the ranges of the server, which is possible after a
 * change of the ranges. Their names and messages are upstream's.
 */
export const rangeReports = {
  name: 'controllers/service-range-reports',
  parse: config => config as RangeReportsConfig,
  contribute({ ranges, fromObjects }) {
    const parsed = rangesOf(ranges, fromObjects);
    const ports = controller.of(host =>
      reports(host, 'portallocator-repair-controller', service => portProblems(service, parsed)),
    );
    if (fromObjects) return [ports];
    const addresses = controller.of(host =>
      reports(host, 'ipallocator-repair-controller', service => addressProblems(service, parsed)),
    );
    return [addresses, ports];
  },
} satisfies Plugin<RangeReportsConfig>;
