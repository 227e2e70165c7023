import type { Host, Service } from '../../../core/api/index.js';
import { readBounded, watchFiles } from '../../../core/files/watchedFile.js';
import { CONFIG_FILE_BYTES } from '../../../core/limits.js';
import { ABAC_SERVICE } from './authorizer.js';
import { type Policy, readPolicies } from './policy.js';

/** The part of the plugin in the main thread: reads the policy file, also when it has changed. Publishes the policies. */
export function abacService(file: string, host: Pick<Host<'front'>, 'log' | 'naming' | 'onClose'>): Service {
  const { log, naming, onClose } = host;

  async function read(): Promise<readonly Policy[]> {
    const { policies, unversioned } = readPolicies(await readBounded(file, CONFIG_FILE_BYTES), file, naming);
    if (unversioned.length > 0)
      log.warn({ file }, `the policy file has policies without a version, in which what is absent matches all`);
    return policies;
  }

  return {
    name: ABAC_SERVICE,
    async start(publish) {
      publish(await read());
      const watch = watchFiles([file], async () => {
        try {
          publish(await read());
          log.info({ file }, 'the policy file has changed and is used');
        } catch (error) {
          log.error({ file }, `the policy file is not used, and the former one stays: ${(error as Error).message}`);
        }
      });
      onClose(() => watch.close());
    },
  };
}
