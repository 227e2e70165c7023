import { ConfigError, definePlugin, definePoint, type Plugin, storage } from '../../../core/api/index.js';
import { encryptedValues } from '../../../core/services/encryption/index.js';
import { encryptionOf } from '../values.js';
import { loadLibrary } from './binding.js';
import { openRocksDb } from './open.js';
import { HISTORY_MS } from '../../../core/limits.js';

/** Configuration of `storage/rocksdb`: the data directory, and the time for which history is kept. */
export interface RocksDbConfig {
  readonly path: string;
  readonly historyMs: number;
  /** An EncryptionConfiguration; absent: values are stored as they are. */
  readonly encryption?: string;
}

/** Loads the native library in the main thread: otherwise a second server of the process cannot load it. */
const library = definePoint<void>()('storage/rocksdb/library', ['front'], () => undefined);

/** Stores objects on the local disk. This is the default store. */
export default definePlugin<RocksDbConfig>({
  name: 'storage/rocksdb',
  parse(config) {
    const { path, historyMs = HISTORY_MS, encryption } = (config ?? {}) as { [name: string]: unknown };
    if (typeof path !== 'string' || path === '') throw new ConfigError('path', 'must name the data directory');
    if (typeof historyMs !== 'number' || !(historyMs > 0))
      throw new ConfigError('historyMs', 'must be a positive number of milliseconds');
    return { path, historyMs, ...encryptionOf(encryption) };
  },
  contribute: config => [
    library.of(() => void loadLibrary()),
    storage.of(async host =>
      openRocksDb({
        ...config,
        values: config.encryption === undefined ? undefined : await encryptedValues(config.encryption, host),
        now: host.now,
        notice: message => host.log.warn({}, message),
        warn: error =>
          host.log.warn(
            { error: error.message },
            'writing the high-water mark or changing the mode of a file of the store failed',
          ),
      }),
    ),
  ],
}) satisfies Plugin<RocksDbConfig>;
