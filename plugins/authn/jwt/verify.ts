import { createPublicKey, type KeyObject } from 'node:crypto';
import { isRecord, readJson, type UnknownRecord } from '../../../core/api/index.js';
import { parseStrict } from '../../../core/schema/json/json.js';
import { jose } from '../serviceAccount/jose.js';
import type { Issuer, PublicJwk } from './types.js';

/** How far the clock of a provider may be ahead of this one, for `nbf`, in seconds. */
const LEEWAY = 60;

/** The parts of a token that are read before its signature is verified. */
export interface DecodedToken {
  readonly header: UnknownRecord;
  readonly claims: UnknownRecord;
  /** The issuer that the token names. Whether the token is from there is not verified yet. */
  readonly issuer: string;
}

const BASE64URL = /^[A-Za-z0-9_-]*$/;

/**
 * Parses JSON in which no member occurs twice: readers of such a header would differ (RFC 7515, 4). Throws an Error.
 */
function readUnique(bytes: Uint8Array): unknown {
  const { value, duplicates } = parseStrict(bytes);
  if (duplicates.length > 0) throw new Error(duplicates[0]);
  return value;
}

/** The JSON object in a part of a token; undefined for anything else. Large integers are kept exactly. */
function objectIn(part: string | undefined, read: (bytes: Uint8Array) => unknown): UnknownRecord | undefined {
  if (!part || !BASE64URL.test(part)) return undefined;
  try {
    const value = read(Buffer.from(part, 'base64url'));
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The header that was decoded last, and its text: those of a provider are equal until it has another key. */
let lastHeader: { readonly text: string; readonly header: UnknownRecord } | undefined;
/** Longer headers are decoded each time, so that the size of the cache is bounded. */
const KEPT_HEADER = 1000;

function headerIn(text: string): UnknownRecord | undefined {
  if (lastHeader?.text === text) return lastHeader.header;
  const header = objectIn(text, readUnique);
  // A copy: a part of the token would keep the whole token in memory.
  if (header && text.length <= KEPT_HEADER) lastHeader = { text: Buffer.from(text).toString('latin1'), header };
  return header;
}

/** Decodes a token without verifying it; undefined if it is not a JWT that names its issuer (RFC 7519, 7.2). */
export function decodeToken(token: string): DecodedToken | undefined {
  const parts = token.split('.', 4);
  if (parts.length !== 3) return undefined;
  const header = headerIn(parts[0]!);
  const claims = header && objectIn(parts[1], readJson);
  const issuer = claims && Object.hasOwn(claims, 'iss') ? claims['iss'] : undefined;
  return header && claims && typeof issuer === 'string' ? { header, claims, issuer } : undefined;
}

/** A key of a provider. */
export interface VerificationKey {
  readonly kid: string | undefined;
  readonly key: KeyObject;
}

/** The keys for signatures among those of a provider. Others, and those that cannot be read, are left out. */
export function verificationKeysOf(jwks: readonly PublicJwk[]): readonly VerificationKey[] {
  return jwks.flatMap(jwk => {
    if (jwk['use'] !== undefined && jwk['use'] !== 'sig') return [];
    try {
      const key = createPublicKey({ key: jwk as never, format: 'jwk' });
      return [{ kid: typeof jwk.kid === 'string' ? jwk.kid : undefined, key }];
    } catch {
      return [];
    }
  });
}

/** The types and curves of keys by the algorithms that they sign with (RFC 7518, 3.1). */
const KEY_OF: ReadonlyMap<string, readonly [type: string, curve?: string]> = new Map([
  ['ES256', ['ec', 'prime256v1']],
  ['ES384', ['ec', 'secp384r1']],
  ['ES512', ['ec', 'secp521r1']],
]);

function fits({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject, algorithm: string): boolean {
  const [type, curve] = KEY_OF.get(algorithm) ?? ['rsa'];
  return asymmetricKeyType === type && (curve === undefined || asymmetricKeyDetails?.namedCurve === curve);
}

/** Thrown for a token that none of the keys has signed: the provider may have others by now. */
export class UnknownKey extends Error {
  constructor() {
    super('oidc: verify token: failed to verify signature: failed to verify id token signature');
  }
}

/**
 * Verifies the signature of a token (RFC 7515, 5.2), with the algorithm of its header if the issuer may use it. Throws
 * an Error with the reason; UnknownKey, if it has not been signed with one of the keys.
 */
export async function verifySignature(
  token: string,
  { header }: DecodedToken,
  keys: readonly VerificationKey[],
  { algorithms }: Issuer,
): Promise<void> {
  const algorithm = header['alg'];
  if (typeof algorithm !== 'string' || !algorithms.includes(algorithm))
    throw new Error(
      `oidc: verify token: oidc: id token signed with unsupported algorithm, expected ` +
        `[${algorithms.map(one => JSON.stringify(one)).join(' ')}] got ${JSON.stringify(algorithm ?? '')}`,
    );
  // No extensions are accepted (RFC 7515, 4.1.11), not even those that the library knows: with `b64` (RFC 7797), the
  // signed text would differ from the claims that were read.
  if (Object.hasOwn(header, 'crit'))
    throw new Error('oidc: verify token: failed to verify signature: extensions of `crit` are not supported');
  const { compactVerify, errors } = await jose();
  const { kid } = header;
  for (const { kid: own, key } of keys) {
    if ((kid && own && kid !== own) || !fits(key, algorithm)) continue;
    try {
      return void (await compactVerify(token, key, { algorithms: [algorithm] }));
    } catch (error) {
      // jose throws TypeError for a key that it does not use, such as one of RSA that is too short.
      if (!(error instanceof errors.JOSEError) && !(error instanceof TypeError)) throw error;
    }
  }
  throw new UnknownKey();
}

/** A claim; undefined if it is absent. Members of the prototype do not count. */
export const claimAt = (claims: UnknownRecord, name: string): unknown =>
  Object.hasOwn(claims, name) ? claims[name] : undefined;

/** The limit of the times that can be represented (ECMA-262, 21.4.1.1), in seconds before and after the epoch. */
const SHOWN_SECONDS = 8.64e12;

const shownTime = (seconds: number): string =>
  new Date(Math.max(-SHOWN_SECONDS, Math.min(seconds, SHOWN_SECONDS)) * 1000).toISOString();

/** A number in JSON (RFC 8259, 6). Some providers write times as texts, which upstream reads. */
const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
/** The number of seconds from which on times overflow in upstream: a token that ends later has expired. */
const OVERFLOW = 2 ** 63 - 62_135_596_800;

/** A claim that is a number of seconds; undefined if it is absent. Throws an Error for anything else. */
function secondsAt(claims: UnknownRecord, name: string): number | undefined {
  const value = claimAt(claims, name);
  if (value === undefined) return undefined;
  if (typeof value === 'number' || typeof value === 'bigint') return Math.trunc(Number(value));
  if (typeof value === 'string' && NUMBER.test(value)) return Math.trunc(Number(value));
  throw new Error(`oidc: verify token: oidc: failed to unmarshal claims: ${name} must be a number of seconds`);
}

/** The audiences of a token. Throws an Error unless they are texts. */
function audiencesOf(claims: UnknownRecord): readonly string[] {
  const aud = claimAt(claims, 'aud');
  const all: unknown = aud === undefined || aud === null ? [] : Array.isArray(aud) ? aud : [aud];
  if (Array.isArray(all) && all.every(one => typeof one === 'string')) return all as string[];
  throw new Error('oidc: verify token: oidc: failed to unmarshal claims: aud must be a string or a list of strings');
}

const quoted = (texts: readonly string[]): string => `[${texts.map(text => JSON.stringify(text)).join(' ')}]`;

/** A member that is an object, absent or null. Throws an Error for anything else. */
function membersAt(claims: UnknownRecord, name: string): UnknownRecord {
  const value = claimAt(claims, name) ?? {};
  if (isRecord(value)) return value;
  throw new Error(`oidc: verify token: oidc: failed to unmarshal claims: ${name} must be an object`);
}

/**
 * Checks that the sources of claims which are not in the token are described (OpenID Connect Core 1.0, 5.6.2):
 * otherwise groups that cannot be read would count as none. Throws an Error with the reason.
 */
function checkSources(claims: UnknownRecord): void {
  const [names, sources] = [membersAt(claims, '_claim_names'), membersAt(claims, '_claim_sources')];
  for (const source of Object.values(names))
    if (typeof source !== 'string' || !Object.hasOwn(sources, source) || !isRecord(sources[source]))
      throw new Error('oidc: verify token: oidc: source does not exist');
}

/**
 * Checks the audiences and times of a token whose signature is verified. Returns when it ends, in milliseconds since
 * the epoch. Throws an Error with the reason.
 */
export function checkClaims(claims: UnknownRecord, { audiences }: Issuer, now: number): number {
  for (const name of ['sub', 'nonce', 'at_hash'])
    if (Object.hasOwn(claims, name) && claims[name] !== null && typeof claims[name] !== 'string')
      throw new Error(`oidc: verify token: oidc: failed to unmarshal claims: ${name} must be a string`);
  checkSources(claims);
  const own = audiencesOf(claims);
  const expires = secondsAt(claims, 'exp');
  const notBefore = claims['nbf'] === null ? undefined : secondsAt(claims, 'nbf');
  secondsAt(claims, 'iat');
  if (!own.some(one => audiences.includes(one)))
    throw new Error(
      audiences.length === 1
        ? `oidc: verify token: oidc: expected audience ${JSON.stringify(audiences[0])} got ${quoted(own)}`
        : `oidc: verify token: oidc: expected audience in ${quoted(audiences)} got ${quoted(own)}`,
    );
  if (expires === undefined) throw new Error('oidc: verify token: oidc: token has no expiry');
  if (expires * 1000 < now || expires >= OVERFLOW)
    throw new Error(`oidc: verify token: oidc: token is expired (Token Expiry: ${shownTime(expires)})`);
  if (notBefore !== undefined && notBefore * 1000 > now + LEEWAY * 1000)
    throw new Error(
      `oidc: verify token: oidc: current time ${shownTime(now / 1000)} before the nbf (not before) time: ${shownTime(notBefore)}`,
    );
  return expires * 1000;
}
