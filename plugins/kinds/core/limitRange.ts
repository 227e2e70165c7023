import { randomUUID } from '../../../core/runtime/random.js';
import type { LimitRange, LimitRangeItem } from '../../../kinds/v1.js';
import { builtInKind } from '../../../core/api/resource.js';
import { qualifiedName } from '../../../core/model/names.js';
import { compareQuantities, quantityOf } from '../../../core/model/quantity.js';
import { ownValue, isAbsent } from '../../../core/model/record.js';
import { duplicate, forbiddenField, invalid, required, type Violation } from '../../../core/model/refusal.js';
import { validateResourceName } from '../shared/podSpec/resources.js';
import { validateQualifiedResource } from '../shared/values/resourceNames.js';
import { goQuantity, toViolations } from '../shared/violations.js';

const TYPES = ['Pod', 'Container', 'PersistentVolumeClaim'];

const AMOUNTS = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'] as const;

/** Pairs of amounts, with their names in messages. The first of a pair must not be above the second. */
const ORDER: readonly (readonly [
  low: (typeof AMOUNTS)[number],
  high: (typeof AMOUNTS)[number],
  at: (typeof AMOUNTS)[number],
])[] = [
  ['min', 'max', 'min'],
  ['min', 'defaultRequest', 'defaultRequest'],
  ['defaultRequest', 'max', 'defaultRequest'],
  ['defaultRequest', 'default', 'defaultRequest'],
  ['min', 'default', 'default'],
  ['default', 'max', 'default'],
];

/** A member with amounts. */
type Amounts = (typeof AMOUNTS)[number];

/** The name of an amount in a message about another one. */
const nameOf = (amount: (typeof AMOUNTS)[number], other: (typeof AMOUNTS)[number]): string => {
  if (amount === 'defaultRequest') return 'default request value';
  if (amount === 'default') return other === 'defaultRequest' ? 'default limit value' : 'default value';
  return `${amount} value`;
};

/** Copies amounts of the member `from` that are missing in the member `to`. */
function copyAbsentAmounts(owner: LimitRangeItem, from: Amounts, to: Amounts): void {
  const amounts = Object.entries(owner[from] ?? {});
  if (amounts.length === 0) return;
  const target = new Map(Object.entries(owner[to] ?? {}));
  for (const [name, amount] of amounts) if (isAbsent(target.get(name))) target.set(name, amount);
  owner[to] = Object.fromEntries(target);
}

function validateType(type: string, field: string): Violation[] {
  const found = toViolations(field, type, qualifiedName(type));
  return found.length > 0 || type.includes('/') || TYPES.includes(type)
    ? found
    : [invalid(field, type, 'must be a standard limit type or fully qualified')];
}

/** Whether limits of a resource can be above requests: not of huge pages and of resources with a domain. */
const canBeOvercommitted = (resource: string): boolean => !resource.startsWith('hugepages-') && !resource.includes('/');

/** Violations of the amounts of one resource, which must be consistent with each other. */
function validateAmounts(limit: LimitRangeItem, resource: string, field: string): Violation[] {
  const found: Violation[] = [];
  const has = (member: Amounts): boolean => Object.hasOwn(limit[member] ?? {}, resource);
  const amountOf = (member: Amounts) => quantityOf(ownValue(limit[member], resource));
  const textOf = (member: Amounts): string => String(ownValue(limit[member], resource) ?? '0');
  const refuse = (member: Amounts, why: string): void =>
    void found.push(invalid(`${field}.${member}[${resource}]`, goQuantity(textOf(member)), why));
  for (const [low, high, at] of ORDER)
    if (has(low) && has(high) && compareQuantities(amountOf(low), amountOf(high)) > 0)
      refuse(at, `${nameOf(low, high)} ${textOf(low)} is greater than ${nameOf(high, low)} ${textOf(high)}`);
  if (
    !canBeOvercommitted(resource) &&
    has('default') &&
    has('defaultRequest') &&
    compareQuantities(amountOf('default'), amountOf('defaultRequest')) !== 0
  )
    refuse(
      'defaultRequest',
      `default value ${textOf('default')} must equal to defaultRequest value ${textOf('defaultRequest')} in ${resource}`,
    );
  if (!has('maxLimitRequestRatio')) return found;
  const ratio = amountOf('maxLimitRequestRatio');
  if (compareQuantities(ratio, quantityOf('1')) < 0)
    refuse('maxLimitRequestRatio', `ratio ${textOf('maxLimitRequestRatio')} is less than 1`);
  if (has('min') && has('max')) {
    const most = Number(amountOf('max').nano) / Number(amountOf('min').nano);
    if (Number(ratio.nano) / 1e9 > most)
      refuse(
        'maxLimitRequestRatio',
        `ratio ${textOf('maxLimitRequestRatio')} is greater than max/min = ${most.toFixed(6)}`,
      );
  }
  return found;
}

/** Violations of a limit. `isRepeated`: an earlier limit has the same type. */
function validateLimit(limit: LimitRangeItem, field: string, isRepeated: boolean): Violation[] {
  const type = limit.type;
  const found = validateType(type, `${field}.type`);
  if (isRepeated) found.push(duplicate(`${field}.type`, type));
  const validateName = type === 'Pod' || type === 'Container' ? validateResourceName : validateQualifiedResource;
  const resources = new Set<string>();
  for (const member of AMOUNTS) {
    const names = Object.entries(limit[member] ?? {}).map(([name]) => name);
    for (const name of names) resources.add(name);
    if (member.startsWith('default') && type === 'Pod') {
      if (names.length > 0)
        found.push(forbiddenField(`${field}.${member}`, "may not be specified when `type` is 'Pod'"));
    } else found.push(...names.flatMap(name => validateName(name, `${field}.${member}[${name}]`)));
  }
  if (type === 'PersistentVolumeClaim' && isAbsent(limit.min?.storage) && isAbsent(limit.max?.storage))
    found.push(
      required(`${field}.limits`, 'either minimum or maximum storage value is required, but neither was provided'),
    );
  return [...found, ...[...resources].flatMap(name => validateAmounts(limit, name, field))];
}

/** Violations of all limits; each type may have one. */
function validateLimitRange(object: LimitRange): Violation[] {
  const seen = new Set<string>();
  return (object.spec.limits ?? []).flatMap((limit, i) => {
    const isRepeated = seen.has(limit.type);
    seen.add(limit.type);
    return validateLimit(limit, `spec.limits[${i}]`, isRepeated);
  });
}

/**
 * LimitRange. For containers, the maximum is the default limit; the default limit, or otherwise the minimum, is the
 * default request. A LimitRange without a name gets a unique one.
 */
export const limitRange = builtInKind<LimitRange>('core/limitranges', () => ({
  revalidatesName: 'first',
  allowCreateOnUpdate: true,
  prepareCreate: object => {
    object.metadata.name ||= randomUUID();
  },
  validateCreate: validateLimitRange,
  validateUpdate: validateLimitRange,
  applyDefaults: object => {
    for (const limit of object.spec.limits ?? []) {
      if (limit.type !== 'Container') continue;
      copyAbsentAmounts(limit, 'max', 'default');
      copyAbsentAmounts(limit, 'default', 'defaultRequest');
      copyAbsentAmounts(limit, 'min', 'defaultRequest');
    }
  },
}));
