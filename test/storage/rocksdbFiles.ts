import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { StoreOperation } from '../../core/api/index.js';
import type { Engine } from '../../plugins/storage/engine/engine.js';
import { openRocksDb } from '../../plugins/storage/rocksdb/open.js';
import { committed } from '../conformance/storage.js';

/** True if this user can mount file systems in its own namespace. */
export function mayMount(): boolean {
  try {
    execFileSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'none', '/tmp'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** A put of text. */
export const put = (key: string, value: string): StoreOperation => ({ is: 'put', key, value: Buffer.from(value) });

/** Names of the keys that `Damaged.fill` writes. */
export const keyOf = (i: number): string => `k/${String(i).padStart(5, '0')}`;

/** Text that cannot be compressed, the same for the same number. */
export function noise(seed: number, length: number): string {
  let state = seed * 2654435761 + 1;
  let text = '';
  while (text.length < length) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    text += state.toString(36);
  }
  return text.slice(0, length);
}

/** Writes revisions to an empty store like `Scene.fill`, each in a separate write of RocksDB. */
export async function fillStore(store: Engine, count: number, size = 500): Promise<void> {
  for (let i = 1; i <= count; i++) {
    await committed(store, put(keyOf(i), noise(i, size)));
    // A read waits until RocksDB has the previous writes.
    await store.get(keyOf(i));
  }
}

/** Writes a store of an earlier release to a directory: `fixtures` has them, as JSON with the contents in base64. */
export async function unpack(fixture: string, directory: string): Promise<void> {
  const packed = await readFile(new URL(`./fixtures/${fixture}.json.gz`, import.meta.url));
  const contents = JSON.parse(gunzipSync(packed).toString()) as Record<string, string>;
  for (const [name, content] of Object.entries(contents)) {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), Buffer.from(content, 'base64'));
  }
}

/** The files, except those that every open writes: locks, the log of a run, and the session id. */
export const contents = (files: ReadonlyMap<string, string>): [string, string][] =>
  [...files].filter(([name]) => !/\/(?:LOCK|lock|LOG.*|SESSION_ID)$/.test(name));

/** A store in a temporary directory whose files a test damages. */
export class Scene {
  readonly #open: Engine[] = [];

  private constructor(readonly path: string) {}

  static async make(): Promise<Scene> {
    return new Scene(await mkdtemp(join(tmpdir(), 'capstan-store-')));
  }

  async dispose(): Promise<void> {
    for (const store of this.#open) await store.close().catch(() => undefined);
    await rm(this.path, { recursive: true, force: true });
  }

  async open(): Promise<Engine> {
    const store = await openRocksDb({ path: this.path, historyMs: 3_600_000 });
    this.#open.push(store);
    return store;
  }

  /** The message of the error of an open. Fails if the open succeeds, or if the message has more than one line. */
  async refusal(): Promise<string> {
    const message = await this.open().then(
      () => undefined,
      (error: Error) => error.message,
    );
    if (message === undefined) throw new Error('the store opened');
    if (message.includes('\n')) throw new Error(`more than one line: ${message}`);
    return message;
  }

  /** Writes the revisions 1 to `count` with distinct keys and values of `size` bytes, and closes the store. */
  async fill(count: number, size = 500): Promise<void> {
    const store = await this.open();
    await fillStore(store, count, size);
    await store.close();
  }

  /** Replaces this store by one of an earlier release. */
  unpack(fixture: string): Promise<void> {
    return unpack(fixture, this.path);
  }

  /** The matching files of the database, oldest first. */
  async files(pattern: RegExp): Promise<string[]> {
    const names = await readdir(join(this.path, 'db'));
    return names
      .filter(name => pattern.test(name))
      .sort()
      .map(name => join(this.path, 'db', name));
  }

  /** The table with the data. Others have only positions in the commit log. */
  async table(): Promise<string> {
    const tables = await this.files(/\.sst$/);
    const sizes = await Promise.all(tables.map(async table => (await stat(table)).size));
    return tables[sizes.indexOf(Math.max(...sizes))]!;
  }

  async newest(pattern: RegExp): Promise<string> {
    const found = (await this.files(pattern)).at(-1);
    if (!found) throw new Error(`no file ${pattern}`);
    return found;
  }
}

/** Overwrites some bytes at a relative position of a file. */
export async function flip(file: string, fraction: number, length = 2): Promise<void> {
  const handle = await open(file, 'r+');
  const at = Math.floor((await stat(file)).size * fraction);
  const bytes = Buffer.alloc(length);
  await handle.read(bytes, 0, length, at);
  for (let i = 0; i < length; i++) bytes[i]! ^= 0x5a;
  await handle.write(bytes, 0, length, at);
  await handle.close();
}
