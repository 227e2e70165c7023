import type { Quantity } from '../../../../core/model/scalars.js';
import type { ResourceRequirements } from '../../../../kinds/v1.js';
import { compareQuantities, isInteger, parseQuantity, quantityOf } from '../../../../core/model/quantity.js';
import { ownValue, isAbsent } from '../../../../core/model/record.js';
import { forbiddenField, invalid, required, Verbatim, type Violation } from '../../../../core/model/refusal.js';
import { isExtendedResource, validateAmount, validateQualifiedResource } from '../values/resourceNames.js';

const STANDARD = new Set(['cpu', 'memory', 'ephemeral-storage']);

const HUGE_PAGES = 'hugepages-';

const isHugePages = (name: string): boolean => name.startsWith(HUGE_PAGES);

/** Whether a container can use more of a resource than it requests. */
const canOvercommit = (name: string): boolean => !name.includes('/') && !isHugePages(name);

/** Violations of the name of a resource of containers. */
export function validateResourceName(name: string, field: string): Violation[] {
  const found = validateQualifiedResource(name, field);
  const refuse = (why: string): Violation[] => [...found, invalid(field, new Verbatim(name), why)];
  if (!name.includes('/'))
    return STANDARD.has(name) || isHugePages(name) ? found : refuse('must be a standard resource for containers');
  return isExtendedResource(name) ? found : refuse("doesn't follow extended resource name standard");
}

const NANO = 1_000_000_000n;

/** Whether an amount is a multiple of the size of the pages. */
function isWholePages(name: string, amount: unknown): boolean {
  const size = parseQuantity(name.slice(HUGE_PAGES.length));
  if (typeof size === 'string' || size.nano <= 0n || !isInteger(size)) return false;
  const { nano } = quantityOf(amount);
  const bytes = (nano + (nano < 0n ? 1n - NANO : NANO - 1n)) / NANO;
  return bytes % (size.nano / NANO) === 0n;
}

const validateResource = (name: string, amount: unknown, field: string): Violation[] => [
  ...validateResourceName(name, field),
  ...validateAmount(name, amount, field),
  ...(isHugePages(name) && !isWholePages(name, amount)
    ? [invalid(field, String(amount), `${String(amount)} is not positive integer multiple of ${name}`)]
    : []),
];

/** Checks the request of a resource against its limit. */
function validateRequest(name: string, amount: Quantity, limit: Quantity | undefined, where: string): Violation[] {
  const strict = !canOvercommit(name);
  if (isAbsent(limit))
    return strict ? [required(`${where}.limits`, 'Limit must be set for non overcommitable resources')] : [];
  const over = compareQuantities(quantityOf(amount), quantityOf(limit));
  const refuse = (relation: string): Violation[] => [
    invalid(`${where}.requests`, String(amount), `must be ${relation} ${name} limit of ${String(limit)}`),
  ];
  if (strict) return over === 0 ? [] : refuse('equal to');
  return over > 0 ? refuse('less than or equal to') : [];
}

/** Violations of requests and limits; `where` is their field. */
export function validateResources(resources: ResourceRequirements, where: string): Violation[] {
  const limits = resources.limits;
  const all = [...Object.entries(resources.limits ?? {}), ...Object.entries(resources.requests ?? {})].map(
    ([name]) => name,
  );
  return [
    ...(['limits', 'requests'] as const).flatMap(kind =>
      Object.entries(resources[kind] ?? {}).flatMap(([name, amount]) =>
        validateResource(name, amount, `${where}.${kind}[${name}]`),
      ),
    ),
    ...Object.entries(resources.requests ?? {}).flatMap(([name, amount]) =>
      validateRequest(name, amount, ownValue(limits, name), where),
    ),
    ...(all.some(isHugePages) && !all.some(name => name === 'cpu' || name === 'memory')
      ? [forbiddenField(where, 'HugePages require cpu or memory')]
      : []),
  ];
}
