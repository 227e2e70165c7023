import type { ApiObject } from '../model/object.js';
import { after } from './awaitable.js';
import { LIST, requireMembers } from './checks/parts.js';
import { type Contributed, definePoint } from './point.js';

/**
 * The content of a new token of a service account. Times are in seconds since the epoch.
 *
 * @example
 * const token: NewToken = { account, audiences: ['vault'], issuedAt: now, expiresAt: now + 3600 };
 */
export interface NewToken {
  readonly account: ApiObject;
  readonly pod?: ApiObject | undefined;
  readonly secret?: ApiObject | undefined;
  /** The node of the pod, or the one that the token is bound to. It may have only a name. */
  readonly node?: ApiObject | undefined;
  readonly audiences: readonly string[];
  readonly issuedAt: number;
  readonly expiresAt: number;
  /** The time by which clients should have replaced the token. */
  readonly warnAfter?: number | undefined;
}

/**
 * The secret that holds a legacy token, and its account.
 *
 * @example
 * const token: NewLegacyToken = { namespace: 'default', secret: 'robot-token', account: 'robot', uid };
 */
export interface NewLegacyToken {
  readonly namespace: string;
  readonly secret: string;
  readonly account: string;
  /** The uid of the account. */
  readonly uid: string;
}

/**
 * Creates the tokens of service accounts.
 *
 * @example
 * const token = await issuer.issue({ account, audiences: issuer.audiences, issuedAt: now, expiresAt: now + 600 });
 */
export interface TokenIssuer {
  /** The audiences of the server, which tokens have unless others are requested. */
  readonly audiences: readonly string[];
  /** Longest lifetime of a token, in seconds; absent: no limit. */
  readonly maxSeconds?: number | undefined;
  /** Whether tokens that are bound to a pod may be valid longer than requested. */
  readonly extend: boolean;
  /** A new token with an id of its own. */
  issue(token: NewToken): Promise<string>;
  /** A token that never expires: it is valid as long as the secret that holds it exists. */
  issueLegacy(token: NewLegacyToken): Promise<string>;
}

function checkToken(token: unknown): string {
  if (typeof token === 'string' && token !== '') return token;
  throw new TypeError('a token must be a string that is not empty');
}

/** The last issuer. Its calls are limited in time, and a failure names the plugin. */
function last(inputs: readonly Contributed<TokenIssuer>[]): TokenIssuer | undefined {
  const input = inputs.at(-1);
  if (!input) return undefined;
  const { value, call } = input;
  return {
    audiences: value.audiences,
    maxSeconds: value.maxSeconds,
    extend: value.extend,
    issue: async token => call(() => after(value.issue(token), checkToken), undefined, { function: 'issue' }),
    issueLegacy: async token =>
      call(() => after(value.issueLegacy(token), checkToken), undefined, { function: 'issueLegacy' }),
  };
}

/**
 * Creates the tokens of service accounts. The last one is used: one of the configuration replaces the built-in one.
 *
 * @example
 * contribute: config => [tokenIssuer.of(host => new RemoteSigner(config, host.log))],
 */
export const tokenIssuer = definePoint<TokenIssuer>()(
  'tokenIssuer',
  ['pool', 'control'],
  last,
  requireMembers({ audiences: LIST, issue: 'function', issueLegacy: 'function' }),
);
