import { recordsAt, stringAt } from '../../../core/model/record.js';

/** Addresses that a load balancer reports, each once and sorted. */
export const balancerAddresses = (object: unknown): string[] => [
  ...new Set(
    recordsAt(object, 'status', 'loadBalancer', 'ingress')
      .map(entry => stringAt(entry, 'ip') || stringAt(entry, 'hostname'))
      .filter(address => address !== '')
      .sort(),
  ),
];
