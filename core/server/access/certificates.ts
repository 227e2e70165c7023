import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readAuthorities } from '../../../plugins/authn/authorities.js';
import type { Log } from '../../api/host.js';
import { readBounded, watchFiles } from '../../files/watchedFile.js';
import { CONFIG_FILE_BYTES } from '../../limits.js';
import type { Closers } from '../../plugin/closers.js';
import type { Settings } from '../../settings/settings.js';
import type { DataPaths } from '../dataDirectory.js';
import { checkServingCertificate } from './credentialFiles.js';

/**
 * The file of the CAs whose certificates the handshake accepts: those of clients and, in a file that is created for
 * this, those of authenticating proxies. The authenticators distinguish them.
 */
export function handshakeCas(
  { clientCaFile, requestheaderClientCaFile }: Pick<Settings, 'clientCaFile' | 'requestheaderClientCaFile'>,
  ownCaFile: string,
  directory: string,
): string {
  const clients = clientCaFile ?? ownCaFile;
  if (requestheaderClientCaFile === undefined) return clients;
  const all = join(directory, 'pki', 'client-cas.crt');
  writeFileSync(all, [clients, requestheaderClientCaFile].map(file => readFileSync(file, 'utf8')).join('\n'));
  return all;
}

/** A digest of the contents of files, which tells whether they have changed. Rejects if one cannot be read. */
async function digestOf(files: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const file of files)
    hash.update(
      createHash('sha256')
        .update(await readBounded(file, CONFIG_FILE_BYTES))
        .digest(),
    );
  return hash.digest('base64');
}

/** The parts of a server whose certificates are watched. */
export interface CertificateUse {
  readonly settings: Settings;
  readonly paths: Pick<DataPaths, 'directory'>;
  readonly pki: { readonly clientCaFile: string };
  readonly log: Log;
}

/** Makes listeners read the files of certificates again. Rejects if they cannot use them. */
export type Renew = () => Promise<void>;

/**
 * Watches the serving certificate, its key and the CAs of clients that settings name, from before they are first read.
 * When they change, new connections use them; files that cannot be used are logged, and the former ones stay in use.
 * Returns a function to call with that of the listeners, once they are open.
 */
export function watchCertificates(use: CertificateUse, closers: Closers): (renew: Renew) => void {
  const { settings, paths, pki, log } = use;
  const { tlsCertFile, tlsPrivateKeyFile, clientCaFile, requestheaderClientCaFile } = settings;
  const named = [tlsCertFile, tlsPrivateKeyFile, clientCaFile, requestheaderClientCaFile];
  const files = named.filter(file => file !== undefined);
  let opened: (renew: Renew) => void = () => undefined;
  if (files.length === 0) return opened;
  const listeners = new Promise<Renew>(resolve => (opened = resolve));
  let used: string | undefined;
  const watch = watchFiles(files, async () => {
    try {
      const digest = await digestOf(files);
      if (digest === used) return;
      checkServingCertificate(settings);
      for (const file of [clientCaFile, requestheaderClientCaFile]) if (file !== undefined) readAuthorities(file);
      handshakeCas(settings, pki.clientCaFile, paths.directory);
      await (await listeners)();
      used = digest;
    } catch (error) {
      log.error({ files }, `the certificates are not used, and the former ones stay: ${(error as Error).message}`);
      return;
    }
    log.info({ files }, 'the certificates have changed and are used');
  });
  closers.add('the watch of certificates', () => watch.close());
  return opened;
}
