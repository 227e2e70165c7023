import type { Log } from '../../api/host.js';
import { readBounded, watchFiles } from '../../files/watchedFile.js';
import { CONFIG_FILE_BYTES } from '../../limits.js';
import type { Naming } from '../../naming.js';
import { KmsCiphers } from './kms/ciphers.js';
import { type EncryptionRule, type GivenCipher, readEncryptionFile } from './file.js';
import { type EncryptionObserver, observeReload } from './metrics.js';
import { EncryptedValues } from './values.js';

/** The rules of an EncryptionConfiguration as it is now. Rejects with ConfigError if it cannot be used. */
export const readRules = async (file: string, naming: Naming): Promise<readonly EncryptionRule<GivenCipher>[]> =>
  readEncryptionFile(await readBounded(file, CONFIG_FILE_BYTES), file, naming);

/** What the values of a store need of where they are used. */
export interface EncryptionHost {
  readonly log: Log;
  readonly naming: Naming;
  readonly now: () => number;
  /** Is given the measurements of `ENCRYPTION_METRICS`. */
  readonly observe: EncryptionObserver;
  onClose(release: () => void): void;
}

/** The values by an EncryptionConfiguration, for one use. */
export interface OpenedValues {
  readonly values: EncryptedValues;
  /** Ends the connections to key management plugins. */
  close(): void;
}

/**
 * The values by an EncryptionConfiguration as it is now. Rejects with ConfigError if it cannot be used, and with
 * StoreError if a key management plugin does not answer.
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
 * The values of a store by an EncryptionConfiguration, which is read again when it changes: a bad file is reported, and
 * the former one stays. Rejects with ConfigError if the file cannot be used at the start, and with StoreError if a key
 * management plugin does not answer.
 */
export async function encryptedValues(file: string, host: EncryptionHost): Promise<EncryptedValues> {
  const ciphers = new KmsCiphers(host.log, host.observe);
  host.onClose(() => ciphers.close());
  const values = new EncryptedValues(await ciphers.resolve(await readRules(file, host.naming)), host.naming);
  const watch = watchFiles([file], async () => {
    try {
      values.replace(await ciphers.resolve(await readRules(file, host.naming)));
    } catch (error) {
      observeReload(host, 'failure');
      host.log.error(
        { file },
        `the encryption file is not used, and the former one stays: ${(error as Error).message}`,
      );
      return;
    }
    observeReload(host, 'success');
    host.log.info({ file }, 'the encryption file has changed and is used');
  });
  host.onClose(() => watch.close());
  return values;
}
