/** Loaded by each thread of a server that creates code caches. Threads of the requested kind write them. */
import { renameSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename } from 'node:path';
import v8 from 'node:v8';
import { BroadcastChannel, isMainThread } from 'node:worker_threads';

// A thread that collects its garbage sets a flag for a moment (`core/threads/garbage.ts`), for all threads. V8 refuses
// caches that are created meanwhile.
v8.setFlagsFromString = () => undefined;
syncBuiltinESMExports();

const { chunks } = await import(new URL('../../dist/chunks/run.js', import.meta.url).href);
const threads = new BroadcastChannel('code cache');
threads.unref();

/** Writes the caches if this thread is of the kind. Returns whether it is. */
function write(kind) {
  const own = new RegExp(`^${kind}\\d*\\.script\\.cache$`);
  if (!chunks.some(({ cacheFile }) => own.test(basename(cacheFile)))) return false;
  for (const { script, cacheFile, key } of chunks) {
    // V8 does not detect an incomplete cache.
    writeFileSync(`${cacheFile}.new`, Buffer.concat([key, script.createCachedData()]));
    renameSync(`${cacheFile}.new`, cacheFile);
  }
  return true;
}

if (isMainThread) {
  const done = () => process.send('written');
  threads.onmessage = done;
  process.on('message', kind => (write(kind) ? done() : threads.postMessage(kind)));
  process.channel.unref();
} else {
  threads.onmessage = ({ data }) => write(data) && threads.postMessage('written');
}
