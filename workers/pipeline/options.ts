import { MANAGER_BYTES } from '../../core/limits.js';
import { first, flag, integer, type Query } from '../../core/front/query.js';
import {
  badRequest,
  invalid,
  invalidObject,
  notSupported,
  type Refusal,
  required,
  tooLong,
  type Violation,
} from '../../core/model/refusal.js';
import type { Naming } from '../../core/naming.js';

/** Options of a create, update or patch (spec, "Query parameters"). */
export interface WriteOptions {
  readonly dryRun: boolean;
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict';
}

const optionsInvalid = (naming: Naming, kind: string, violations: readonly Violation[]): Refusal =>
  invalidObject(naming.group('meta.orchestrator.io'), kind, '', violations);

/** `dryRun` without a value is a real request (spec); any value but `All` is refused. */
export function dryRunOf(values: readonly string[], naming: Naming, kind: string): boolean {
  const given = values.filter(value => value !== '');
  if (given.every(value => value === 'All')) return given.length > 0;
  throw optionsInvalid(naming, kind, [
    {
      reason: 'FieldValueNotSupported',
      field: 'dryRun',
      message: `Unsupported value: [${given.map(v => JSON.stringify(v)).join(',')}]: supported values: "All"`,
    },
  ]);
}

/** Reads and checks the options of a write. `kind` names the options object in refusals; an `apply` needs a manager and may be forced. */
export function writeOptionsOf(
  query: Query,
  naming: Naming,
  kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions',
  apply = false,
): WriteOptions {
  const fieldValidation = first(query, 'fieldValidation') || 'Warn';
  if (!['Ignore', 'Warn', 'Strict'].includes(fieldValidation)) {
    throw optionsInvalid(naming, kind, [notSupported('fieldValidation', fieldValidation, ['', 'Ignore', 'Strict', 'Warn'])]);
  }
  const manager = first(query, MANAGER);
  if (apply && manager === '') throw optionsInvalid(naming, kind, [required(MANAGER, 'is required for apply patch')]);
  if (kind === 'PatchOptions' && !apply && query.has('force')) {
    throw optionsInvalid(naming, kind, [
      { reason: 'FieldValueForbidden', field: 'force', message: 'Forbidden: may not be specified for non-apply patch' },
    ]);
  }
  duration(query, 'timeout');
  const violations = managerViolations(manager);
  if (violations.length > 0) throw optionsInvalid(naming, kind, violations);
  return {
    dryRun: dryRunOf(query.get('dryRun') ?? [], naming, kind),
    fieldValidation: fieldValidation as WriteOptions['fieldValidation'],
  };
}

const MANAGER = 'fieldManager';
/** What Go does not print: all but letters, marks, numbers, punctuation, symbols and the space. */
export const UNPRINTABLE = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u;

function managerViolations(manager: string): Violation[] {
  const found: Violation[] = [];
  if (Buffer.byteLength(manager) > MANAGER_BYTES) found.push(tooLong(MANAGER, MANAGER_BYTES));
  let at = 0;
  for (const char of manager) {
    const code = char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
    if (UNPRINTABLE.test(char)) found.push(invalid(MANAGER, manager, `invalid character U+${code} (at position ${at})`));
    at += Buffer.byteLength(char);
  }
  return found;
}

/** Durations as Go writes them (`30s`, `1m30s`). Throws 400. */
function duration(query: Query, name: string): void {
  const value = first(query, name);
  if (value !== '' && !/^[+-]?(0|(\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h))+$/.test(value)) {
    throw badRequest(`invalid timeout specified in the request URL: time: invalid duration ${JSON.stringify(value)}`);
  }
}

/** Options of a delete (spec, "Delete options"), from the body or, without one, from the query. */
export interface DeleteOptions {
  readonly dryRun: boolean;
  readonly gracePeriodSeconds?: number;
  readonly orphanDependents?: boolean;
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground';
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

const POLICIES = ['Foreground', 'Background', 'Orphan'];

/** Reads and checks delete options; `body` is the decoded body or undefined where there was none. */
export function deleteOptionsOf(query: Query, body: { [member: string]: unknown } | undefined, naming: Naming): DeleteOptions {
  const grace = body ? body['gracePeriodSeconds'] : integer(query, 'gracePeriodSeconds');
  const orphan = body ? body['orphanDependents'] : query.has('orphanDependents') ? flag(query, 'orphanDependents') : undefined;
  const policy = body ? body['propagationPolicy'] : query.get('propagationPolicy')?.[0];
  const violations: Violation[] = [];
  if (policy !== undefined && policy !== null && !POLICIES.includes(String(policy))) {
    violations.push(notSupported('propagationPolicy', policy, [...POLICIES, 'nil']));
  }
  if (policy != null && orphan != null) {
    violations.push({
      reason: 'FieldValueInvalid',
      field: 'propagationPolicy',
      message: `Invalid value: ${JSON.stringify(policy)}: orphanDependents and deletionPropagation cannot be both set`,
    });
  }
  if (violations.length > 0) throw optionsInvalid(naming, 'DeleteOptions', violations);
  const dryRun = dryRunOf((body ? (body['dryRun'] as string[] | undefined) : query.get('dryRun')) ?? [], naming, 'DeleteOptions');
  return {
    dryRun: dryRun || (body !== undefined && dryRunOf(query.get('dryRun') ?? [], naming, 'DeleteOptions')),
    ...(typeof grace === 'number' ? { gracePeriodSeconds: grace } : {}),
    ...(typeof orphan === 'boolean' ? { orphanDependents: orphan } : {}),
    ...(policy ? { propagationPolicy: policy as DeleteOptions['propagationPolicy'] } : {}),
    ...(body?.['preconditions'] ? { preconditions: body['preconditions'] as DeleteOptions['preconditions'] } : {}),
  };
}
