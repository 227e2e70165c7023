import { recordsAt, stringAt } from '../../../core/model/record.js';

/** The addresses of the load balancer in the status, sorted and without duplicates. */
export const balancerAddresses = (object: unknown): string[] => [
  ...new Set(
    recordsAt(object, 'status', 'loadBalancer', 'ingress')
      .map(entry => stringAt(entry, 'ip') || stringAt(entry, 'hostname'))
      .filter(address => address !== '')
      .sort(),
  ),
];
