import { commonTests, MAPS, type PointTemplate, testHead, textSettings } from './shared.js';

/** A store in a file of its own. */
export const storage: PointTemplate = {
  config: '{ "file": "/var/lib/objects.jsonl" }',
  source: name => `import { type FileHandle, open, readFile } from 'node:fs/promises';
import {
  Compacted,
  ConfigError,
  definePlugin,
  FutureRevision,
  type Outcome,
  type Page,
  type Plugin,
  type RangeOptions,
  type Storage,
  type Stored,
  type StoreEvent,
  type StoreOperation,
  storage,
  type Transaction,
} from 'capstan/api';

${textSettings('the file with the objects', {
  file: 'must be the name of a file',
})}

/** The changes of one revision, as lines of the file have them: values in Base64. */
interface Line {
  readonly revision: number;
  readonly changes: readonly { readonly key: string; readonly value?: string }[];
}

/** Keys are in the order of their UTF-8 bytes, which that of JavaScript is not. */
const compareKeys = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** The value with the digits of its revision in its gap. */
function withRevision({ value, gap }: StoreOperation & { is: 'put' }, revision: number): Uint8Array {
  if (gap === undefined) return value;
  return Buffer.concat([value.subarray(0, gap), Buffer.from(\`\${revision}\`), value.subarray(gap)]);
}

/**
 * Objects in memory, with every revision since the last compaction. Each transaction is a line of a file that is only
 * appended to: a real store would compact it too.
 */
class FileStore implements Storage {
  readonly name = 'file';
  /** The states of each key, oldest first. Its last event may be a deletion. */
  readonly #states = new Map<string, StoreEvent[]>();
  /** All keys in their order; undefined after one was added. */
  #keys: string[] | undefined;
  #events: StoreEvent[] = [];
  #revision = 0;
  #compacted = 0;
  #lastCommit: Promise<unknown> = Promise.resolve();
  /** Called after each commit. */
  readonly #watches = new Set<() => void>();

  private constructor(readonly file: FileHandle) {}

  static async open(path: string): Promise<FileStore> {
    const file = await open(path, 'a+');
    const store = new FileStore(file);
    const lines = (await readFile(path, 'utf8')).split('\\n');
    // The last line is empty, or was not written completely: its commit was not acknowledged.
    for (const text of lines.slice(0, -1)) {
      const { revision, changes } = JSON.parse(text) as Line;
      store.#apply(
        changes.map(({ key, value }) =>
          store.#eventOf(key, revision, value === undefined ? undefined : Buffer.from(value, 'base64')),
        ),
      );
    }
    await file.truncate(Buffer.byteLength(lines.slice(0, -1).map(text => \`\${text}\\n\`).join('')));
    return store;
  }

  async revision(): Promise<number> {
    return this.#revision;
  }

  compactedRevision(): number {
    return this.#compacted;
  }

  async range(prefix: string, { revision, limit, after, signal }: RangeOptions = {}): Promise<Page> {
    signal?.throwIfAborted();
    const at = this.#checked(revision);
    this.#keys ??= [...this.#states.keys()].sort(compareKeys);
    const keys = this.#keys.filter(
      key => key.startsWith(prefix) && (after === undefined || compareKeys(key, after) > 0),
    );
    const all = keys.flatMap(key => this.#stateAt(key, at) ?? []);
    const items = all.slice(0, limit);
    const remaining = all.length - items.length;
    return { revision: at, items, more: remaining > 0, remaining };
  }

  async get(key: string, revision?: number): Promise<Stored | undefined> {
    return this.#stateAt(key, this.#checked(revision));
  }

  /** One group after the other. If the file cannot be written, this rejects, and the server ends. */
  commit(group: readonly Transaction[]): Promise<readonly Outcome[]> {
    const commit = this.#lastCommit.then(() => this.#commitGroup(group));
    this.#lastCommit = commit.catch(() => undefined);
    return commit;
  }

  async watch(
    prefix: string,
    from: number | undefined,
    deliver: (events: readonly StoreEvent[], revision: number) => void,
    signal: AbortSignal,
  ): Promise<void> {
    let last = from ?? this.#revision;
    if (last < this.#compacted) throw new Compacted(this.#compacted);
    const catchUp = (): void => {
      const events = this.#events.filter(({ key, revision }) => revision > last && key.startsWith(prefix));
      last = this.#revision;
      deliver(events, last);
    };
    await new Promise<void>(resolve => {
      signal.addEventListener('abort', () => resolve(), { once: true });
      this.#watches.add(catchUp);
      if (last < this.#revision) catchUp();
      if (signal.aborted) resolve();
    });
    this.#watches.delete(catchUp);
  }

  async compact(revision: number): Promise<void> {
    if (revision > this.#revision) throw new FutureRevision(this.#revision);
    this.#compacted = Math.max(this.#compacted, revision);
    this.#events = this.#events.filter(event => event.revision > this.#compacted);
    for (const [key, states] of this.#states) {
      const current = states.findLastIndex(state => state.revision <= this.#compacted);
      const kept = states.slice(Math.max(0, current));
      if (kept.length === 1 && kept[0]!.type === 'delete') {
        this.#states.delete(key);
        this.#keys = undefined;
      } else this.#states.set(key, kept);
    }
  }

  async check(): Promise<void> {
    await this.file.stat();
  }

  async close(): Promise<void> {
    await this.#lastCommit;
    await this.file.close();
  }

  /** First durable, then in memory and visible to watches; then the caller replies. */
  async #commitGroup(group: readonly Transaction[]): Promise<readonly Outcome[]> {
    let revision = this.#revision;
    /** Changes by earlier transactions of the group, which later ones must see. */
    const changed = new Map<string, StoreEvent>();
    const outcomes = group.map((transaction): Outcome => {
      const outcome = this.#outcomeOf(transaction, revision, changed);
      if (outcome.is !== 'committed') return outcome;
      for (const event of outcome.events) changed.set(event.key, event);
      revision = outcome.revision;
      return outcome;
    });
    const committed = outcomes.flatMap(outcome => (outcome.is === 'committed' ? [outcome.events] : []));
    const lines = committed.filter(events => events.length > 0).map(events => {
      const changes = events.map(({ key, value }) => ({ key, value: value && Buffer.from(value).toString('base64') }));
      return \`\${JSON.stringify({ revision: events[0]!.revision, changes } satisfies Line)}\\n\`;
    });
    if (lines.length > 0) {
      await this.file.appendFile(lines.join(''));
      await this.file.datasync();
    }
    for (const events of committed) this.#apply(events);
    for (const catchUp of this.#watches) catchUp();
    return outcomes;
  }

  #outcomeOf(transaction: Transaction, last: number, changed: ReadonlyMap<string, StoreEvent>): Outcome {
    if (new Set(transaction.map(({ key }) => key)).size < transaction.length)
      return { is: 'error', error: new Error('a transaction has two operations on one key') };
    const before = (key: string): Stored | undefined => storedOf(changed.get(key) ?? this.#states.get(key)?.at(-1));
    for (const [index, { key, expect }] of transaction.entries()) {
      const current = before(key);
      if (expect !== undefined && (current?.modified ?? 0) !== expect)
        return { is: 'failed', index, ...(current && { current }) };
    }
    const events = transaction.flatMap(operation => {
      const current = before(operation.key);
      if (operation.is === 'delete' && !current) return [];
      const value = operation.is === 'put' ? withRevision(operation, last + 1) : undefined;
      return this.#eventOf(operation.key, last + 1, value, current);
    });
    return { is: 'committed', revision: events.length > 0 ? last + 1 : last, events };
  }

  #eventOf(
    key: string,
    revision: number,
    value: Uint8Array | undefined,
    before = storedOf(this.#states.get(key)?.at(-1)),
  ): StoreEvent {
    return {
      type: value ? 'put' : 'delete',
      key,
      revision,
      created: before?.created ?? revision,
      version: (before?.version ?? 0) + 1,
      ...(value && { value }),
      ...(before && { replaced: before.modified, previous: { value: before.value, modified: before.modified } }),
    };
  }

  #apply(events: readonly StoreEvent[]): void {
    for (const event of events) {
      const states = this.#states.get(event.key);
      if (states) states.push(event);
      else {
        this.#states.set(event.key, [event]);
        this.#keys = undefined;
      }
      this.#events.push(event);
      this.#revision = event.revision;
    }
  }

  #checked(revision = this.#revision): number {
    if (revision > this.#revision) throw new FutureRevision(this.#revision);
    if (revision < this.#compacted) throw new Compacted(this.#compacted);
    return revision;
  }

  #stateAt(key: string, revision: number): Stored | undefined {
    return storedOf(this.#states.get(key)?.findLast(state => state.revision <= revision));
  }
}

/** The object that an event leaves; undefined for a deletion. */
function storedOf(event: StoreEvent | undefined): Stored | undefined {
  if (!event?.value) return undefined;
  const { key, value, created, revision: modified, version } = event;
  return { key, value, created, modified, version };
}

/** Stores objects in its own file, instead of the store of the server. */
export default definePlugin({
  name: '${name}',
  parse,
  contribute: ({ file }) => [storage.of(() => FileStore.open(file))],
}) satisfies Plugin<Config>;
`,
  test: `${testHead('storage', 'fakeHost, partsOf, startTestServer, storageConformance').replace(
    "import { test } from 'node:test';\n",
    `import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
`,
  )}
const directory = mkdtempSync(join(tmpdir(), 'store-'));
after(() => rmSync(directory, { recursive: true }));
const config = { file: join(directory, 'objects.jsonl') };

let files = 0;
/** A store of an empty file. */
const make = async () => {
  const file = join(directory, \`\${++files}.jsonl\`);
  const open = async () => (await partsOf(plugin, { file }, storage, fakeHost('writer').host))[0]!;
  return { open, dispose: async () => rmSync(file) };
};
for (const { name, run } of storageConformance(make)) test(name, run);
${commonTests('{}', 'file: must be the name of a file')}
test('keeps the objects of a server', async () => {
  const path = '${MAPS}/sample';
  for (const expected of [404, 200]) {
    const server = await startTestServer({ plugins: [{ use, config }] });
    try {
      const { status } = await server.request('GET', path);
      assert.equal(status, expected);
      await server.request('POST', '${MAPS}', { body: { metadata: { name: 'sample' } } });
    } finally {
      await server.close();
    }
  }
});
`,
};
