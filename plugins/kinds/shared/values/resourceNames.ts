import { qualifiedName } from '../../../../core/model/names.js';
import { compareQuantities, isInteger, quantityOf, ZERO_QUANTITY } from '../../../../core/model/quantity.js';
import { invalid, Verbatim, type Violation } from '../../../../core/model/refusal.js';
import { goQuantity } from '../violations.js';

/** Resources whose amounts are counts of objects. */
const COUNTED = [
  'pods',
  'services',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
];

const COMPUTE = ['cpu', 'memory', 'ephemeral-storage'];

/** Resources of quotas that have no domain. */
const QUOTA_RESOURCES: ReadonlySet<string> = new Set([
  ...COUNTED,
  ...COMPUTE,
  ...COMPUTE.flatMap(name => [`requests.${name}`, `limits.${name}`]),
  'requests.storage',
]);

/** Resources that limits of objects other than pods and containers can have, without a domain. */
const STANDARD_RESOURCES: ReadonlySet<string> = new Set([...QUOTA_RESOURCES, 'storage']);

/** Whether a name is that of a resource that only quotas know, or that all objects of a namespace use. */
export const isQuotaResource = (name: string): boolean => QUOTA_RESOURCES.has(name) || isHugePages(name);

const isHugePages = (name: string): boolean => name.startsWith('hugepages-') || name.startsWith('requests.hugepages-');

/** Whether a name is that of an extended resource, which is counted. The name of its requests in a quota is not one. */
export const isExtendedResource = (name: string): boolean =>
  name.includes('/') && !name.startsWith('requests.') && qualifiedName(`requests.${name}`).length === 0;

const nameViolations = (name: string, field: string, messages: readonly string[]): Violation[] =>
  messages.map(why => invalid(field, new Verbatim(name), why));

/** Violations of a resource name: a standard one, or one with a domain. */
export function validateQualifiedResource(name: string, field: string): Violation[] {
  const found = nameViolations(name, field, qualifiedName(name));
  if (found.length > 0 || name.includes('/') || STANDARD_RESOURCES.has(name) || isHugePages(name)) return found;
  return nameViolations(name, field, ['must be a standard resource type or fully qualified']);
}

/** Violations of the name of a resource of a quota. */
export function validateQuotaResource(name: string, field: string): Violation[] {
  const found = validateQualifiedResource(name, field);
  if (name.includes('/') || isQuotaResource(name)) return found;
  return [...found, ...nameViolations(name, field, ['must be a standard resource for quota'])];
}

/** Checks that an amount of a resource is not negative, and whole where the resource is counted. */
export function validateAmount(name: string, amount: unknown, field: string): Violation[] {
  const quantity = quantityOf(amount);
  return [
    ...(compareQuantities(quantity, ZERO_QUANTITY) < 0
      ? [invalid(field, String(amount), 'must be greater than or equal to 0')]
      : []),
    ...((COUNTED.includes(name) || isExtendedResource(name)) && !isInteger(quantity)
      ? [invalid(field, goQuantity(amount), 'must be an integer')]
      : []),
  ];
}
