import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { hasOnlyBuiltIns, type ThreadData } from '../../core/threads/data.js';
import { createThread, type ServerThread } from '../../workers/front/threads/serverThread.js';
import { eventually } from '../support/eventually.js';
import { partly } from '../support/values.js';
import type { FromSkeleton, ToSkeleton } from './fixtures/skeleton.js';

const MODULE = pathToFileURL(resolve('dist/test/threads/fixtures/skeleton.js'));
const data = partly<ThreadData>({ naming: 'neutral', plugins: [], resources: [], verbosity: 0 });

const threads: ServerThread[] = [];
afterEach(async () => void (await Promise.all(threads.splice(0).map(thread => thread.terminate()))));

/** A guest in the thread with the module `fixtures/skeleton.ts`, and its messages. */
function guest(...messages: readonly ToSkeleton[]): { thread: ServerThread; posted: string[] } {
  const thread = createThread({ module: MODULE, data, youngGenerationMb: 4, isGuest: true });
  threads.push(thread);
  const posted: string[] = [];
  thread.on('message', posting => {
    const message = posting as FromSkeleton;
    posted.push(message.is === 'done' ? message.what : message.is);
  });
  for (const message of messages) thread.postMessage(message);
  return { thread, posted };
}

/** Resolves with the exit code of a thread. */
const ended = (thread: ServerThread): Promise<number> => new Promise(resolve => thread.once('exit', resolve));

test('guests share a worker, and each has its own start, messages and resources', async () => {
  const [one, two] = [guest({ is: 'begin' }), guest({ is: 'begin' })];
  expect(one.thread.threadId).toBe(two.thread.threadId);
  await eventually(() => one.posted.includes('ready') && two.posted.includes('ready'));
  one.thread.postMessage({ is: 'note', text: 'for the first' });
  two.thread.postMessage({ is: 'close' });
  await eventually(() => one.posted.includes('for the first') && two.posted.includes('closed'));
  expect(one.posted).toEqual(['begun', 'ready', 'for the first']);
  expect(two.posted).toContain('released the first');
  await two.thread.terminate();
  expect(two.thread.threadId).toBe(-1);
  one.thread.postMessage({ is: 'note', text: 'still here' });
  await eventually(() => one.posted.includes('still here'));
});

test('a guest whose start fails ends with its error, without affecting others', async () => {
  const other = guest({ is: 'begin' });
  const { thread, posted } = guest({ is: 'begin', fails: true });
  const exited = ended(thread);
  const [error] = await once(thread as never, 'error');
  expect(error).toBeInstanceOf(Error);
  expect((error as Error).message).toBe('the start failed');
  expect(await exited).toBe(1);
  expect(posted).toEqual(['begun', 'released the second', 'released the first']);
  await eventually(() => other.posted.includes('ready'));
});

test('a worker ends with its last guest, and the next guest gets a new worker', async () => {
  const [one, two] = [guest(), guest()];
  const worker = one.thread.threadId;
  await one.thread.terminate();
  expect(guest().thread.threadId).toBe(worker);
  await two.thread.terminate();
  await threads.at(-1)!.terminate();
  expect(guest().thread.threadId).not.toBe(worker);
});

test('all guests of a worker end when the worker ends', async () => {
  const [one, two] = [guest({ is: 'begin' }), guest({ is: 'begin' })];
  const codes = Promise.all([ended(one.thread), ended(two.thread)]);
  one.thread.postMessage({ is: 'exit', text: '' });
  expect(await codes).toEqual([7, 7]);
  expect(one.thread.threadId).toBe(-1);
});

test('a guest that starts while a worker ends with an error gets another worker', async () => {
  const created = once(process, 'worker') as Promise<[Worker]>;
  const { thread } = guest({ is: 'begin' }, { is: 'throw', text: 'it is broken' });
  const ending = thread.threadId;
  const failed = once(thread as never, 'error');
  const [worker] = await created;
  const next = await new Promise<ReturnType<typeof guest>>(resolve =>
    worker.once('error', () => resolve(guest({ is: 'begin' }))),
  );
  expect((await failed)[0]).toMatchObject({ message: 'it is broken' });
  expect(next.thread.threadId).not.toBe(ending);
  await eventually(() => next.posted.includes('ready'));
});

test('a server with plugins of users has its own threads', () => {
  const builtIn = { use: 'file:///capstan/plugin.js' };
  expect(hasOnlyBuiltIns({ plugins: [builtIn] })).toBe(true);
  expect(hasOnlyBuiltIns({ plugins: [builtIn, { use: 'file:///users.js', path: 'plugins[0]' }] })).toBe(false);
});
