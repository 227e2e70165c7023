import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { NamingName } from '../../core/naming.js';

/** The folder with the certificates for a naming, which are created once for each build. */
async function made(naming: NamingName): Promise<string> {
  const folder = resolve('dist/test-certificates', naming);
  if (existsSync(folder)) return folder;
  const [{ ensurePki }, { namingOf }] = await Promise.all([
    import('../../core/services/pki/index.js'),
    import('../../core/naming.js'),
  ]);
  mkdirSync(resolve('dist/test-certificates'), { recursive: true });
  const making = mkdtempSync(`${folder}-`);
  const pki = await ensurePki({
    dataDir: making,
    sans: ['127.0.0.1'],
    naming: namingOf(naming),
    now: () => Date.now(),
  });
  await pki.frontProxyCa;
  try {
    renameSync(making, folder);
  } catch {
    // Another process has created it meanwhile.
    rmSync(making, { recursive: true });
  }
  return folder;
}

/**
 * Puts a CA and certificates into a new data directory, as a start would create them. A process that creates them
 * itself loads the library for them, which is a tenth of the CPU of a start.
 */
export async function addCertificates(dataDir: string, naming: NamingName = 'kubernetes'): Promise<void> {
  if (existsSync(join(dataDir, 'pki'))) return;
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  cpSync(join(await made(naming), 'pki'), join(dataDir, 'pki'), { recursive: true });
}
