/**
 * Makes V8's code caches of the chunks (`core/chunk.ts`): starts the server that was built, and has a thread write what
 * it has compiled. Threads of different kinds use different functions of the same chunks. So there is a start for each
 * kind, which begins with the caches of those before, and writes them with what it adds.
 */
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Kinds of threads: each has a chunk of its own, with this name. */
const KINDS = ['front', 'pool', 'writer', 'control'];
/** A start takes about a second. */
const START_MS = 30_000;

/** Starts a server on a new store. Once it has ended, resolves with whether caches were made, and what it printed. */
function startOnce(dist, kind) {
  const directory = mkdtempSync(join(tmpdir(), 'capstan-build-'));
  const server = fork(
    join(dist, 'core', 'command', 'main.js'),
    ['serve', `--data-dir=${directory}`, '--secure-port=0'],
    { silent: true, execArgv: ['--import', new URL('./writeCodeCache.mjs', import.meta.url).href], timeout: START_MS },
  );
  return new Promise((resolve, reject) => {
    let text = '';
    let isWritten = false;
    const take = more => {
      text += more;
      if (/^ready in /m.test(more)) server.send(kind);
    };
    server.stdout.on('data', take);
    server.stderr.on('data', take);
    server.once('message', () => {
      isWritten = true;
      server.kill('SIGTERM');
    });
    server.once('error', reject);
    server.once('close', () => {
      rmSync(directory, { recursive: true, force: true });
      resolve({ isWritten, text });
    });
  });
}

/** Makes the caches of the chunks in the folder `dist`. If the server cannot run here, it will do without them. */
export async function makeCodeCache(dist) {
  for (const kind of KINDS) {
    const { isWritten, text } = await startOnce(dist, kind);
    if (isWritten) continue;
    console.warn(`starts will take longer, because no code cache was made for threads of the kind ${kind}:\n${text}`);
    return;
  }
}
