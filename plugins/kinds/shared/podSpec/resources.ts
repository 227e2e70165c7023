import { qualifiedName } from '../../../../core/model/names.js';
import { compareQuantities, isInteger, quantityOf, ZERO_QUANTITY } from '../../../../core/model/quantity.js';
import { entriesAt, isAbsent, recordAt, type UnknownRecord, valueAt } from '../../../../core/model/record.js';
import { forbiddenField, invalid, Verbatim, required, type Violation } from '../../../../core/model/refusal.js';
import { toViolations } from '../violations.js';

const STANDARD = new Set(['cpu', 'memory', 'ephemeral-storage']);

const isStandard = (name: string): boolean => STANDARD.has(name) || name.startsWith('hugepages-');

const isExtended = (name: string): boolean => name.includes('/');

function validateResourceName(name: string, field: string): Violation[] {
  const found = toViolations(field, name, qualifiedName(name)).map(v => ({
    ...v,
    message: v.message.replace(JSON.stringify(name), name),
  }));
  if (found.length > 0) return found;
  if (!isExtended(name) && !isStandard(name)) {
    const unqualified = [
      'pods',
      'services',
      'storage',
      'requests.cpu',
      'requests.memory',
      'limits.cpu',
      'limits.memory',
    ].includes(name)
      ? []
      : ['must be a standard resource type or fully qualified'];
    return [...unqualified, 'must be a standard resource for containers'].map(why => ({
      reason: 'FieldValueInvalid' as const,
      field,
      message: `Invalid value: ${name}: ${why}`,
    }));
  }
  return [];
}

/** Violations of requests and limits; `where` is their field. */
export function validateResources(resources: UnknownRecord | undefined, where: string): Violation[] {
  const found: Violation[] = [];
  const limits = recordAt(resources, 'limits');
  for (const kind of ['limits', 'requests']) {
    for (const [name, amount] of entriesAt(resources, kind)) {
      const field = `${where}.${kind}[${name}]`;
      found.push(...validateResourceName(name, field));
      if (compareQuantities(quantityOf(amount), ZERO_QUANTITY) < 0)
        found.push(invalid(field, String(amount), 'must be greater than or equal to 0'));
      else if (isExtended(name) && !isInteger(quantityOf(amount)))
        found.push(
          invalid(field, new Verbatim(`resource.Quantity{s:${JSON.stringify(String(amount))}}`), 'must be an integer'),
        );
    }
  }
  for (const [name, amount] of entriesAt(resources, 'requests')) {
    const limit = valueAt(limits, name);
    const strict = isExtended(name) || name.startsWith('hugepages-');
    const over = compareQuantities(quantityOf(amount), quantityOf(limit));
    if (isAbsent(limit)) {
      if (strict) found.push(required(`${where}.limits`, 'Limit must be set for non overcommitable resources'));
    } else if (strict && over !== 0) {
      found.push(invalid(`${where}.requests`, String(amount), `must be equal to ${name} limit of ${String(limit)}`));
    } else if (!strict && over > 0) {
      found.push(
        invalid(`${where}.requests`, String(amount), `must be less than or equal to ${name} limit of ${String(limit)}`),
      );
    }
  }
  const all = [...entriesAt(resources, 'limits'), ...entriesAt(resources, 'requests')].map(([name]) => name);
  if (all.some(name => name.startsWith('hugepages-')) && !all.some(name => name === 'cpu' || name === 'memory')) {
    found.push(forbiddenField(where, 'HugePages require cpu or memory'));
  }
  return found;
}
