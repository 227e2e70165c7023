import { goQuote } from './text/quote.js';
import { doubleText, isInteger, writeJson } from './text/jsonText.js';
import { recognizeCopies } from './copies.js';
import type { Json } from './object.js';

/** Reasons of a Status with their HTTP status codes (Kubernetes API conventions, "Response Status Kind"). */
export const REASONS = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  AlreadyExists: 409,
  Conflict: 409,
  Gone: 410,
  Expired: 410,
  RequestEntityTooLarge: 413,
  UnsupportedMediaType: 415,
  Invalid: 422,
  TooManyRequests: 429,
  RequestHeaderFieldsTooLarge: 431,
  InternalError: 500,
  StorageReadError: 500,
  ServiceUnavailable: 503,
  Timeout: 504,
  ServerTimeout: 500,
} as const;

/** A reason, or '' for an error without reason, which has an explicit code. */
export type Reason = keyof typeof REASONS | '';

/** A cause in `details.causes`. */
export interface Cause {
  reason?: string;
  message?: string;
  field?: string;
}

/** The `details` of a Status. `group` and `kind` are those of the resource (plural name) or kind. */
export interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: Cause[];
  retryAfterSeconds?: number;
}

/** The body of errors: a Status object in `v1`. */
export interface StatusBody {
  kind: 'Status';
  apiVersion: 'v1';
  metadata: { [key: string]: Json };
  status: 'Failure' | 'Success';
  message?: string;
  reason?: string;
  details?: StatusDetails;
  code?: number;
}

/**
 * An error that the client receives as a Status. Anything else that is thrown is a bug and becomes a 500. `metadata` is
 * the list metadata of the Status (a new `continue` token with 410).
 */
export class Refusal extends Error {
  readonly code: number;
  constructor(
    readonly reason: Reason,
    message: string,
    readonly details?: StatusDetails,
    code?: number,
    readonly metadata: { [key: string]: Json } = {},
  ) {
    super(message);
    this.code = code ?? (reason === '' ? 500 : REASONS[reason]);
  }

  /** The Status object, with members in upstream's order. */
  toStatus(): StatusBody {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: this.metadata,
      status: 'Failure',
      message: this.message,
      ...(this.reason ? { reason: this.reason } : {}),
      ...(this.details ? { details: this.details } : {}),
      code: this.code,
    };
  }
}

recognizeCopies(Refusal, 'Refusal');

/** A resource (plural name) or kind in its group. */
export interface GroupResource {
  readonly group: string;
  readonly resource: string;
}

/** A resource in messages: `deployments.apps`, or `pods` for the core group. */
export const qualifyResource = (of: GroupResource): string => (of.group ? `${of.resource}.${of.group}` : of.resource);

const detailsOf = (of: GroupResource, name: string): StatusDetails => ({
  ...(name ? { name } : {}),
  ...(of.group ? { group: of.group } : {}),
  ...(of.resource ? { kind: of.resource } : {}),
});

/** 404: the object does not exist. */
export const notFound = (of: GroupResource, name: string): Refusal =>
  new Refusal('NotFound', `${qualifyResource(of)} ${goQuote(name)} not found`, detailsOf(of, name));

/** 404: there is no resource at a path of a served group. */
export const unknownPath = (): Refusal =>
  new Refusal('NotFound', 'the server could not find the requested resource', {});

/** 409: an object of that name already exists. */
export const alreadyExists = (of: GroupResource, name: string): Refusal =>
  new Refusal('AlreadyExists', `${qualifyResource(of)} ${goQuote(name)} already exists`, detailsOf(of, name));

/** 409: a precondition failed for the reason `why`. */
export const conflict = (of: GroupResource, name: string, why: string): Refusal =>
  new Refusal(
    'Conflict',
    `Operation cannot be fulfilled on ${qualifyResource(of)} ${goQuote(name)}: ${why}`,
    detailsOf(of, name),
  );

/** The message for an outdated resourceVersion. */
export const MODIFIED = 'the object has been modified; please apply your changes to the latest version and try again';

/** 400 with a message. */
export const badRequest = (message: string): Refusal => new Refusal('BadRequest', message);

/** 405: the resource does not support the method. */
export const methodNotAllowed = (
  message = 'the server does not allow this method on the requested resource',
): Refusal => new Refusal('MethodNotAllowed', message, {});

/** Types of violations (upstream's `field.ErrorType`), with the prefix of their messages. */
const VIOLATIONS = {
  FieldValueRequired: 'Required value',
  FieldValueInvalid: 'Invalid value',
  FieldValueDuplicate: 'Duplicate value',
  FieldValueForbidden: 'Forbidden',
  FieldValueNotFound: 'Not found',
  FieldValueNotSupported: 'Unsupported value',
  FieldValueTooLong: 'Too long',
  FieldValueTooMany: 'Too many',
  FieldValueTypeInvalid: 'Invalid value',
  InternalError: 'Internal error',
} as const;

/** The type of a violation. */
export type ViolationType = keyof typeof VIOLATIONS;

/** A validation error of a field. `message` is complete (`Invalid value: "x": must be …`). */
export interface Violation {
  readonly reason: ViolationType;
  readonly field: string;
  readonly message: string;
  /** The CEL expression that is not true. It is not sent to the client; records of decisions show it. */
  readonly rule?: string;
}

/** A text that messages show as it is, such as a struct printed by upstream. */
export class Verbatim {
  constructor(readonly text: string) {}
}

/** Formats an invalid value for a message in upstream's form: strings are quoted, as is "null", objects are JSON. */
export function formatValue(value: unknown): string {
  if (value === undefined || value === null) return '"null"';
  if (value instanceof Verbatim) return value.text;
  if (typeof value === 'string') return goQuote(value);
  if (typeof value === 'object') return writeJson(value);
  return typeof value === 'number' && !isInteger(value) ? doubleText(value) : String(value);
}

/**
 * The message is concatenated, which does not copy its parts: each item of a list may have a violation that shows the
 * whole list.
 */
function violation(reason: ViolationType, field: string, value: string, detail: string): Violation {
  let message = VIOLATIONS[reason] as string;
  for (const part of [value, detail]) if (part !== '') message += `: ${part}`;
  return { reason, field, message };
}

/** `Required value[: detail]`. */
export const required = (field: string, detail = ''): Violation => violation('FieldValueRequired', field, '', detail);
/** `Invalid value: <value>: detail`. */
export const invalid = (field: string, value: unknown, detail: string): Violation =>
  violation('FieldValueInvalid', field, formatValue(value), detail);
/** `Forbidden: detail`. */
export const forbiddenField = (field: string, detail: string): Violation =>
  violation('FieldValueForbidden', field, '', detail);
/** `Duplicate value: <value>`. */
export const duplicate = (field: string, value: unknown): Violation =>
  violation('FieldValueDuplicate', field, formatValue(value), '');
/** `Not found: <value>`. */
export const notFoundField = (field: string, value: unknown): Violation =>
  violation('FieldValueNotFound', field, formatValue(value), '');
/** `Unsupported value: <value>: supported values: "A", "B"`. */
export const notSupported = (field: string, value: unknown, supported: readonly string[]): Violation =>
  violation(
    'FieldValueNotSupported',
    field,
    formatValue(value),
    supported.length ? `supported values: ${supported.map(goQuote).join(', ')}` : '',
  );
/** `Internal error: detail`. */
export const internalError = (field: string, detail: string): Violation =>
  violation('InternalError', field, '', detail);
/** `Too long: may not be more than N bytes`. */
export const tooLong = (field: string, bytes: number): Violation =>
  violation('FieldValueTooLong', field, '', `may not be more than ${bytes} bytes`);
/** `Too many: <count>: must have at most N items`. */
export const tooMany = (field: string, count: number, most: number): Violation =>
  violation('FieldValueTooMany', field, String(count), `must have at most ${most} items`);

/** The largest number of violations or conflicts in an error. */
export const MAX_VIOLATIONS = 1000;
/** The largest total length of violations in an error: that of a body, since they may repeat the client's values. */
const MAX_CHARACTERS = 3 * 1024 * 1024;

/** Truncates a list of violations or conflicts to these limits. The first one is always kept. */
export function truncateViolations<T>(all: readonly T[], characters: (one: T) => number): readonly T[] {
  let left = MAX_CHARACTERS;
  const past = all.findIndex((one, i) => i >= MAX_VIOLATIONS || (left -= characters(one)) < 0);
  return past < 0 ? all : all.slice(0, Math.max(1, past));
}

/** A 422 with the violations of an object, which are the causes in its Status. */
export class InvalidObject extends Refusal {
  constructor(
    message: string,
    details: StatusDetails,
    readonly violations: readonly Violation[],
  ) {
    const causes = violations.map(({ reason, message, field }) => ({ reason, message, field }));
    super('Invalid', message, { ...details, causes });
  }
}

/** 422 with the violations of an object, truncated to the limits. `kind` is the kind, not the resource. */
export function invalidObject(group: string, kind: string, name: string, found: readonly Violation[]): InvalidObject {
  const violations = truncateViolations(found, ({ field, message }) => field.length + message.length);
  const lines = [...new Set(violations.map(v => `${v.field}: ${v.message}`))];
  if (violations.length < found.length) lines.push('and more');
  const all = lines.length === 1 ? lines[0] : `[${lines.join(', ')}]`;
  const qualifiedKind = group ? `${kind}.${group}` : kind;
  const message = `${qualifiedKind} ${goQuote(name)} is invalid: ${violations.length ? all : '<nil>'}`;
  return new InvalidObject(message, detailsOf({ group, resource: kind }, name), violations);
}
