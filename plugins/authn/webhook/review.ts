import { isAbsent, isRecord, stringAt, type UnknownRecord, type User, valueAt } from '../../../core/api/index.js';

const KIND = 'TokenReview';

/** The body of a review (spec, "TokenReview"), with the members that upstream sends, in its order. */
export const reviewOf = (apiVersion: string, token: string, audiences: readonly string[]): string =>
  `${JSON.stringify({
    kind: KIND,
    apiVersion,
    metadata: { creationTimestamp: null },
    spec: { token, audiences },
    status: { user: {} },
  })}\n`;

/** The answer of a webhook about a token. `user`: null if it is not valid. */
export interface ReviewedToken {
  readonly user: User | null;
  /** The audiences that the token is for; empty if the answer names none. */
  readonly audiences: readonly string[];
}

const fail = (path: string, what: string): never => {
  throw new Error(`the answer of the webhook is malformed: ${path} must be ${what}`);
};

function textAt(from: unknown, path: string, ...members: string[]): string {
  const value = valueAt(from, ...members);
  if (isAbsent(value)) return '';
  return typeof value === 'string' ? value : fail(path, 'a string');
}

function texts(value: unknown, path: string): readonly string[] {
  if (isAbsent(value)) return [];
  if (Array.isArray(value) && value.every(one => typeof one === 'string')) return value as string[];
  return fail(path, 'a list of strings');
}

/** An object, or an empty one where it is absent. */
function objectAt(from: UnknownRecord, path: string, member: string): UnknownRecord {
  const value = valueAt(from, member);
  if (isAbsent(value)) return {};
  return isRecord(value) ? value : fail(path, 'an object');
}

function userOf(status: UnknownRecord): User {
  const user = objectAt(status, 'status.user', 'user');
  const name = textAt(user, 'status.user.username', 'username');
  if (name === '') throw new Error('the answer of the webhook has no status.user.username');
  const extra = objectAt(user, 'status.user.extra', 'extra');
  return {
    name,
    uid: textAt(user, 'status.user.uid', 'uid'),
    groups: texts(user['groups'], 'status.user.groups'),
    extra: new Map(Object.entries(extra).map(([key, values]) => [key, texts(values, `status.user.extra.${key}`)])),
  };
}

/**
 * Reads the answer of a webhook; its spec is ignored. Throws an Error with the reason if it is of another version than
 * the review, or malformed, or if it has an error.
 */
export function readReview(answer: UnknownRecord, apiVersion: string): ReviewedToken {
  const given = stringAt(answer, 'apiVersion') || apiVersion;
  const kind = stringAt(answer, 'kind') || KIND;
  if (given !== apiVersion || kind !== KIND)
    throw new Error(`the webhook has answered with ${kind} of ${given}, and not of ${apiVersion}`);
  const status = objectAt(answer, 'status', 'status');
  const { authenticated } = status;
  if (!isAbsent(authenticated) && typeof authenticated !== 'boolean') fail('status.authenticated', 'true or false');
  const audiences = texts(status['audiences'], 'status.audiences');
  const error = textAt(status, 'status.error', 'error');
  if (authenticated === true) return { user: userOf(status), audiences };
  if (error !== '') throw new Error(error);
  return { user: null, audiences: [] };
}
