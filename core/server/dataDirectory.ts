import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { makeDirectories } from '../files/directories.js';
import type { Naming } from '../naming.js';
import type { Closers } from '../plugin/closers.js';
import { systemTime } from '../runtime/clock.js';
import { randomBytes } from '../runtime/random.js';
import { type CertificateFiles, certificateFiles, ensurePki } from '../services/pki/index.js';
import type { DataDirectory } from '../settings/dataDirectory.js';
import type { Settings } from '../settings/settings.js';

/** The paths of the files in a data directory. */
export interface DataPaths {
  readonly directory: string;
  readonly storePath: string;
  /** The server's own CA and its key. */
  readonly ca: CertificateFiles;
  /** The certificate with which the server passes requests on to others, and its key. */
  readonly frontProxy: CertificateFiles;
  /** The file from which the token authenticator reads the administrator's token. */
  readonly adminTokens: string;
  /** The key that signs tokens of service accounts unless the settings name one; created with the first token. */
  readonly serviceAccountKeyFile: string;
}

function ensureAdminToken(file: string, user: string): string {
  if (!existsSync(file))
    writeFileSync(file, `${randomBytes(24).toString('base64url')},${user},${user},"system:masters"\n`, { mode: 0o600 });
  return readFileSync(file, 'utf8').split(',')[0]!;
}

function ensureSecret(file: string): Uint8Array {
  if (!existsSync(file)) writeFileSync(file, randomBytes(32), { mode: 0o600 });
  return readFileSync(file);
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
    // Files of another owner, or on a read-only file system (such as mounted secrets), keep their modes.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EPERM' && code !== 'EROFS') throw error;
  }
}

/** Makes a directory that is removed when the server closes. */
function temporaryDirectory(closers: Closers): string {
  const made = mkdtempSync(join(tmpdir(), 'capstan-'));
  closers.add('the temporary directory', () => rmSync(made, { recursive: true, force: true }));
  return made;
}

/**
 * Creates the data directory, with mode 0700; the mode of an existing directory is not changed. With `temporary` it is
 * a new directory, which `closers` removes. Throws ConfigError if it cannot be made.
 */
export function makeDataDirectory({ dataDir }: Settings, temporary: boolean, closers: Closers): DataPaths {
  if (!temporary) makeDirectories(dataDir, '--data-dir');
  const directory = temporary ? temporaryDirectory(closers) : resolve(dataDir);
  const pki = join(directory, 'pki');
  makeDirectories(pki, '--data-dir');
  return {
    directory,
    storePath: join(directory, 'store'),
    ca: certificateFiles(directory, 'ca'),
    frontProxy: certificateFiles(directory, 'front-proxy-client'),
    adminTokens: join(pki, 'admin-token.csv'),
    serviceAccountKeyFile: join(pki, 'service-account.key'),
  };
}

/**
 * Creates the missing files of a data directory that a start needs: certificates, the administrator's token and keys.
 * Private files have mode 0600, and their directories 0700.
 */
export async function fillDataDirectory(
  { directory, adminTokens }: DataPaths,
  settings: Settings,
  naming: Naming,
): Promise<DataDirectory> {
  const sans = [settings.bindAddress, ...settings.tlsSan];
  const pki = await ensurePki({ dataDir: directory, sans, naming, now: systemTime });
  const adminToken = ensureAdminToken(adminTokens, naming.component('orchestrator-admin'));
  const pkiDirectory = dirname(adminTokens);
  const continueSecret = ensureSecret(join(pkiDirectory, 'continue.key'));
  makePrivate(pkiDirectory);
  return { pki, adminToken, continueSecret };
}
