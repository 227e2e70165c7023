import { generateKeyPair } from 'node:crypto';
import { existsSync, linkSync, rmSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { randomUUID } from '../../../core/runtime/random.js';
import type { ServiceAccountConfig } from './config.js';
import { readSigningKey, readVerificationKeys, type SigningKey, type VerificationKey } from './keys.js';

/** The keys of a configuration. */
export interface TokenKeys {
  readonly signing: SigningKey;
  /** The keys that verify tokens, each once. */
  readonly verifying: readonly VerificationKey[];
}

function readKeys({ keyFiles, signingKeyFile }: ServiceAccountConfig): TokenKeys {
  const all = keyFiles.flatMap(readVerificationKeys);
  return {
    signing: readSigningKey(signingKeyFile),
    verifying: [...new Map(all.map(key => [key.kid, key])).values()],
  };
}

/**
 * Makes the server's own key: RSA, which all JWT libraries can verify, and verify quickly. The file appears as a whole,
 * and is never replaced: if several threads make it at the same time, all use the key of the first.
 */
async function makeKey(file: string): Promise<void> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const made = `${file}.${randomUUID()}.new`;
  try {
    writeFileSync(made, privateKey, { mode: 0o600, flush: true });
    linkSync(made, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(made, { force: true });
  }
}

/**
 * Reads the keys of a configuration, in each thread that needs them. Throws ConfigError for files that are unusable, so
 * that a server that could not sign does not start. A key that the server makes itself is made when the result is first
 * called, because generating it takes up to a second of CPU time. The call rejects if the file cannot be written, and
 * tries again the next time.
 */
export function tokenKeys(config: ServiceAccountConfig): () => Promise<TokenKeys> {
  const { keyFiles, signingKeyFile, makesKey } = config;
  if (!makesKey || existsSync(signingKeyFile)) {
    const keys = Promise.resolve(readKeys(config));
    return () => keys;
  }
  for (const file of keyFiles) if (file !== signingKeyFile) readVerificationKeys(file);
  const make = async (): Promise<TokenKeys> => {
    // Another thread may have made it since.
    if (!existsSync(signingKeyFile)) await makeKey(signingKeyFile);
    return readKeys(config);
  };
  let made: Promise<TokenKeys> | undefined;
  const forget = (error: unknown): never => {
    made = undefined;
    throw error;
  };
  return () => (made ??= make().catch(forget));
}
