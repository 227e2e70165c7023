import { once } from 'node:events';
import { resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, expect, test } from 'vitest';
import type { FromSkeleton, ToSkeleton } from './fixtures/skeleton.js';
import { eventually } from '../support/eventually.js';

const data = { naming: 'neutral', plugins: [], resources: [], verbosity: 0 };
const workers: Worker[] = [];
afterEach(async () => void (await Promise.all(workers.splice(0).map(worker => worker.terminate()))));

/** A thread with the module `fixtures/skeleton.ts`, and its messages. */
function skeleton(...messages: readonly ToSkeleton[]): { worker: Worker; posted: string[] } {
  const worker = new Worker(resolve('dist/test/threads/fixtures/skeleton.js'), { workerData: data });
  workers.push(worker);
  const posted: string[] = [];
  worker.on('message', (message: FromSkeleton) => posted.push(message.is === 'done' ? message.what : message.is));
  for (const message of messages) worker.postMessage(message);
  return { worker, posted };
}

test('a thread handles messages in order once it is ready, including earlier ones', async () => {
  const { worker, posted } = skeleton({ is: 'note', text: 'a' }, { is: 'begin' }, { is: 'note', text: 'b' });
  await eventually(() => posted.includes('b'));
  worker.postMessage({ is: 'note', text: 'c' });
  await eventually(() => posted.includes('c'));
  expect(posted).toEqual(['begun', 'ready', 'a', 'b', 'c']);
});

test('a thread that closes while it starts releases acquired resources in reverse order', async () => {
  const { posted } = skeleton({ is: 'begin' }, { is: 'close' });
  await eventually(() => posted.includes('closed'));
  expect(posted).toEqual([
    'begun',
    'ready',
    'released the third',
    'released the second',
    'released the first',
    'closed',
  ]);
});

test('a thread that has not started closes immediately', async () => {
  const { posted } = skeleton({ is: 'close' });
  await eventually(() => posted.includes('closed'));
  expect(posted).toEqual(['closed']);
});

test('a thread whose start fails releases acquired resources and ends with the error', async () => {
  const { worker, posted } = skeleton({ is: 'begin', fails: true });
  // The thread may have ended when its error is received.
  const exited = new Promise(resolve => worker.once('exit', resolve));
  const [error] = await once(worker, 'error');
  expect(error.message).toBe('the start failed');
  await exited;
  expect(posted).toEqual(['begun', 'released the second', 'released the first']);
});
