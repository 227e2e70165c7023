import { Worker } from 'node:worker_threads';
import { afterEach, expect, test, vi } from 'vitest';
import { Pool } from '../../workers/front/pool.js';
import type { Log } from '../../core/api/host.js';
import { POOL_BATCH, POOL_QUEUE } from '../../core/limits.js';
import type { Job } from '../../core/threads/messages.js';

/** A thread that answers with the number it was started with, keeps what `/hold` asks for, and ends at `/end`. */
const THREAD = `
const { parentPort, workerData } = require('node:worker_threads');
if (workerData.broken) throw new Error('cannot load');
parentPort.on('message', message => {
  if (message.is === 'close') return parentPort.postMessage({ is: 'closed' });
  const { batch, jobs } = message;
  if (jobs.some(({ path }) => path === '/end')) process.exit(3);
  if (jobs.some(({ path }) => path === '/fail')) return parentPort.postMessage({ is: 'failed', batch, message: 'made to fail' });
  if (jobs.some(({ path }) => path === '/hold')) return;
  const results = jobs.map(({ id, body }) => ({ id, is: 'respond', status: workerData.number, headers: [], body: body ?? new Uint8Array() }));
  parentPort.postMessage({ is: 'ran', batch, results });
});
parentPort.postMessage({ is: 'ready' });
`;

const log = { error: vi.fn() } as unknown as Log;
const pools: Pool[] = [];
afterEach(async () => {
  vi.clearAllMocks();
  await Promise.all(pools.splice(0).map(pool => pool.close()));
});

/** A pool of such threads; `broken` names those, by the order of their start, that cannot load. */
function poolOf(threads: number, broken: readonly number[] = []): Pool {
  let started = 0;
  const start = (): Worker => {
    const number = ++started;
    return new Worker(THREAD, { eval: true, workerData: { number, broken: broken.includes(number) } });
  };
  const pool = new Pool(threads, start, log);
  pools.push(pool);
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

const numberOf = async (pool: Pool, path = '/'): Promise<unknown> => {
  const result = await pool.run(job(path));
  return result.is === 'respond' ? result.status : result;
};

/** Sends a job that is not answered; resolves when it has left. */
async function hold(pool: Pool): Promise<{ readonly held: Promise<unknown> }> {
  const held = pool.run(job('/hold'));
  held.catch(() => undefined);
  await new Promise(resolve => setImmediate(resolve));
  return { held };
}

test('every job gets its own answer, whatever the number of batches', async () => {
  const pool = poolOf(2);
  await pool.ready();
  const jobs = Array.from({ length: 3 * POOL_BATCH + 1 }, (_, i) => job('/', i, Buffer.from(`body ${i}`)));
  const results = await Promise.all(jobs.map(one => pool.run(one)));
  expect(results.map(({ id }) => id)).toEqual(jobs.map(({ id }) => id));
  expect(results.map(result => result.is === 'respond' && Buffer.from(result.body).toString())).toEqual(
    jobs.map(({ body }) => Buffer.from(body!).toString()),
  );
});

test('jobs go to the thread that has the fewest', async () => {
  const pool = poolOf(2);
  await pool.ready();
  await hold(pool);
  expect([await numberOf(pool), await numberOf(pool)]).toEqual([2, 2]);
});

test('a thread that ends fails what it had, and is replaced', async () => {
  const pool = poolOf(1);
  await pool.ready();
  const { held } = await hold(pool);
  await expect(pool.run(job('/end'))).rejects.toThrow('ended with code 3');
  await expect(held).rejects.toThrow('ended with code 3');
  expect(await numberOf(pool)).toBe(2);
  expect(log.error).toHaveBeenCalledTimes(1);
});

test('a replacement that cannot load is replaced in its turn; until then jobs fail or are refused with 503', async () => {
  const pool = poolOf(1, [2]);
  await pool.ready();
  await expect(pool.run(job('/end'))).rejects.toThrow('ended');
  const failures: Error[] = [];
  const answered = () => numberOf(pool).catch((error: Error) => void failures.push(error));
  await vi.waitFor(async () => expect(await answered()).toBe(3), { timeout: 10_000 });
  for (const { message } of failures) expect(message).toMatch(/cannot load|the pipeline is starting again/);
});

test('a pool is not ready if a thread cannot load', async () => {
  await expect(poolOf(2, [2]).ready()).rejects.toThrow('cannot load');
});

test('a batch that fails as a whole rejects its jobs', async () => {
  const pool = poolOf(1);
  await expect(pool.run(job('/fail'))).rejects.toThrow('made to fail');
  expect(await numberOf(pool)).toBe(1);
});

test('over the bound, jobs are refused with 429; at the close, those under way with 503', async () => {
  const pool = poolOf(1);
  await pool.ready();
  const held = Array.from({ length: POOL_QUEUE }, () => pool.run(job('/hold')));
  for (const one of held) one.catch(() => undefined);
  expect(() => pool.run(job('/'))).toThrow('the server is busy');
  await pool.close();
  await expect(held[0]).rejects.toMatchObject({ reason: 'ServiceUnavailable' });
  await expect(held.at(-1)).rejects.toMatchObject({ reason: 'ServiceUnavailable' });
});
