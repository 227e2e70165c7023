import { randomBytes } from 'node:crypto';
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
import type { Naming } from '../naming.js';
import type { Releases } from '../plugin/releases.js';
import { ensurePki, type Pki } from '../pki/index.js';
import type { Settings } from './settings.js';

/**
 * What a server keeps beside its objects: certificates, the administrator's token and its secrets. They are made once.
 * Private files have mode 0600, and the directories that hold them 0700.
 */
export interface Home {
  readonly storePath: string;
  readonly pki: Pki;
  /** The administrator's token, and the file that the token authenticator reads it from. */
  readonly admin: { readonly token: string; readonly file: string };
  /** Signs continue tokens. It is kept with the data, so that tokens survive a restart. */
  readonly continueSecret: Uint8Array;
}

function adminToken(directory: string, user: string): Home['admin'] {
  const file = join(directory, 'admin-token.csv');
  if (!existsSync(file))
    writeFileSync(file, `${randomBytes(24).toString('base64url')},${user},${user},"system:masters"\n`, { mode: 0o600 });
  return { token: readFileSync(file, 'utf8').split(',')[0]!, file };
}

function secret(file: string): Uint8Array {
  if (!existsSync(file)) writeFileSync(file, randomBytes(32), { mode: 0o600 });
  return readFileSync(file);
}

/** Keeps other users out of a directory of secrets, also if it was made by an earlier release or copied here. */
function makePrivate(directory: string): void {
  restrict(directory);
  for (const file of readdirSync(directory)) if (!file.endsWith('.crt')) restrict(join(directory, file));
}

/** Takes from other users what they may do with a file or directory. */
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

/** The data directory; a new one is private, the mode of one that exists is its owner's choice. */
function directoryOf({ dataDir }: Settings): string {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  return resolve(dataDir);
}

/**
 * Opens the data directory and fills in what is missing. With `temporary` it is a new one; `releases` gets what removes
 * it.
 */
export async function openHome(
  settings: Settings,
  naming: Naming,
  temporary: boolean,
  releases: Releases,
): Promise<Home> {
  const directory = temporary ? temporaryDirectory(releases) : directoryOf(settings);
  const sans = [settings.bindAddress, ...settings.tlsSan];
  const pki = await ensurePki({ dataDir: directory, sans, naming, now: Date.now });
  const own = join(directory, 'pki');
  const admin = adminToken(own, naming.component('orchestrator-admin'));
  const continueSecret = secret(join(own, 'continue.key'));
  makePrivate(own);
  return { storePath: join(directory, 'store'), pki, admin, continueSecret };
}
