import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { MessageChannel } from 'node:worker_threads';
import { afterEach, expect, test, vi } from 'vitest';
import { Pool } from '../../workers/front/pool/pool.js';
import type { Log } from '../../core/api/host.js';
import { POOL_BATCH, POOL_QUEUE } from '../../core/limits.js';
import type { ThreadData } from '../../core/threads/data.js';
import type { Job, JobResult } from '../../core/threads/messages/messages.js';
import { proposalId } from '../../core/threads/proposalIds.js';
import { Usages } from '../../workers/front/fairness/usage.js';
import { turn } from './support.js';
import { eventuallyPasses } from '../support/eventually.js';
import { partly } from '../support/values.js';

const log = partly<Log>({ error: vi.fn(), warn: vi.fn() });
const pools: Pool[] = [];
afterEach(async () => {
  await Promise.all(pools.splice(0).map(pool => pool.close()));
  vi.clearAllMocks();
});

/** The condition that `/busy` jobs of a pool wait for; they block their thread. */
const gates = new WeakMap<Pool, Int32Array>();

/** Lets the `/busy` jobs of a pool end. */
function openGate(pool: Pool): void {
  const gate = gates.get(pool)!;
  Atomics.store(gate, 0, 1);
  Atomics.notify(gate, 0);
}

/** Threads, by the order of their start, that end when they begin, or whose module throws or waits. */
interface Faults {
  readonly broken?: readonly number[];
  readonly unloadable?: readonly number[];
  readonly slow?: readonly number[];
}

/** A pool of threads with the module `fixtures/poolThread.mjs`. */
function poolOf(threads: number, { broken = [], unloadable = [], slow = [] }: Faults = {}): Pool {
  const data = {
    counters: new SharedArrayBuffer(12),
    broken,
    unloadable,
    slow,
    delayed: [],
    plugins: [],
    inspection: new SharedArrayBuffer(4),
  };
  const pool = new Pool({
    threads,
    first: threads,
    module: new URL('./fixtures/poolThread.mjs', import.meta.url),
    data: data as unknown as ThreadData,
    connect: () => ({ port: new MessageChannel().port1, counter: 1 }),
    observed: () => undefined,
    log,
  });
  pools.push(pool);
  pool.begin();
  gates.set(pool, new Int32Array(data.counters, 4));
  return pool;
}

const job = (path: string, id = 1, body?: Uint8Array): Job => ({
  id,
  method: 'POST',
  path,
  query: '',
  accept: '',
  contentType: '',
  userAgent: '',
  ifMatch: '',
  granted: true,
  body,
});

/** The number of the thread that answers. */
async function answered(pool: Pool, path = '/'): Promise<unknown> {
  const result = await pool.run(job(path));
  return result.is === 'respond' ? result.status : result;
}

const sender = new Usages().of('ann');

/** The result of a long job. */
const alone = (pool: Pool, path: string, kind?: string): Promise<JobResult> =>
  pool.runInTurn(sender, () => job(path), kind);

/** The results of jobs that are sent in one batch. */
const together = (pool: Pool, paths: readonly string[]): Promise<unknown>[] => paths.map(path => answered(pool, path));

test('every job gets its own result, for any number of batches', async () => {
  const pool = poolOf(2);
  await pool.complete();
  const jobs = Array.from({ length: 3 * POOL_BATCH + 1 }, (_, i) => job('/', i, Buffer.from(`body ${i}`)));
  const results = await Promise.all(jobs.map(one => pool.run(one)));
  expect(results.map(({ id }) => id)).toEqual(jobs.map(({ id }) => id));
  expect(results.map(result => result.is === 'respond' && Buffer.from(result.body).toString())).toEqual(
    jobs.map(({ body }) => Buffer.from(body!).toString()),
  );
});

test('a long job is answered separately, and does not delay its batch', async () => {
  const pool = poolOf(1);
  await pool.complete();
  const order: string[] = [];
  const note = (path: string) => () => void order.push(path);
  const [late, first, second] = together(pool, ['/late', '/', '/']);
  await Promise.all([late!.then(note('late')), first!.then(note('first')), second!.then(note('second'))]);
  expect(order).toEqual(['first', 'second', 'late']);
});

test('jobs that never end do not block the pool: others run, and it closes', async () => {
  const pool = poolOf(1);
  await pool.complete();
  const held = Array.from({ length: 200 }, () => together(pool, ['/hold', '/']));
  for (const [never] of held) never!.catch(() => undefined);
  expect(await Promise.all(held.map(([, other]) => other))).toEqual(held.map(() => 1));
  await pool.close();
  await expect(held[0]![0]).rejects.toMatchObject({ reason: 'ServiceUnavailable' });
});

test('outcomes that a thread has written are taken on request, and delay no other job', async () => {
  const pool = poolOf(1);
  await pool.complete();
  for (let id = 1; id <= 20; id++) {
    let result: JobResult | undefined;
    void pool.run(job('/written', id, Buffer.from(`body ${id}`))).then(one => (result = one));
    while (!result) {
      await turn();
      pool.takeOutcomes();
    }
    expect(result).toMatchObject({ id, is: 'proposed', status: 1, headers: [['a', 'b']], key: 'k' });
    expect(result.is === 'proposed' && Buffer.from(result.body!).toString()).toBe(`body ${id}`);
  }
  expect(await Promise.all(together(pool, new Array(8 * POOL_BATCH).fill('/')))).toEqual(
    new Array(8 * POOL_BATCH).fill(1),
  );
});

test('a written outcome is taken without further messages, and is not lost with its thread', async () => {
  const pool = poolOf(1);
  await pool.complete();
  for (const path of ['/written', '/written-exit'])
    expect(await pool.run(job(path))).toMatchObject({ is: 'proposed', status: 1 });
  expect(await answered(pool)).toBe(2);
});

test('outcomes are written only of jobs that are alone in the pool, with a proposal of the main thread', async () => {
  const pool = poolOf(2);
  await pool.complete();
  const isAnswered = async (...jobs: Job[]): Promise<boolean[]> =>
    (await Promise.all(jobs.map(one => pool.run(one)))).map(({ is }) => is === 'respond');
  expect(await isAnswered(job('/written', 0))).toEqual([true]);
  expect(await isAnswered(job('/written', proposalId(1, 1)))).toEqual([true]);
  expect(await isAnswered(job('/written', 1), job('/written', 2))).toEqual([true, true]);
  expect((await alone(pool, '/written')).is).toBe('respond');
});

test('a batch is sent to an idle thread', async () => {
  const pool = poolOf(3);
  await pool.complete();
  const batch = (): Promise<unknown>[] => together(pool, new Array(POOL_BATCH).fill('/'));
  const [one, other] = await Promise.all([...batch().slice(0, 1), ...batch().slice(0, 1)]);
  expect(one).not.toBe(other);
});

test('short jobs do not wait for long ones, which leave one thread free', async () => {
  const pool = poolOf(3);
  await pool.complete();
  const long = Array.from({ length: 2 }, () => alone(pool, '/busy'));
  // Waits until they are passed to their threads.
  await turn();
  const short = Array.from({ length: 10 }, () => Promise.all(together(pool, new Array(POOL_BATCH).fill('/'))));
  expect(new Set((await Promise.all(short)).flat()).size).toBe(1);
  openGate(pool);
  const threads = (await Promise.all(long)).map(result => result.is === 'respond' && result.status);
  expect(new Set(threads).size).toBe(2);
});

test('the last thread starts when the pool is completed; until then the others also run long jobs', async () => {
  const pool = poolOf(2);
  await pool.ready();
  const threadOf = async (path: string): Promise<unknown> => {
    const result = await alone(pool, path);
    return result.is === 'respond' && result.status;
  };
  const short = await answered(pool);
  expect(await threadOf('/')).toBe(short);
  await pool.complete();
  expect(await threadOf('/')).not.toBe(short);
});

test('separated jobs of a user that wait for the last thread run once it has started', async () => {
  const pool = poolOf(2);
  await pool.ready();
  await pool.run(job('/long'), undefined, 'ann');
  const waiting = pool.run(job('/'), undefined, 'ann');
  await pool.complete();
  expect((await waiting).is).toBe('respond');
});

test('the cost of a job is recorded for its kind', async () => {
  const pool = poolOf(1);
  await pool.complete();
  await Promise.all([pool.run(job('/expensive'), 'expensive'), pool.run(job('/'), 'cheap')]);
  expect([pool.costs.isLong('expensive'), pool.costs.isLong('cheap')]).toEqual([true, true]);
  await Promise.all([alone(pool, '/expensive', 'expensive'), alone(pool, '/', 'cheap')]);
  expect([pool.costs.isLong('expensive'), pool.costs.isLong('cheap')]).toEqual([true, false]);
});

test('a pool of one thread runs long jobs as well', async () => {
  const pool = poolOf(1);
  await pool.complete();
  openGate(pool);
  await Promise.all([alone(pool, '/busy'), alone(pool, '/busy'), answered(pool)]);
});

test('a long job that waits for a plugin blocks neither its thread nor its turn', async () => {
  const pool = poolOf(2);
  await pool.complete();
  const held = alone(pool, '/hold');
  held.catch(() => undefined);
  const results = await Promise.all([alone(pool, '/'), alone(pool, '/late')]);
  expect(results.map(({ is }) => is)).toEqual(['respond', 'respond']);
});

test('a long job that is obsolete, or cannot be started, gives its turn to the next', async () => {
  const pool = poolOf(2);
  await pool.complete();
  const failing = pool.runInTurn(sender, () => {
    throw new Error('not wanted any more');
  });
  const failed = expect(failing).rejects.toThrow('not wanted any more');
  const nothing = pool.runInTurn(sender, () => undefined);
  expect((await alone(pool, '/')).is).toBe('respond');
  await failed;
  expect(await nothing).toBeUndefined();
});

test.each(['/exit', '/throw'])('a job whose thread ends (%s) is run once more, then it fails', async path => {
  const pool = poolOf(1);
  await pool.complete();
  await expect(answered(pool, path)).rejects.toThrow('the request was tried twice, and its thread ended');
  expect(await answered(pool)).toBe(3);
  // Two records about threads, one about the job.
  expect(log.error).toHaveBeenCalledTimes(3);
});

test('jobs that wait in a thread that another job ends do not fail, even if that job ends their next thread', async () => {
  const pool = poolOf(1);
  await pool.complete();
  const late = answered(pool, '/late');
  await answered(pool);
  await expect(answered(pool, '/exit')).rejects.toThrow('tried twice');
  expect([1, 2, 3]).toContain(await late);
});

test('a job whose thread ends before it has changed anything succeeds in another one', async () => {
  const pool = poolOf(1);
  await pool.complete();
  const late = answered(pool, '/late');
  expect(await answered(pool, '/exit-first')).toBe(2);
  expect(await late).toBe(2);
});

test('a user whose jobs end two threads is refused with 429', async () => {
  const pool = poolOf(2);
  await pool.complete();
  await expect(answeredFor(pool, 'mallory', '/exit')).rejects.toThrow('tried twice');
  expect(() => pool.run(job('/'), undefined, 'mallory')).toThrow('do not end in time');
  expect(typeof (await answeredFor(pool, 'ann'))).toBe('number');
});

test('a job that may have had effects fails with its thread', async () => {
  const pool = poolOf(1);
  await pool.complete();
  const [effect, exit] = together(pool, ['/late-effect', '/exit-first']);
  await expect(effect).rejects.toThrow('may have changed something');
  expect(await exit).toBe(2);
});

test('jobs of other threads continue when one ends', async () => {
  const pool = poolOf(3);
  await pool.complete();
  const late = together(pool, [...new Array(POOL_BATCH - 1).fill('/'), '/late']);
  const exit = together(pool, ['/exit']);
  await expect(exit[0]).rejects.toThrow('tried twice');
  expect(new Set(await Promise.all(late)).size).toBe(1);
});

test('a replacement that cannot start is replaced again; until then jobs fail or wait', async () => {
  const pool = poolOf(1, { broken: [2] });
  await pool.complete();
  await expect(answered(pool, '/exit')).rejects.toThrow('tried twice');
  const failures: Error[] = [];
  const once = () => answered(pool).catch((error: Error) => void failures.push(error));
  await eventuallyPasses(async () => expect(await once()).toBe(4));
  for (const { message } of failures) expect(message).toBe('cannot load');
});

test('a replacement whose module cannot be loaded fails the jobs that wait for it; the next job starts another', async () => {
  const pool = poolOf(1, { unloadable: [2] });
  await pool.complete();
  await expect(answered(pool, '/exit')).rejects.toThrow('cannot be loaded');
  const failures: Error[] = [];
  const once = () => answered(pool).catch((error: Error) => void failures.push(error));
  await eventuallyPasses(async () => expect(await once()).toBe(3));
  for (const { message } of failures) expect(message).toMatch('cannot be loaded');
});

test.each([{ broken: [2] }, { unloadable: [2] }])('a pool is not ready if a thread cannot start (%j)', async faults => {
  await expect(poolOf(2, faults).complete()).rejects.toThrow(/cannot (be )?load/);
});

/** A pool of two threads, and the numbers of the threads for short jobs and for long jobs. */
async function poolOfTwo(): Promise<{ pool: Pool; short: unknown; long: unknown }> {
  const pool = poolOf(2);
  await pool.complete();
  const short = await answered(pool);
  return { pool, short, long: short === 1 ? 2 : 1 };
}

/** The number of the thread that answers a job of a user. */
async function answeredFor(pool: Pool, user: string, path = '/'): Promise<unknown> {
  const result = await pool.run(job(path), undefined, user);
  return result.is === 'respond' ? result.status : result;
}

test('jobs that are batched with a job that blocks its thread, or wait for that thread, are run by another one', async () => {
  const { pool, short, long } = await poolOfTwo();
  const [before, busy, behind] = together(pool, ['/', '/busy', '/']);
  const next = Array.from({ length: 10 }, () => Promise.all(together(pool, new Array(POOL_BATCH).fill('/'))));
  expect(new Set([await before, await behind, ...(await Promise.all(next)).flat()])).toEqual(new Set([long]));
  openGate(pool);
  expect(await busy).toBe(short);
  // The thread is responsive again, and runs jobs.
  await eventuallyPasses(async () => expect(await answered(pool)).toBe(short));
});

test('a job that waits for something outside of its thread stays there if the thread is blocked for less than a second', async () => {
  const { pool, short, long } = await poolOfTwo();
  const [late, busy, behind] = together(pool, ['/late', '/busy', '/']);
  expect(await behind).toBe(long);
  openGate(pool);
  expect([await late, await busy]).toEqual([short, short]);
});

test('jobs in a stuck thread that have changed nothing are run by another thread', async () => {
  const { pool, short, long } = await poolOfTwo();
  const [late, effect, busy] = together(pool, ['/late', '/late-effect', '/busy']);
  expect(await late).toBe(long);
  openGate(pool);
  expect([await effect, await busy]).toEqual([short, short]);
});

test('a thread that gets stuck after a promise is detected, and its other jobs are run elsewhere', async () => {
  const { pool, short } = await poolOfTwo();
  const stuck = answeredFor(pool, 'mallory', '/late-busy');
  const others = ['ann', 'ben'].map(user => answeredFor(pool, user, '/late'));
  for (const other of await Promise.all(others)) expect(other).not.toBe(short);
  // The job has been run once more, and blocks another thread; a third one is started.
  expect(await answeredFor(pool, 'ann', '/late')).not.toBe(short);
  openGate(pool);
  expect(await stuck).not.toBe(short);
});

test('a long job that blocks its thread gives its turn to the next one', async () => {
  const { pool, short, long } = await poolOfTwo();
  const busy = alone(pool, '/busy');
  const next = pool.runInTurn(new Usages().of('ben'), () => job('/'));
  expect(await next).toMatchObject({ status: short });
  openGate(pool);
  expect(await busy).toMatchObject({ status: long });
});

test('other jobs of a user whose job blocks a thread leave the last thread to other users, and get a new thread', async () => {
  const { pool, short, long } = await poolOfTwo();
  const busy = answeredFor(pool, 'mallory', '/busy');
  const beside = Array.from({ length: 3 }, () => answeredFor(pool, 'mallory'));
  expect(await answeredFor(pool, 'ann')).toBe(long);
  expect(await Promise.all(beside)).toEqual([3, 3, 3]);
  openGate(pool);
  expect(await busy).toBe(short);
});

test('a user two of whose jobs are stuck is refused with 429 and Retry-After, and no other one [R364x]', async () => {
  const { pool } = await poolOfTwo();
  const busy = [answeredFor(pool, 'mallory', '/busy'), answeredFor(pool, 'mallory', '/busy')];
  const waiting = answeredFor(pool, 'mallory').catch((error: unknown) => error);
  let isRefused = false;
  void waiting.then(() => (isRefused = true));
  while (!isRefused) expect(typeof (await answeredFor(pool, 'ann'))).toBe('number');
  expect(await waiting).toMatchObject({ reason: 'TooManyRequests', details: { retryAfterSeconds: 10 } });
  expect(() => pool.run(job('/'), undefined, 'mallory')).toThrow('do not end in time');
  await expect(alone(pool, '/')).resolves.toMatchObject({ is: 'respond' });
  openGate(pool);
  expect(new Set(await Promise.all(busy)).size).toBe(2);
});

test('an unexpected failure of a job rejects that job alone; one of a batch rejects all of its jobs', async () => {
  const pool = poolOf(1);
  const [failing, other] = together(pool, ['/fail', '/']);
  await expect(failing).rejects.toThrow('made to fail');
  expect(await other).toBe(1);
  for (const rejected of together(pool, ['/reject', '/'])) await expect(rejected).rejects.toThrow('made to reject');
});

test('above the limit, jobs are refused with 429; when the pool closes, jobs in flight are refused with 503', async () => {
  const pool = poolOf(1);
  await pool.complete();
  const held = Array.from({ length: POOL_QUEUE }, () => pool.run(job('/hold')));
  for (const one of held) one.catch(() => undefined);
  expect(() => pool.run(job('/'))).toThrow('the server is busy');
  await pool.close();
  await expect(held[0]).rejects.toMatchObject({ reason: 'ServiceUnavailable' });
  await expect(held.at(-1)).rejects.toMatchObject({ reason: 'ServiceUnavailable' });
  expect(log.error).not.toHaveBeenCalled();
});

test('while the pool closes, and afterwards, jobs are refused with 503 and no thread is started for them', async () => {
  const pool = poolOf(2);
  await pool.complete();
  const made = vi.fn();
  process.on('worker', made);
  const refused = expect.objectContaining({ reason: 'ServiceUnavailable' });
  const closing = pool.close();
  const during = Promise.allSettled([...together(pool, ['/', '/']), alone(pool, '/')]);
  await closing;
  const after = await Promise.allSettled([answered(pool), alone(pool, '/')]);
  process.off('worker', made);
  for (const result of [...(await during), ...after]) expect(result).toMatchObject({ reason: refused });
  expect(made).not.toHaveBeenCalled();
});

test('a thread that loads its modules is terminated only when they are loaded', async () => {
  const pool = poolOf(1, { slow: [1] });
  const closed = pool.close();
  openGate(pool);
  await closed;
  const isLoaded = gates.get(pool)![1];
  expect(isLoaded).toBe(1);
});

test('a process that only closes its pool ends when the pool is closed, not before', async () => {
  const script = new URL('./fixtures/closePool.mjs', import.meta.url).pathname;
  expect(await promisify(execFile)(process.execPath, [script])).toMatchObject({ stdout: 'closed\n' });
});
