import type { Ingress } from '../../../kinds/networking/v1.js';
import type { Service } from '../../../kinds/v1.js';
/** The addresses of the load balancer in the status, sorted and without duplicates. */
export const balancerAddresses = (object: Service | Ingress): string[] => [
  ...new Set(
    (object.status?.loadBalancer?.ingress ?? [])
      .map(entry => (entry.ip ?? '') || (entry.hostname ?? ''))
      .filter(address => address !== '')
      .sort(),
  ),
];
