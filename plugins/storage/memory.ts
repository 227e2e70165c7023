import { ConfigError, definePlugin, type Plugin, storage } from '../../core/api/index.js';
import { systemTime } from '../../core/runtime/clock.js';
import { Engine } from './engine/engine.js';
import { loadStore } from './engine/open.js';
import type { Batch, Records, Row } from './engine/records.js';
import type { ValueCodec } from './values.js';
import { HISTORY_MS } from '../../core/limits.js';

/** A fault that a test injects into a synced write: wait for a promise, then fail with an error, if given. */
export interface Fault {
  readonly delay?: Promise<unknown>;
  readonly error?: Error;
}

/** Records in memory. Tests can reopen the same store by passing the same instance to `openMemory` again. */
export class MemoryRecords implements Records {
  readonly #rows = new Map<string, Row>();
  /** Sorted keys, cached until a key is added or removed. */
  #order: string[] | undefined;
  readonly #faults: Fault[] = [];
  /** The number of synced writes. */
  syncs = 0;

  /** Injects a fault into the next synced write that has none yet. */
  inject(fault: Fault): void {
    this.#faults.push(fault);
  }

  batch(): Batch {
    const changes: [key: Buffer, value: Buffer | undefined][] = [];
    return {
      put: (key, value) => void changes.push([key, value]),
      remove: key => void changes.push([key, undefined]),
      write: sync => this.#write(changes, sync),
    };
  }

  async getMany(keys: readonly Buffer[]): Promise<(Buffer | undefined)[]> {
    return keys.map(key => this.#rows.get(key.toString('latin1'))?.value);
  }

  async *scan(from: Buffer, to: Buffer): AsyncIterable<readonly Row[]> {
    this.#order ??= [...this.#rows.keys()].sort((a, b) => (a < b ? -1 : 1));
    const low = from.toString('latin1');
    const high = to.toString('latin1');
    const rows = this.#order.filter(key => key >= low && key < high).map(key => this.#rows.get(key)!);
    for (let at = 0; at < rows.length; at += 256) yield rows.slice(at, at + 256);
  }

  async close(): Promise<void> {}

  async #write(changes: readonly [Buffer, Buffer | undefined][], sync: boolean): Promise<void> {
    const fault = sync ? this.#faults.shift() : undefined;
    if (fault) await fault.delay;
    if (fault?.error) throw fault.error;
    if (sync) this.syncs++;
    for (const [key, value] of changes) {
      const name = key.toString('latin1');
      if (value) {
        if (!this.#rows.has(name)) this.#order = undefined;
        this.#rows.set(name, { key, value });
      } else if (this.#rows.delete(name)) this.#order = undefined;
    }
  }
}

/** Options of `openMemory`. */
export interface MemoryOptions {
  readonly records?: MemoryRecords;
  readonly historyMs?: number;
  readonly now?: () => number;
  /** How values are stored; default: as they are. */
  readonly values?: ValueCodec;
}

/** Opens a store in memory. It keeps history like a store on disk. */
export async function openMemory(options: MemoryOptions = {}): Promise<Engine> {
  const records = options.records ?? new MemoryRecords();
  return new Engine('memory', records, await loadStore(records), {
    historyMs: options.historyMs ?? HISTORY_MS,
    now: options.now ?? systemTime,
    values: options.values,
  });
}

/** Configuration of `storage/memory`. */
export interface MemoryConfig {
  readonly historyMs: number;
}

/** Stores objects in memory, until the process ends: for tests. */
export default definePlugin<MemoryConfig>({
  name: 'storage/memory',
  parse(config) {
    const { historyMs = HISTORY_MS } = (config ?? {}) as { historyMs?: unknown };
    if (typeof historyMs !== 'number' || !(historyMs > 0))
      throw new ConfigError('historyMs', 'must be a positive number of milliseconds');
    return { historyMs };
  },
  contribute: config => [storage.of(host => openMemory({ historyMs: config.historyMs, now: host.now }))],
}) satisfies Plugin<MemoryConfig>;
