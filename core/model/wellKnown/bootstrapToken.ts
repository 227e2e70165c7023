import type { ApiObject, Frozen } from '../object.js';
import { stringAt } from '../record.js';

/** Type of the secrets that hold bootstrap tokens, in neutral names. */
export const BOOTSTRAP_TOKEN_TYPE = 'bootstrap.orchestrator.io/token';

const NAME = /^bootstrap-token-([a-z0-9]{6})$/;
const VALUE = /^[a-z0-9]{16}$/;
const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;

/** A bootstrap token as its secret holds it (spec, "Bootstrap token secret"). */
export interface BootstrapToken {
  readonly id: string;
  readonly value: string;
  /** Milliseconds since the epoch; infinite for a token that does not expire, 0 for a time that cannot be parsed. */
  readonly expiresAt: number;
  readonly authenticates: boolean;
  readonly signs: boolean;
  /** The text with the further groups. */
  readonly groups: string;
}

/** The value of a key of a secret, decoded from base64; empty if there is none. */
const read = (secret: Frozen<ApiObject>, key: string): string =>
  Buffer.from(stringAt(secret, 'data', key), 'base64').toString('utf8');

function expiryOf(text: string): number {
  if (text === '') return Number.POSITIVE_INFINITY;
  return RFC3339.test(text) ? Date.parse(text) || 0 : 0;
}

/**
 * The time at which the token of a secret expires, in milliseconds since the epoch. An invalid time counts as expired.
 */
export const bootstrapTokenExpiry = (secret: Frozen<ApiObject>): number => expiryOf(read(secret, 'expiration'));

/**
 * The token of a secret; undefined for a secret of another name or form. The caller checks the namespace, and `type` is
 * BOOTSTRAP_TOKEN_TYPE in the naming of the server.
 */
export function bootstrapTokenOf(secret: Frozen<ApiObject>, type: string): BootstrapToken | undefined {
  if (secret.metadata.deletionTimestamp || secret['type'] !== type) return undefined;
  const id = NAME.exec(secret.metadata.name ?? '')?.[1];
  const value = read(secret, 'token-secret');
  if (id === undefined || read(secret, 'token-id') !== id || !VALUE.test(value)) return undefined;
  return {
    id,
    value,
    expiresAt: bootstrapTokenExpiry(secret),
    authenticates: read(secret, 'usage-bootstrap-authentication') === 'true',
    signs: read(secret, 'usage-bootstrap-signing') === 'true',
    groups: read(secret, 'auth-extra-groups'),
  };
}
