import { isDeepStrictEqual } from 'node:util';
import type { Host, Service } from '../../../core/api/index.js';
import { readBounded, watchFiles } from '../../../core/files/watchedFile.js';
import { CONFIG_FILE_BYTES } from '../../../core/limits.js';
import { serverHash } from '../../../core/runtime/serverHash.js';
import { type ConfiguredAuthorizer, readAuthorizationFile } from './file.js';

/** The name of the service that reads the authorization file. */
export const CHAIN_SERVICE = 'authz/configured';

const METRIC = 'apiserver_authorization_config_controller_automatic_reload';

/** The types of authorizers that are made at the start, and stay. */
const fixedTypes = (authorizers: readonly ConfiguredAuthorizer[]): readonly string[] =>
  authorizers.flatMap(({ type }) => (type === 'Webhook' ? [] : type)).sort();

/**
 * The part of the plugin in the main thread: reads the authorization file, and reads it again when it has changed.
 * Publishes its authorizers. A bad file is counted and logged, and the previous authorizers stay.
 */
export function chainService(
  file: string,
  host: Pick<Host<'front'>, 'log' | 'now' | 'naming' | 'onClose' | 'observe'>,
): Service {
  const { log, naming, onClose, observe, now } = host;
  const server = serverHash();
  let current: readonly ConfiguredAuthorizer[] = [];

  const read = async (): Promise<readonly ConfiguredAuthorizer[]> =>
    await readAuthorizationFile(await readBounded(file, CONFIG_FILE_BYTES), file, naming);

  const count = (status: 'success' | 'failure'): void => {
    const labels = { apiserver_id_hash: server, status };
    observe(`${METRIC}s_total`, labels, 1);
    observe(`${METRIC}_last_timestamp_seconds`, labels, now() / 1000);
  };

  async function reload(publish: (state: unknown) => void): Promise<void> {
    try {
      const next = await read();
      if (!isDeepStrictEqual(fixedTypes(next), fixedTypes(current)))
        throw new Error(
          `${file}: authorizers: types other than Webhook must be those of the start: ${fixedTypes(current).join() || 'none'}; restart the server to change them`,
        );
      if (isDeepStrictEqual(next, current)) return;
      current = next;
      publish(next);
    } catch (error) {
      count('failure');
      log.error({ file }, `the authorization file is not used, and the former one stays: ${(error as Error).message}`);
      return;
    }
    count('success');
    log.info({ file }, 'the authorization file has changed and is used');
  }

  return {
    name: CHAIN_SERVICE,
    async start(publish) {
      current = await read();
      publish(current);
      const watch = watchFiles([file], () => reload(publish));
      onClose(() => watch.close());
    },
  };
}
