/**
 * A thread of the pool: Piscina calls the default export with each batch. Everything else, such as the port to the
 * writer and the close, goes through a channel of its own to the front end. The modules that run the jobs are loaded
 * when the front end asks for it.
 */
import { MessageChannel, parentPort, threadId } from 'node:worker_threads';
import { setImmediate } from '../../core/runtime/timers.js';
import type { Batch, BatchOutcome } from '../../core/threads/messages/jobs.js';
import type { PoolThreadCreated, ToPoolThread } from '../../core/threads/messages/lifecycle.js';

const { port1: port, port2: frontEnd } = new MessageChannel();

/** The first message is `load`; further ones are sent when the modules are loaded, and taken by `start`. */
const runner = new Promise<ToPoolThread>(resolve => port.once('message', resolve)).then(async () => {
  const { start } = await import('./runner.js');
  return start(port);
});

// Posted only when this module is loaded: from then on the thread can be terminated.
setImmediate(() => {
  const created: PoolThreadCreated = { thread: threadId, port: frontEnd };
  parentPort!.postMessage(created, [frontEnd]);
});

/**
 * Runs a batch, once the thread has started. Resolves with its outcome, or with undefined if that was posted to the
 * front end.
 */
export default async function runBatch(batch: Batch): Promise<BatchOutcome | undefined> {
  return await (await runner)(batch);
}
