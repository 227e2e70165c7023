import type { IntOrString } from '../../../core/model/scalars.js';
import type { Violation } from '../../../core/model/refusal.js';
import { rangeText, toViolations } from './violations.js';

/** Messages about a port number. */
export const portNumberComplaints = (port: number | undefined): string[] =>
  port === undefined || port < 1 || port > 65535 ? [rangeText(1, 65535)] : [];

/** Messages about the name of a port (RFC 6335, section 5.1). */
export function portNameComplaints(name: string): string[] {
  const found: string[] = [];
  if (name.length > 15) found.push('must be no more than 15 characters');
  if (!/^[-a-z0-9]+$/.test(name)) found.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  if (!/[a-z]/.test(name)) found.push('must contain at least one letter (a-z)');
  if (name.includes('--')) found.push('must not contain consecutive hyphens');
  if (name.startsWith('-') || name.endsWith('-')) found.push('must not begin or end with a hyphen');
  return found;
}

/** Checks a port number, or the name of a port. */
export const validatePortOrName = (port: IntOrString | undefined, field: string): Violation[] =>
  typeof port === 'string'
    ? toViolations(field, port, portNameComplaints(port))
    : toViolations(field, port ?? 0, portNumberComplaints(port));
