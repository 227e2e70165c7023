/**
 * Makes V8's code caches of the chunks (`core/chunk.ts`): starts the built server, and lets a thread write the
 * code that it has compiled. Threads of different kinds use different functions of the same chunks, so there is a start
 * for each kind, which begins with the previous caches, and writes them with its additions. These servers write
 * the first objects of their stores by requests, so that the caches have the code for requests, and the objects are
 * recorded for later starts.
 */
import { fork } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { forgetFirstObjects, NAMINGS, readFirstObjects, writeFirstObjects } from './firstObjects.mjs';

/** The kinds of threads: each has its own chunk, with this name. */
const KINDS = ['front', 'pool', 'writer', 'control'];
/** The time limit of a start, which takes about a second, but much longer on a busy machine. */
const START_MS = 60_000;

/**
 * Starts a server on a new store. Once it has ended, resolves with whether caches were written, its output, and the
 * first objects of its store.
 */
function startOnce(dist, kind, naming) {
  const directory = mkdtempSync(join(tmpdir(), 'capstan-build-'));
  const server = fork(
    join(dist, 'core', 'command', 'main.js'),
    ['serve', `--data-dir=${directory}`, '--secure-port=0', `--naming=${naming}`],
    { silent: true, execArgv: ['--import', new URL('./writeCodeCache.mjs', import.meta.url).href], timeout: START_MS },
  );
  return new Promise((resolve, reject) => {
    let text = '';
    let isWritten = false;
    let objects;
    const begin = async () => {
      const token = readFileSync(join(directory, 'pki', 'admin-token.csv'), 'utf8').split(',')[0];
      objects = await readFirstObjects(dist, /https:\S+/.exec(text)[0], token);
      server.send(kind);
    };
    const fail = error => {
      text += error.stack;
      server.kill('SIGTERM');
    };
    const take = more => {
      text += more;
      if (/^ready in /m.test(more)) begin().catch(fail);
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
      resolve({ isWritten, text, objects });
    });
  });
}

/**
 * Creates the caches of the chunks in the folder `dist`, and the files of first objects. If the server cannot run here,
 * servers work without them.
 */
export async function makeCodeCache(dist) {
  forgetFirstObjects(dist);
  const recorded = new Map();
  for (const [i, kind] of KINDS.entries()) {
    const naming = NAMINGS[i % NAMINGS.length];
    const { isWritten, text, objects } = await startOnce(dist, kind, naming);
    if (!isWritten) {
      console.warn(`starts will take longer, because no code cache was made for threads of the kind ${kind}:\n${text}`);
      return;
    }
    recorded.set(naming, objects);
  }
  for (const [naming, objects] of recorded) writeFirstObjects(dist, naming, objects);
}
