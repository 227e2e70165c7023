import type { IntOrString } from '../../../../core/model/scalars.js';
import { isAbsent } from '../../../../core/model/record.js';
import { invalid, Verbatim, type Violation } from '../../../../core/model/refusal.js';

/** Formats a number or a string as Go prints it in messages. */
export const goIntOrString = (value: IntOrString | undefined): Verbatim =>
  typeof value === 'string'
    ? new Verbatim(`intstr.IntOrString{Type:1, IntVal:0, StrVal:${JSON.stringify(value)}}`)
    : new Verbatim(`intstr.IntOrString{Type:0, IntVal:${Number(value ?? 0)}, StrVal:""}`);

/** Checks that a value, if set, is a number that is not negative, or a percentage. */
export function validateIntOrPercent(value: IntOrString | undefined, field: string): Violation[] {
  if (isAbsent(value)) return [];
  if (typeof value === 'number') return value < 0 ? [invalid(field, value, 'must be greater than or equal to 0')] : [];
  if (!/^[0-9]+%$/.test(value)) {
    const why =
      "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";
    return [invalid(field, goIntOrString(value), why)];
  }
  return [];
}

/** Checks that a percentage is not above 100. */
export const validateAtMostAll = (value: IntOrString | undefined, field: string): Violation[] =>
  typeof value === 'string' && /^[0-9]+%$/.test(value) && Number.parseInt(value, 10) > 100
    ? [invalid(field, goIntOrString(value), 'must not be greater than 100%')]
    : [];

/** The number in a percentage, or a number; 0 for other values. */
export function leadingNumber(value: IntOrString | undefined): number {
  if (typeof value === 'number') return value;
  return /^[+-]?[0-9]+$|^[0-9]+%$/.test(String(value ?? '')) ? Number.parseInt(String(value), 10) : 0;
}
