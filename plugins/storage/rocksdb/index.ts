import { ConfigError, definePlugin, definePoint, type Plugin, storage } from '../../../core/api/index.js';
import { loadBinding } from './binding.js';
import { openRocks } from './open.js';

/** Configuration of `storage/rocksdb`: the data directory, and how long history is kept. */
export interface RocksConfig {
  readonly path: string;
  readonly historyMs: number;
}

const HISTORY_MS = 5 * 60 * 1000;

/** The native library is loaded in the main thread, too: else the second server of a process cannot load it. */
const library = definePoint<void, void>('storage/rocksdb/library', ['front'], () => undefined);

/** Objects on the local disk: the default. */
export default definePlugin<RocksConfig>({
  name: 'storage/rocksdb',
  parse(config) {
    const { path, historyMs = HISTORY_MS } = (config ?? {}) as { path?: unknown; historyMs?: unknown };
    if (typeof path !== 'string' || path === '') throw new ConfigError('path', 'must name the data directory');
    if (typeof historyMs !== 'number' || !(historyMs > 0))
      throw new ConfigError('historyMs', 'must be a positive number of milliseconds');
    return { path, historyMs };
  },
  contribute: config => [
    library.of(() => void loadBinding()),
    storage.of(host =>
      openRocks({
        ...config,
        now: host.now,
        warn: error => host.log.warn({ error: error.message }, 'the high-water mark of the store was not written'),
      }),
    ),
  ],
}) satisfies Plugin<RocksConfig>;
