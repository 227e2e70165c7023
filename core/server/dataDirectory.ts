import { generateKeyPair, randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Naming } from '../naming.js';
import type { Releases } from '../plugin/releases.js';
import { ensurePki, type Pki, writeFileAtomic } from '../pki/index.js';
import type { Settings } from './settings.js';

/**
 * The data directory, created at the first start: the store, certificates, the administrator's token and keys. Private
 * files have mode 0600, and their directories 0700.
 */
export interface DataDirectory {
  readonly storePath: string;
  readonly pki: Pki;
  /** The administrator's token, and the file that the token authenticator reads it from. */
  readonly admin: { readonly token: string; readonly file: string };
  /** Signs continue tokens. It is kept with the data, so that tokens survive a restart. */
  readonly continueSecret: Uint8Array;
  /** The key that signs tokens of service accounts unless the settings name one. */
  readonly serviceAccountKeyFile: string;
}

function ensureAdminToken(directory: string, user: string): DataDirectory['admin'] {
  const file = join(directory, 'admin-token.csv');
  if (!existsSync(file))
    writeFileSync(file, `${randomBytes(24).toString('base64url')},${user},${user},"system:masters"\n`, { mode: 0o600 });
  return { token: readFileSync(file, 'utf8').split(',')[0]!, file };
}

function ensureSecret(file: string): Uint8Array {
  if (!existsSync(file)) writeFileSync(file, randomBytes(32), { mode: 0o600 });
  return readFileSync(file);
}

/** Creates the key for tokens of service accounts: RSA, which all JWT libraries can verify, quickly. */
async function ensureServiceAccountKey(file: string): Promise<string> {
  if (existsSync(file)) return file;
  const { privateKey } = await promisify(generateKeyPair)('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  writeFileAtomic(file, privateKey, 0o600);
  return file;
}

/** Removes the permissions of group and others from a directory with secrets, and from all but its certificates. */
function makePrivate(directory: string): void {
  restrict(directory);
  for (const file of readdirSync(directory)) if (!file.endsWith('.crt')) restrict(join(directory, file));
}

/** Removes the permissions of group and others from a file or directory. */
function restrict(path: string): void {
  const { mode } = statSync(path);
  if ((mode & 0o077) === 0) return;
  try {
    chmodSync(path, mode & 0o700);
  } catch (error) {
    // Files of another owner, or of a read-only file system, as mounted secrets are, keep their modes.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EPERM' && code !== 'EROFS') throw error;
  }
}

/** Makes a directory that is removed when the server closes. */
function temporaryDirectory(releases: Releases): string {
  const made = mkdtempSync(join(tmpdir(), 'capstan-'));
  releases.add('the temporary directory', () => rmSync(made, { recursive: true, force: true }));
  return made;
}

/** Creates the data directory, with mode 0700. The mode of an existing directory is not changed. */
function makeDirectory({ dataDir }: Settings): string {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  return resolve(dataDir);
}

/**
 * Opens the data directory and creates missing files. With `temporary` it is a new directory, which `releases` removes.
 */
export async function openDataDirectory(
  settings: Settings,
  naming: Naming,
  temporary: boolean,
  releases: Releases,
): Promise<DataDirectory> {
  const directory = temporary ? temporaryDirectory(releases) : makeDirectory(settings);
  const sans = [settings.bindAddress, ...settings.tlsSan];
  const pkiDirectory = join(directory, 'pki');
  mkdirSync(pkiDirectory, { recursive: true, mode: 0o700 });
  const [pki, serviceAccountKeyFile] = await Promise.all([
    ensurePki({ dataDir: directory, sans, naming, now: Date.now }),
    ensureServiceAccountKey(join(pkiDirectory, 'service-account.key')),
  ]);
  const admin = ensureAdminToken(pkiDirectory, naming.component('orchestrator-admin'));
  const continueSecret = ensureSecret(join(pkiDirectory, 'continue.key'));
  makePrivate(pkiDirectory);
  return { storePath: join(directory, 'store'), pki, admin, continueSecret, serviceAccountKeyFile };
}
