import { isNumber } from '../../../core/model/text/jsonText.js';
import { MANAGER_BYTES } from '../../../core/limits.js';
import { firstValue, parseFlag, parseInteger, type Query } from '../../../core/request/query.js';
import {
  invalid,
  invalidObject,
  notSupported,
  type Refusal,
  required,
  tooLong,
  Verbatim,
  type Violation,
} from '../../../core/model/refusal.js';
import type { Naming } from '../../../core/naming.js';

/** Options of a create, update or patch (spec, "Query parameters"). */
export interface WriteOptions {
  readonly dryRun: boolean;
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict';
}

const optionsInvalid = (naming: Naming, kind: string, violations: readonly Violation[]): Refusal =>
  invalidObject(naming.group('meta.orchestrator.io'), kind, '', violations);

/** The violation of values of `dryRun` other than `All`. */
function dryRunViolations(values: readonly string[]): Violation[] {
  if (values.every(value => value === 'All')) return [];
  const list = values.map(value => JSON.stringify(value)).join(', ');
  return [notSupported('dryRun', new Verbatim(`[]string{${list}}`), ['All'])];
}

/** The values of `dryRun` in a query. Without a value it is a real request (spec, "Query parameters"). */
const dryRunOf = (query: Query): readonly string[] => (query.get('dryRun') ?? []).filter(value => value !== '');

/** Whether the values of `dryRun` ask for a dry run. Throws 422 for values other than `All`. */
function parseDryRun(values: readonly string[], naming: Naming, kind: string): boolean {
  const violations = dryRunViolations(values);
  if (violations.length > 0) throw optionsInvalid(naming, kind, violations);
  return values.length > 0;
}

/**
 * Reads the options of a write from its query. `kind` names them in refusals; an `apply` needs a manager and may be
 * forced. Throws 422.
 */
export function parseWriteOptions(
  query: Query,
  naming: Naming,
  kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions',
  apply = false,
): WriteOptions {
  const fieldValidation = firstValue(query, 'fieldValidation') || 'Warn';
  const manager = firstValue(query, MANAGER);
  const dryRun = dryRunOf(query);
  const violations: Violation[] = [];
  if (apply && manager === '') violations.push(required(MANAGER, 'is required for apply patch'));
  if (kind === 'PatchOptions' && !apply && query.has('force'))
    violations.push({
      reason: 'FieldValueForbidden',
      field: 'force',
      message: 'Forbidden: may not be specified for non-apply patch',
    });
  violations.push(...managerViolations(manager), ...dryRunViolations(dryRun));
  if (!['Ignore', 'Warn', 'Strict'].includes(fieldValidation))
    violations.push(notSupported('fieldValidation', fieldValidation, ['', 'Ignore', 'Strict', 'Warn']));
  if (violations.length > 0) throw optionsInvalid(naming, kind, violations);
  return {
    dryRun: parseDryRun(dryRun, naming, kind),
    fieldValidation: fieldValidation as WriteOptions['fieldValidation'],
  };
}

const MANAGER = 'fieldManager';
/**
 * A character that Go does not consider printable: all but letters, marks, numbers, punctuation, symbols and the space.
 */
export const UNPRINTABLE = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u;

/**
 * The violations of the name of a manager. Each repeats the whole name, so only the first invalid character of a name
 * that is too long is reported.
 */
function managerViolations(manager: string): Violation[] {
  const isTooLong = Buffer.byteLength(manager) > MANAGER_BYTES;
  const found: Violation[] = isTooLong ? [tooLong(MANAGER, MANAGER_BYTES)] : [];
  let at = 0;
  for (const char of manager) {
    if (isTooLong && found.length > 1) break;
    const code = char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
    if (UNPRINTABLE.test(char))
      found.push(invalid(MANAGER, manager, `invalid character U+${code} (at position ${at})`));
    at += Buffer.byteLength(char);
  }
  return found;
}

/** Options of a delete (spec, "Delete options"), from the body or, without one, from the query. */
export interface DeleteOptions {
  readonly dryRun: boolean;
  readonly gracePeriodSeconds?: number;
  readonly orphanDependents?: boolean;
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground';
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  /** The object is removed although it cannot be read. */
  readonly ignoresReadError?: boolean;
}

const IGNORES = 'ignoreStoreReadErrorWithClusterBreakingPotential';

const ignoring = (why: string): Violation => invalid(IGNORES, true, why);

/** The members of delete options that a delete of an object that cannot be read must not have, in upstream's order. */
const EXCLUDED = ['dryRun', 'propagationPolicy', 'orphanDependents', 'gracePeriodSeconds', 'preconditions'] as const;

/** Throws 422 for a deletecollection of objects that cannot be read. */
export function checkCollectionOptions({ ignoresReadError }: DeleteOptions, naming: Naming): void {
  const why = 'is not allowed with DELETECOLLECTION, try again after removing the option';
  if (ignoresReadError) throw optionsInvalid(naming, 'DeleteOptions', [ignoring(why)]);
}

const POLICIES = ['Foreground', 'Background', 'Orphan'];

/** The preconditions in the query of a delete without a body. Empty ones do not count. */
function queryPreconditions(query: Query): DeleteOptions['preconditions'] {
  const [uid, resourceVersion] = [firstValue(query, 'uid'), firstValue(query, 'resourceVersion')];
  return uid || resourceVersion
    ? { ...(uid ? { uid } : {}), ...(resourceVersion ? { resourceVersion } : {}) }
    : undefined;
}

/**
 * Reads the options of a delete from its decoded body or, without one, from its query. The option to remove objects
 * that cannot be read is ignored unless that is permitted (spec, "Deletion lifecycle"). Throws 400 and 422.
 */
export function parseDeleteOptions(
  query: Query,
  body: { [member: string]: unknown } | undefined,
  { naming, unsafeDeletion }: { readonly naming: Naming; readonly unsafeDeletion: boolean },
): DeleteOptions {
  const grace = body ? body['gracePeriodSeconds'] : parseInteger(query, 'gracePeriodSeconds');
  const orphan = body
    ? body['orphanDependents']
    : query.has('orphanDependents')
      ? parseFlag(query, 'orphanDependents')
      : undefined;
  const policy = body ? body['propagationPolicy'] : query.get('propagationPolicy')?.[0];
  const violations: Violation[] = [];
  if (policy != null && orphan != null) {
    violations.push({
      reason: 'FieldValueInvalid',
      field: 'propagationPolicy',
      message: `Invalid value: ${JSON.stringify(policy)}: orphanDependents and deletionPropagation cannot be both set`,
    });
  }
  if (policy !== undefined && policy !== null && !POLICIES.includes(String(policy))) {
    violations.push(notSupported('propagationPolicy', policy, [...POLICIES, 'nil']));
  }
  const dryRun = (body ? (body['dryRun'] as string[] | undefined) : dryRunOf(query)) ?? [];
  violations.push(...dryRunViolations(dryRun));
  const preconditions = body ? (body['preconditions'] as DeleteOptions['preconditions']) : queryPreconditions(query);
  const ignoresReadError =
    unsafeDeletion && (body ? body[IGNORES] === true : query.has(IGNORES) && parseFlag(query, IGNORES));
  if (ignoresReadError) {
    const given = {
      dryRun: dryRun.length > 0 || undefined,
      propagationPolicy: policy,
      orphanDependents: orphan,
      gracePeriodSeconds: grace,
      preconditions,
    };
    for (const name of EXCLUDED)
      if (given[name] != null) violations.push(ignoring(`cannot be set together with .${name}`));
  }
  if (violations.length > 0) throw optionsInvalid(naming, 'DeleteOptions', violations);
  return {
    dryRun: dryRun.length > 0 || (body !== undefined && parseDryRun(dryRunOf(query), naming, 'DeleteOptions')),
    ...(isNumber(grace) ? { gracePeriodSeconds: Number(grace) } : {}),
    ...(typeof orphan === 'boolean' ? { orphanDependents: orphan } : {}),
    ...(policy ? { propagationPolicy: policy as DeleteOptions['propagationPolicy'] } : {}),
    ...(preconditions ? { preconditions } : {}),
    ...(ignoresReadError ? { ignoresReadError } : {}),
  };
}
