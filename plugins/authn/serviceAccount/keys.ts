import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { JWK } from 'jose';
import { ConfigError } from '../../../core/api/index.js';
import { jose } from './jose.js';

/** A public key that tokens are verified with. */
export interface VerificationKey {
  /** SHA-256 of the key in DER (SubjectPublicKeyInfo), in base64url: the same for every server with this key. */
  readonly kid: string;
  /** The only algorithm that signatures of this key may have (RFC 7518, 3.1). */
  readonly alg: string;
  readonly key: KeyObject;
}

/** The private key that tokens are signed with. */
export interface SigningKey {
  readonly kid: string;
  readonly alg: string;
  readonly key: KeyObject;
}

/** Algorithms by the curve of an EC key. */
const CURVES: ReadonlyMap<string | undefined, string> = new Map([
  ['prime256v1', 'ES256'],
  ['secp384r1', 'ES384'],
  ['secp521r1', 'ES512'],
]);
/** Shorter RSA keys are refused: RFC 7518, 3.3. */
const RSA_BITS = 2048;
/** Each block of a file in PEM. */
const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----[^-]*-----END ([A-Z0-9 ]+)-----/g;
/** Labels of blocks that hold a key; a certificate stands for its public key. */
const KEYS = /^(RSA |EC )?(PRIVATE|PUBLIC) KEY$|^CERTIFICATE$/;

function algorithmOf(key: KeyObject, file: string): string {
  const { modulusLength = 0, namedCurve } = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType === 'rsa') {
    if (modulusLength >= RSA_BITS) return 'RS256';
    throw new ConfigError(file, `holds an RSA key of ${modulusLength} bits; make one of at least ${RSA_BITS}`);
  }
  const alg = key.asymmetricKeyType === 'ec' ? CURVES.get(namedCurve) : undefined;
  if (alg) return alg;
  throw new ConfigError(file, 'holds a key that is neither RSA nor ECDSA on the curve P-256, P-384 or P-521');
}

function describe(key: KeyObject, file: string): VerificationKey {
  const der = key.export({ type: 'spki', format: 'der' });
  return { kid: createHash('sha256').update(der).digest('base64url'), alg: algorithmOf(key, file), key };
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (thrown) {
    throw new ConfigError(file, `cannot read the key file: ${(thrown as Error).message}`);
  }
}

/** Parses one block; the error names the file and has no part of its contents. */
function parse<T>(file: string, make: () => T): T {
  try {
    return make();
  } catch {
    throw new ConfigError(file, 'holds a key in PEM that cannot be parsed');
  }
}

/**
 * The public keys of a file in PEM: of every public key, private key and certificate in it. Throws ConfigError for a
 * file that cannot be read or holds no RSA or ECDSA key.
 */
export function readVerificationKeys(file: string): readonly VerificationKey[] {
  const blocks = [...readText(file).matchAll(BLOCK)].filter(([, label = '', end]) => label === end && KEYS.test(label));
  if (blocks.length === 0) throw new ConfigError(file, 'holds no RSA or ECDSA key in PEM');
  return blocks.map(([block]) =>
    describe(
      parse(file, () => createPublicKey(block)),
      file,
    ),
  );
}

/** The private key of a file in PEM. Throws ConfigError for a file that cannot be read or holds none. */
export function readSigningKey(file: string): SigningKey {
  const text = readText(file);
  if (!/-----BEGIN ([A-Z]+ )?PRIVATE KEY-----/.test(text)) throw new ConfigError(file, 'holds no private key in PEM');
  const key = parse(file, () => createPrivateKey(text));
  return { ...describe(createPublicKey(key), file), key };
}

/** A public key as clients read it (RFC 7517). */
export async function toJwk({ key, kid, alg }: VerificationKey): Promise<JWK> {
  const { exportJWK } = await jose();
  return { use: 'sig', kid, alg, ...(await exportJWK(key)) };
}

/** The keys that may have signed a token: the one that its header names, or all of them if it names none. */
export const candidates = (keys: readonly VerificationKey[], kid: string | undefined): readonly VerificationKey[] =>
  kid ? keys.filter(key => key.kid === kid) : keys;
