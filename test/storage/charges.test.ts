import { RecordedLog } from '../support/recordedLog.js';
import { MessageChannel } from 'node:worker_threads';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { type Operation, type Storage, Unavailable } from '../../core/api/storage.js';
import { ACCOUNT_BYTES, ACCOUNTS } from '../../core/limits.js';
import { StoreFeed } from '../../core/threads/feed.js';
import type { Charges, Proposal, Verdict } from '../../core/threads/messages/messages.js';
import { readStartPage } from '../../core/threads/entries/startPage.js';
import { decodeToWriter, encodeToWriter } from '../../core/threads/messages/wire.js';
import { MemoryRecords, openMemory } from '../../plugins/storage/memory.js';
import { AccountCache } from '../../workers/writer/charges/accountCache.js';
import { SharedLedger } from '../../workers/writer/charges/sharedLedger.js';
import { Writer } from '../../workers/writer/writer.js';

/* Charges are exact: no limit is exceeded, and no free place is lost, whatever happens at the same time. */

const PODS = 'core/pods/shop/';
const QUOTAS = ['a', 'b', 'c'].map(name => `core/resourcequotas/shop/${name}`);
const LIMIT = 12;
const WRITERS = 64;
/** Writers that also change limits: a create fails after 16 attempts that such changes have outdated. */
const CHANGING = 2;

interface Quota {
  readonly metadata: { readonly name: string; readonly resourceVersion?: string; readonly managedFields?: unknown };
  readonly spec: { readonly note: string };
  readonly status: { readonly hard: { readonly pods: string }; readonly used: { readonly pods: string } };
}

const quotaPut = (key: string, used: number, expect: number, note = ''): Operation => {
  const name = key.slice(key.lastIndexOf('/') + 1);
  const quota: Quota = {
    metadata: { name, resourceVersion: '' },
    spec: { note },
    status: { hard: { pods: String(LIMIT) }, used: { pods: String(used) } },
  };
  const value = Buffer.from(JSON.stringify(quota));
  const mark = '"resourceVersion":"';
  return { is: 'put', key, value, gap: value.indexOf(mark) + mark.length, expect };
};

const podPut = (name: string): Operation => ({ is: 'put', key: PODS + name, value: Buffer.from('{}'), expect: 0 });

/** The events that a thread of the server sees, and the proposals that it makes. */
class Thread {
  readonly objects = new Map<string, { readonly value: Uint8Array; readonly revision: number }>();
  readonly #open = new Map<number, (verdict: Verdict) => void>();
  readonly #channel = new MessageChannel();
  readonly #feed: StoreFeed;
  #id = 0;
  /** The faults that were found. */
  readonly violations: string[] = [];

  constructor(writer: Writer, counters: SharedArrayBuffer) {
    writer.connect({ port: this.#channel.port1, counter: 1, reacts: false, front: 0 });
    this.#feed = new StoreFeed({ port: this.#channel.port2, counter: 1 }, new Int32Array(counters), message => {
      if (message.is === 'startPage')
        readStartPage(message.page, ({ key, value, revision }) => this.objects.set(key, { value, revision }));
      if (message.is !== 'events') return;
      for (const { key, value, revision } of message.events)
        if (value) this.objects.set(key, { value, revision });
        else this.objects.delete(key);
      this.check();
      for (const verdict of message.verdicts) this.#open.get(verdict.id)?.(verdict);
    });
    this.#channel.port2.postMessage({ is: 'subscribe', prefixes: [''] });
  }

  get pods(): number {
    return [...this.objects.keys()].filter(key => key.startsWith(PODS)).length;
  }

  quota(key: string): Quota {
    return JSON.parse(Buffer.from(this.objects.get(key)!.value).toString()) as Quota;
  }

  check(): void {
    const { pods } = this;
    if (pods > LIMIT) this.violations.push(`${pods} pods`);
    for (const key of QUOTAS)
      if (this.objects.has(key) && Number(this.quota(key).status.used.pods) < pods)
        this.violations.push(`${key} counts ${this.quota(key).status.used.pods} of ${pods}`);
  }

  propose(operations: readonly Operation[], charges?: Charges): Promise<Verdict> {
    const id = ++this.#id;
    const proposal: Proposal = { id, operations, charges };
    this.#channel.port2.postMessage(...encodeToWriter({ is: 'propose', proposals: [proposal] }));
    return new Promise(resolve => this.#open.set(id, resolve));
  }

  /**
   * Creates a pod as the pool does: decides by the events that this thread has seen, and again if these were outdated.
   */
  async create(name: string): Promise<'created' | 'full' | 'exists' | 'failed' | 'tired'> {
    for (let attempt = 0; attempt < 16; attempt++) {
      this.#feed.catchUp();
      if (this.objects.has(PODS + name)) return 'exists';
      if (QUOTAS.some(key => Number(this.quota(key).status.used.pods) >= LIMIT)) return 'full';
      const items = QUOTAS.map(key => ({
        key,
        seen: this.objects.get(key)!.revision,
        amounts: [['pods', '1'] as const],
      }));
      const verdict = await this.propose([podPut(name)], { manager: 'server', time: '2026-01-01T00:00:00Z', items });
      if (verdict.is !== 'stale') return verdict.is === 'committed' ? 'created' : 'failed';
    }
    return 'tired';
  }

  /** Counts the pods, as the controller does. */
  async recount(key: string): Promise<void> {
    this.#feed.catchUp();
    const { revision } = this.objects.get(key)!;
    await this.propose([quotaPut(key, this.pods, revision, this.quota(key).spec.note)]);
  }

  async change(key: string, note: string): Promise<void> {
    this.#feed.catchUp();
    const used = Number(this.quota(key).status.used.pods);
    await this.propose([quotaPut(key, used, this.objects.get(key)!.revision, note)]);
  }

  async writeUntilError(): Promise<void> {
    while ((await this.propose([{ is: 'put', key: 'other', value: Buffer.from('{}') }])).is === 'committed');
  }

  close(): void {
    this.#channel.port2.close();
  }
}

async function openServer(records: MemoryRecords) {
  const store = await openMemory({ records });
  const errors: Error[] = [];
  const counters = new SharedArrayBuffer(64);
  const writer = new Writer(store, new Int32Array(counters), error => errors.push(error), new RecordedLog());
  await writer.start();
  const thread = new Thread(writer, counters);
  const close = async (): Promise<void> => {
    thread.close();
    await writer.close();
  };
  return { store, thread, errors, close };
}

const step = fc.record({
  is: fc.constantFrom('create' as const, 'create' as const, 'create' as const, 'delete', 'recount', 'change'),
  name: fc.integer({ min: 0, max: 40 }).map(n => `p${n}`),
  quota: fc.constantFrom(...QUOTAS),
});

describe('charges of concurrent writers', () => {
  it('never exceed a limit and never lose a free place, with deletes, counts, conflicts and crashes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(step, { maxLength: 6 }), { minLength: WRITERS, maxLength: WRITERS }),
        fc.option(fc.integer({ min: 0, max: 30 }), { nil: undefined }),
        async (scripts, crashAfter) => {
          const records = new MemoryRecords();
          const first = await openServer(records);
          await first.store.commit([QUOTAS.map(key => quotaPut(key, 0, 0))]);
          await first.thread.propose([{ is: 'delete', key: 'other' }]);
          const { thread } = first;
          for (const key of QUOTAS)
            thread.objects.set(key, {
              ...(await first.store.get(key))!,
              revision: (await first.store.get(key))!.modified,
            });
          if (crashAfter !== undefined) {
            for (let i = 0; i < crashAfter; i++) records.inject({});
            records.inject({ error: new Error('the power is off') });
          }
          const answers = await Promise.all(
            scripts.map(async (script, client) => {
              const found: string[] = [];
              for (const { is, name, quota } of script) {
                if (is === 'create') found.push(await thread.create(name));
                else if (is === 'delete') await thread.propose([{ is: 'delete', key: PODS + name }]);
                else if (is === 'recount' || client > CHANGING) await thread.recount(quota);
                else await thread.change(quota, name);
              }
              return found;
            }),
          );
          expect(thread.violations).toEqual([]);
          // After a failure of the store, one of the writes for the last place fails each time, and the others run
          // again.
          if (crashAfter === undefined) expect(answers.flat()).not.toContain('tired');
          expect(first.errors).toEqual([]);
          if (crashAfter !== undefined) await thread.writeUntilError();
          await first.close();
          // The state that a restarted server finds.
          const second = await openServer(records);
          await second.thread.propose([{ is: 'delete', key: 'other' }]);
          second.thread.check();
          for (const key of QUOTAS) await second.thread.recount(key);
          const { pods } = second.thread;
          const more = await Promise.all(Array.from({ length: WRITERS }, (_, i) => second.thread.create(`more${i}`)));
          expect(more.filter(answer => answer === 'created').length).toBe(LIMIT - pods);
          expect(more.filter(answer => answer === 'full').length).toBe(WRITERS - LIMIT + pods);
          expect(second.thread.violations).toEqual([]);
          await second.close();
        },
      ),
      { numRuns: 8, endOnFailure: true },
    );
  });

  it('write an object once for all concurrent charges', async () => {
    const records = new MemoryRecords();
    const { store, thread, close } = await openServer(records);
    await thread.propose(QUOTAS.map(key => quotaPut(key, 0, 0)));
    const before = await store.revision();
    const answers = await Promise.all(Array.from({ length: LIMIT }, (_, i) => thread.create(`p${i}`)));
    expect(answers).toEqual(Array<string>(LIMIT).fill('created'));
    expect((await store.revision()) - before).toBeLessThan(LIMIT + QUOTAS.length * 3 + 1);
    expect(thread.quota(QUOTAS[0]!).metadata.managedFields).toEqual([
      {
        manager: 'server',
        operation: 'Update',
        time: '2026-01-01T00:00:00Z',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:status': { 'f:used': { 'f:pods': {} } } },
        subresource: 'status',
      },
    ]);
    await close();
  });
});

describe('a write that is not stored', () => {
  it('is not charged: creates with the same name, and several charges if one of them is refused', async () => {
    const { store, thread, close } = await openServer(new MemoryRecords());
    await thread.propose(QUOTAS.map(key => quotaPut(key, 0, 0)));
    const answers = await Promise.all(Array.from({ length: WRITERS }, () => thread.create('same')));
    expect(answers.filter(answer => answer === 'created').length).toBe(1);
    expect(QUOTAS.map(key => thread.quota(key).status.used.pods)).toEqual(['1', '1', '1']);
    const [, , third = ''] = QUOTAS;
    await thread.propose([quotaPut(third, LIMIT, thread.objects.get(third)!.revision)]);
    const seen = await store.revision();
    const twice = [QUOTAS[0]!, QUOTAS[2]!].map(key => ({ key, seen, amounts: [['pods', '1'] as const] }));
    const charges = { manager: 'server', time: '2026-01-01T00:00:00Z', items: twice };
    expect((await thread.propose([podPut('more')], charges)).is).toBe('stale');
    expect((await thread.propose([podPut('more')], { ...charges, items: [twice[0]!, twice[0]!] })).is).toBe(
      'committed',
    );
    expect(QUOTAS.map(key => thread.quota(key).status.used.pods)).toEqual(['3', '1', String(LIMIT)]);
    const [first = ''] = QUOTAS;
    const now = await store.revision();
    const both = [
      { key: first, seen: now, amounts: [['seats', '1'] as const] },
      { ...twice[1]!, seen: now },
    ];
    await Promise.all([
      thread.propose([podPut('refused')], { ...charges, items: both }),
      thread.propose([podPut('last')], { ...charges, items: [{ ...twice[0]!, seen: now }] }),
    ]);
    expect(JSON.stringify(thread.quota(first).metadata.managedFields)).not.toContain('seats');
    await close();
  });
});

describe('charges of objects that the store cannot read now', () => {
  it('fail without affecting others, and succeed when it can', async () => {
    const { store, thread, errors, close } = await openServer(new MemoryRecords());
    await thread.propose(QUOTAS.map(key => quotaPut(key, 0, 0)));
    const seen = await store.revision();
    const propose = (name: string, key: string) =>
      thread.propose([podPut(name)], {
        manager: 'server',
        time: '2026-01-01T00:00:00Z',
        items: [{ key, seen, amounts: [['pods', '1']] }],
      });
    const [first = '', second = ''] = QUOTAS;
    const get = store.get.bind(store);
    const reading = vi.spyOn(store, 'get').mockImplementation(async (key, revision) => {
      if (key === first) throw new Unavailable('the key is away');
      return await get(key, revision);
    });
    expect(await Promise.all([propose('p0', first), propose('p1', second)])).toMatchObject([
      { is: 'unavailable', message: 'the key is away' },
      { is: 'committed' },
    ]);
    reading.mockRestore();
    expect((await propose('p0', first)).is).toBe('committed');
    expect(QUOTAS.map(key => thread.quota(key).status.used.pods)).toEqual(['1', '1', '0']);
    expect(errors).toEqual([]);
    await close();
  });
});

describe('charges of servers that share a store', () => {
  const proposal = (name: string, seen: number, keys = QUOTAS): Proposal & { readonly charges: Charges } => ({
    id: 1,
    operations: [podPut(name)],
    charges: {
      manager: 'server',
      time: '2026-01-01T00:00:00Z',
      items: keys.map(key => ({ key, seen, amounts: [['pods', '1'] as const] })),
    },
  });
  const usedIn = async (store: Storage): Promise<number[]> =>
    Promise.all(
      QUOTAS.map(async key =>
        Number((JSON.parse(Buffer.from((await store.get(key))!.value).toString()) as Quota).status.used.pods),
      ),
    );

  it('exceed no limit, and a write that conflicts is not charged', async () => {
    const store = await openMemory({});
    await store.commit([QUOTAS.map(key => quotaPut(key, 0, 0)), [podPut('taken')]]);
    const seen = await store.revision();
    const servers = [new SharedLedger(store), new SharedLedger(store)];
    const names = ['taken', ...Array.from({ length: 40 }, (_, i) => `p${i}`)];
    const outcomes = await Promise.all(names.map((name, i) => servers[i % 2]!.commit(proposal(name, seen))));
    expect(outcomes.filter(({ is }) => is === 'committed').length).toBe(LIMIT);
    expect((await store.range(PODS)).items.length).toBe(LIMIT + 1);
    expect(await usedIn(store)).toEqual(QUOTAS.map(() => LIMIT));
    await store.close();
  });

  it('are applied one after the other for each object, also for changes that charge different objects', async () => {
    const store = await openMemory({});
    await store.commit([QUOTAS.map(key => quotaPut(key, 0, 0)), [podPut('taken')]]);
    const seen = await store.revision();
    const server = new SharedLedger(store);
    const [first = '', second = '', third = ''] = QUOTAS;
    const outcomes = await Promise.all([
      server.commit(proposal('taken', seen, [first, second])),
      server.commit(proposal('p0', seen, [second])),
      server.commit(proposal('p1', seen, [third, second])),
    ]);
    expect(outcomes.map(({ is }) => is)).toEqual(['failed', 'committed', 'committed']);
    expect(await usedIn(store)).toEqual([0, 2, 1]);
    await store.close();
  });

  it('are dropped when the store does not respond', async () => {
    const store = await openMemory({});
    await store.commit([QUOTAS.map(key => quotaPut(key, 0, 0))]);
    const seen = await store.revision();
    let isGone = true;
    const server = new SharedLedger({
      get: key => store.get(key),
      async commit(group) {
        if (isGone) throw new Unavailable('gone');
        return store.commit(group);
      },
    });
    await expect(server.commit(proposal('p0', seen))).rejects.toThrow(Unavailable);
    isGone = false;
    expect((await server.commit(proposal('p1', seen))).is).toBe('committed');
    expect(await usedIn(store)).toEqual([1, 1, 1]);
    await store.close();
  });

  it('are refused where the object has changed in more than its counters', async () => {
    const store = await openMemory({});
    await store.commit([QUOTAS.map(key => quotaPut(key, 0, 0))]);
    const seen = await store.revision();
    const [server, other] = [new SharedLedger(store), new SharedLedger(store)];
    expect((await server.commit(proposal('p0', seen))).is).toBe('committed');
    expect((await other.commit(proposal('p1', await store.revision()))).is).toBe('committed');
    await store.commit([[quotaPut(QUOTAS[1]!, 2, await store.revision(), 'other limits')]]);
    expect((await server.commit(proposal('p2', seen))).is).toBe('failed');
    expect(await usedIn(store)).toEqual([2, 2, 2]);
    expect((await server.commit(proposal('p2', await store.revision()))).is).toBe('committed');
    await store.close();
  });
});

describe('objects that the writer keeps for charges', () => {
  const stored = (bytes: number) => ({
    value: Buffer.from(JSON.stringify({ metadata: { annotations: { a: 'x'.repeat(bytes) } } })),
    modified: 1,
  });

  it('are those that were charged most recently', () => {
    const accounts = new AccountCache();
    for (let i = 0; i < ACCOUNTS; i++) accounts.take(`q${i}`, stored(0));
    accounts.get('q0');
    accounts.take('more', stored(0));
    accounts.trim();
    expect(['q0', 'q1', 'q2', 'more'].map(key => accounts.has(key))).toEqual([true, false, true, true]);
  });

  it('have a memory limit', () => {
    const accounts = new AccountCache();
    const half = ACCOUNT_BYTES / 2;
    for (const key of ['a', 'b', 'b', 'c']) accounts.take(key, stored(half));
    accounts.take('c', undefined);
    accounts.trim();
    expect(['a', 'b'].map(key => accounts.has(key))).toEqual([false, true]);
    accounts.take('d', stored(0));
    accounts.take('e', stored(half / 2));
    accounts.trim();
    expect(['b', 'd', 'e'].map(key => accounts.has(key))).toEqual([true, true, true]);
  });
});

it('the charges of proposals arrive at the writer as they were sent', () => {
  const items = [{ key: 'k', seen: 7, amounts: [['pods', '1'] as const, ['requests.cpu', '100m'] as const] }];
  const proposals: Proposal[] = [
    { id: 1, operations: [{ is: 'delete', key: 'x', expect: 3 }], charges: { manager: 'm', time: 't', items } },
    { id: 2, operations: [{ is: 'delete', key: 'y', expect: 3 }] },
  ];
  const [data] = encodeToWriter({ is: 'propose', proposals });
  expect(decodeToWriter(data)).toEqual({ is: 'propose', proposals });
});
