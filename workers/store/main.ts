import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { storage } from '../../core/api/storage.js';
import type { FromWriter } from '../../core/threads/messages.js';
import { loadPlugins } from '../../core/plugin/load.js';
import { hostOf } from '../../core/plugin/host.js';
import { logOf } from '../../core/plugin/log.js';
import { Releases } from '../../core/plugin/releases.js';
import type { ThreadData } from '../../core/threads/data.js';
import { Writer } from './writer.js';

// The writer's thread: opens the store, tells the front end, then commits until it is told to close.
const data = workerData as ThreadData & { readonly begin: MessagePort };
const port = parentPort!;
const releases = new Releases();

// The main thread has loaded its plugins by then (see StoreThread.begin).
await new Promise(resolve => data.begin.once('message', resolve));
data.begin.close();
try {
  const host = hostOf(data, 'store', { onClose: releases.add });
  const plugins = await loadPlugins(data.plugins, 'store', host);
  const store = plugins.at(storage);
  // Thrown where nobody catches it: that ends the thread, and with it the server.
  const fatal = (error: Error): void =>
    queueMicrotask(() => {
      throw error;
    });
  const writer = new Writer(store, new Int32Array(data.counters), fatal);
  const revision = await writer.start();
  port.on('message', async (message: { is: 'connect' | 'close'; port?: never; counter?: number }) => {
    if (message.is === 'connect') writer.connect(message.port!, message.counter!);
    else {
      await writer.close();
      await releases.run(logOf('writer', data.verbosity));
      port.postMessage({ is: 'closed' });
      process.exit(0);
    }
  });
  // The writer goes on: it answers proposals with the error until the server has drained.
  void store.failed?.then(error => port.postMessage({ is: 'failed', message: error.message }));
  const shared = store.shared && { secret: store.shared.secret };
  port.postMessage({ is: 'ready', storeName: store.name, revision, ...(shared && { shared }) } satisfies FromWriter);
} catch (error) {
  port.postMessage({ is: 'unusable', message: (error as Error).message });
}
