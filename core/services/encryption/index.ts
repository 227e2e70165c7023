import type { Log } from '../../api/host.js';
import { StoreError } from '../../api/storage.js';
import { readBounded, watchFiles } from '../../files/watchedFile.js';
import { CONFIG_FILE_BYTES } from '../../limits.js';
import type { Naming } from '../../naming.js';
import { clearTimeout, setTimeout } from '../../runtime/timers.js';
import { KmsCiphers } from './kms/ciphers.js';
import { type EncryptionRule, type GivenCipher, readEncryptionFile } from './file.js';
import { type EncryptionObserver, observeReload } from './metrics.js';
import { EncryptedValues } from './values.js';

/** Pause before a file that was refused because of a key management plugin is tried again, in milliseconds. */
const RETRY_MS = 5000;

/** The rules of an EncryptionConfiguration as it is now. Rejects with ConfigError if it cannot be used. */
export const readRules = async (file: string, naming: Naming): Promise<readonly EncryptionRule<GivenCipher>[]> =>
  readEncryptionFile(await readBounded(file, CONFIG_FILE_BYTES), file, naming);

/** The services that encryption needs of its store. */
export interface EncryptionHost {
  readonly log: Log;
  readonly naming: Naming;
  readonly now: () => number;
  /** Called with the values of `ENCRYPTION_METRICS`. */
  readonly observe: EncryptionObserver;
  onClose(release: () => void): void;
}

/** The values of a store by an EncryptionConfiguration, opened for one use. */
export interface OpenedValues {
  readonly values: EncryptedValues;
  /** Ends the connections to key management plugins. */
  close(): void;
}

/**
 * Opens the values of a store by an EncryptionConfiguration as it is now. Rejects with ConfigError if it cannot be
 * used, and with StoreError if a key management plugin does not answer.
 */
export async function readValues(
  file: string,
  { log, naming, observe }: Pick<EncryptionHost, 'log' | 'naming' | 'observe'>,
): Promise<OpenedValues> {
  const ciphers = new KmsCiphers(log, observe);
  const close = (): void => ciphers.close();
  try {
    return { values: new EncryptedValues(await ciphers.resolve(await readRules(file, naming)), naming), close };
  } catch (error) {
    close();
    throw error;
  }
}

/**
 * The values of a store by an EncryptionConfiguration, which is read again when it changes. An invalid file is
 * reported, and the previous configuration stays in use; if a key management plugin did not answer, the file is tried
 * again until it does. Rejects with ConfigError if the file cannot be used at the start, and with StoreError if a key
 * management plugin does not answer.
 */
export async function encryptedValues(file: string, host: EncryptionHost): Promise<EncryptedValues> {
  const ciphers = new KmsCiphers(host.log, host.observe);
  host.onClose(() => ciphers.close());
  const values = new EncryptedValues(await ciphers.resolve(await readRules(file, host.naming)), host.naming);
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  const use = async (): Promise<void> => {
    clearTimeout(timer);
    try {
      values.replace(await ciphers.resolve(await readRules(file, host.naming)));
    } catch (error) {
      if (isClosed) return;
      observeReload(host, 'failure');
      const message = `the encryption file is not used, and the former one stays: ${(error as Error).message}`;
      host.log.error({ file }, message);
      // The plugin may be starting. The file does not change when it is ready, so the file is tried again.
      if (error instanceof StoreError) timer = setTimeout(() => void reload(), RETRY_MS).unref();
      return;
    }
    observeReload(host, 'success');
    host.log.info({ file }, 'the encryption file has changed and is used');
  };
  let used = Promise.resolve();
  const reload = (): Promise<void> => (used = used.then(use));
  const watch = watchFiles([file], reload);
  host.onClose(() => {
    isClosed = true;
    clearTimeout(timer);
    watch.close();
  });
  return values;
}
