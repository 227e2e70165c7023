import { ConfigError, definePlugin, definePoint, type Plugin, storage } from '../../../core/api/index.js';
import { loadLibrary } from './binding.js';
import { openRocksDb } from './open.js';
import { HISTORY_MS } from '../../../core/limits.js';

/** Configuration of `storage/rocksdb`: the data directory, and the time for which history is kept. */
export interface RocksDbConfig {
  readonly path: string;
  readonly historyMs: number;
}

/** Loads the native library in the main thread: otherwise a second server of the process cannot load it. */
const library = definePoint<void>()('storage/rocksdb/library', ['front'], () => undefined);

/** Stores objects on the local disk. This is the default store. */
export default definePlugin<RocksDbConfig>({
  name: 'storage/rocksdb',
  parse(config) {
    const { path, historyMs = HISTORY_MS } = (config ?? {}) as { path?: unknown; historyMs?: unknown };
    if (typeof path !== 'string' || path === '') throw new ConfigError('path', 'must name the data directory');
    if (typeof historyMs !== 'number' || !(historyMs > 0))
      throw new ConfigError('historyMs', 'must be a positive number of milliseconds');
    return { path, historyMs };
  },
  contribute: config => [
    library.of(() => void loadLibrary()),
    storage.of(host =>
      openRocksDb({
        ...config,
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
