import type { Host } from '../../api/host.js';
import { readBounded, watchFiles } from '../../files/watchedFile.js';
import { CONFIG_FILE_BYTES } from '../../limits.js';
import type { Naming } from '../../naming.js';
import { type EncryptionRule, readEncryptionFile } from './file.js';
import { EncryptedValues } from './values.js';

const readRules = async (file: string, naming: Naming): Promise<readonly EncryptionRule[]> =>
  readEncryptionFile(await readBounded(file, CONFIG_FILE_BYTES), file, naming);

/** The values by an EncryptionConfiguration as it is now. Rejects with ConfigError if it cannot be used. */
export const readValues = async (file: string, naming: Naming): Promise<EncryptedValues> =>
  new EncryptedValues(await readRules(file, naming), naming);

/** Where changes are reported, and when the watch ends. */
type EncryptionHost = Pick<Host<'writer'>, 'log' | 'naming' | 'onClose'>;

/**
 * The values of a store by an EncryptionConfiguration, which is read again when it changes: a bad file is reported, and
 * the former one stays. Rejects with ConfigError if the file cannot be used at the start.
 */
export async function encryptedValues(file: string, host: EncryptionHost): Promise<EncryptedValues> {
  const values = await readValues(file, host.naming);
  const watch = watchFiles([file], async () => {
    try {
      values.replace(await readRules(file, host.naming));
    } catch (error) {
      host.log.error(
        { file },
        `the encryption file is not used, and the former one stays: ${(error as Error).message}`,
      );
      return;
    }
    host.log.info({ file }, 'the encryption file has changed and is used');
  });
  host.onClose(() => watch.close());
  return values;
}
