import type { ApiObject } from '../model/object.js';
import { type Contributed, definePoint } from './point.js';

/**
 * What a new token of a service account is about. Times are in seconds since the epoch.
 *
 * @example
 * const token: NewToken = { account, audiences: ['vault'], issuedAt: now, expiresAt: now + 3600 };
 */
export interface NewToken {
  readonly account: ApiObject;
  readonly pod?: ApiObject | undefined;
  readonly secret?: ApiObject | undefined;
  /** The node of the pod, or the one that the token is bound to. It may have a name alone. */
  readonly node?: ApiObject | undefined;
  readonly audiences: readonly string[];
  readonly issuedAt: number;
  readonly expiresAt: number;
  /** From when on the token should have been replaced. */
  readonly warnAfter?: number | undefined;
}

/**
 * The object that a legacy token is kept in, and its account.
 *
 * @example
 * const token: NewLegacyToken = { namespace: 'default', secret: 'robot-token', account: 'robot', uid };
 */
export interface NewLegacyToken {
  readonly namespace: string;
  readonly secret: string;
  readonly account: string;
  /** Of the account. */
  readonly uid: string;
}

/**
 * Makes the tokens of service accounts.
 *
 * @example
 * const token = await issuer.issue({ account, audiences: issuer.audiences, issuedAt: now, expiresAt: now + 600 });
 */
export interface TokenIssuer {
  /** The audiences of the server, which tokens have unless others are requested. */
  readonly audiences: readonly string[];
  /** Longest lifetime of a token, in seconds; absent: no limit. */
  readonly maxSeconds?: number | undefined;
  /** Whether tokens that are bound to a pod may live longer than they say. */
  readonly extend: boolean;
  /** A new token with an id of its own. */
  issue(token: NewToken): Promise<string>;
  /** A token that never expires: it is valid as long as the secret that holds it. */
  issueLegacy(token: NewLegacyToken): Promise<string>;
}

const last = (inputs: readonly Contributed<TokenIssuer>[]): TokenIssuer | undefined => inputs.at(-1)?.value;

/**
 * Who makes the tokens of service accounts: the last one is used, so that one of the configuration replaces the
 * server's own.
 *
 * @example
 * contribute: config => [tokenIssuer.of(host => new RemoteSigner(config, host.log))],
 */
export const tokenIssuer = definePoint<TokenIssuer>()('tokenIssuer', ['request', 'control'], last);
