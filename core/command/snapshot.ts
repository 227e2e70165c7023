import { createReadStream } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request as plain } from 'node:http';
import { request as secure } from 'node:https';
import { dirname, join } from 'node:path';
import { ConfigError } from '../api/point.js';
import { type Stored, StoreError } from '../api/storage.js';
import { SnapshotError, type SnapshotHeader, SnapshotReader } from '../snapshot/format.js';
import { SNAPSHOT_PATH } from '../snapshot/format.js';
import { givenTo, needed, shownBytes } from './arguments.js';
import { type Reach, reachOf } from './kubeconfig.js';
import type { Io } from './serve.js';

/** A server that sends nothing for so long has gone. */
const SILENCE_MS = 60_000;
/** Bytes of a refusal that are shown. */
const REFUSAL_BYTES = 2000;

const USAGE = 'is followed by save FILE, restore FILE or status FILE';

/** `capstan snapshot save|restore|status FILE`. 0 if it worked, 1 if the file or the server is no good. */
export async function snapshotCommand(args: readonly string[], io: Io): Promise<number> {
  const given = givenTo(args, { 'data-dir': { type: 'string' }, kubeconfig: { type: 'string' } });
  const [action, file, ...more] = given.words;
  if (!file || more.length > 0) throw new ConfigError('capstan snapshot', USAGE);
  if (action === 'save') return await save(file, reachFrom(given.values), io);
  if (action === 'restore') return await restore(file, needed(given, 'data-dir', 'NEW'), io);
  if (action === 'status') return await status(file, io);
  throw new ConfigError('capstan snapshot', USAGE);
}

/** The kubeconfig that is given, or the administrator's own beside the data. */
function reachFrom(values: { readonly [name: string]: unknown }): Reach {
  if (typeof values.kubeconfig === 'string') return reachOf(values.kubeconfig);
  return reachOf(join(typeof values['data-dir'] === 'string' ? values['data-dir'] : './.capstan', 'admin.kubeconfig'));
}

/** Takes a snapshot of a running server. The file is there when it is whole and durable, and not before. */
async function save(file: string, reach: Reach, io: Io): Promise<number> {
  const partial = `${file}.partial`;
  const handle = await open(partial, 'w', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw new StoreError(`${file} cannot be written: ${error.code}`);
  });
  try {
    const reader = new SnapshotReader();
    for await (const bytes of (await get(reach)) as AsyncIterable<Buffer>) {
      reader.take(bytes);
      await handle.writeFile(bytes);
    }
    const header = reader.end();
    await handle.sync();
    await handle.close();
    await rename(partial, file);
    const { syncDirectory } = await import('../../plugins/storage/rocksdb/files.js');
    await syncDirectory(dirname(file));
    await say(file, header, io);
    return 0;
  } catch (error) {
    await handle.close().catch(() => undefined);
    await rm(partial, { force: true });
    throw explained(error as Error, 'the server did not send a whole snapshot');
  }
}

async function get({ url, options }: Reach): Promise<IncomingMessage> {
  const send = url.startsWith('https:') ? secure : plain;
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const asked = send(new URL(SNAPSHOT_PATH, url), { ...options, timeout: SILENCE_MS }, resolve);
    asked.on('timeout', () => asked.destroy(new Error(`silent for ${SILENCE_MS / 1000} s`)));
    asked.on('error', error => reject(new StoreError(`${url} cannot be reached: ${error.message}`)));
    asked.end();
  });
  if (answer.statusCode === 200) return answer;
  let text = '';
  for await (const bytes of answer) if (text.length < REFUSAL_BYTES) text += String(bytes);
  throw new StoreError(`${url} refused: ${answer.statusCode} ${messageOf(text)}`);
}

/** The message of a Status, or the text itself. */
function messageOf(text: string): string {
  try {
    const { message } = JSON.parse(text) as { message?: unknown };
    if (typeof message === 'string') return message;
  } catch {
    // Not a Status.
  }
  return text.slice(0, REFUSAL_BYTES).trim();
}

async function restore(file: string, dataDir: string, io: Io): Promise<number> {
  // The whole file is verified before anything is made of it.
  const header = await verified(file);
  const { restoreRocks } = await import('../../plugins/storage/rocksdb/restore.js');
  const revision = await restoreRocks(join(dataDir, 'store'), { revision: header.revision, objects: objectsOf(file) });
  io.out(`restored ${header.objects} objects of revision ${header.revision} into ${dataDir}`);
  io.out(`revisions go on above ${revision}; every watch and every list in pages begins anew`);
  return 0;
}

async function status(file: string, io: Io): Promise<number> {
  await say(file, await verified(file), io);
  return 0;
}

async function say(file: string, { revision, objects, store, created }: SnapshotHeader, io: Io): Promise<void> {
  const { size } = await stat(file);
  io.out(`${file}: revision ${revision}, ${objects} objects, ${shownBytes(size)}, checksum ok`);
  io.out(`taken ${created} from ${store}`);
}

async function verified(file: string): Promise<SnapshotHeader> {
  try {
    const reader = new SnapshotReader();
    for await (const bytes of createReadStream(file)) reader.take(bytes as Buffer);
    return reader.end();
  } catch (error) {
    throw explained(error as Error, file);
  }
}

async function* objectsOf(file: string): AsyncGenerator<Stored> {
  const reader = new SnapshotReader();
  for await (const bytes of createReadStream(file)) yield* reader.take(bytes as Buffer);
  reader.end();
}

function explained(error: Error, subject: string): Error {
  if (error instanceof SnapshotError) return new StoreError(`${subject}: ${error.message}`, { cause: error });
  const { code } = error as NodeJS.ErrnoException;
  return error instanceof StoreError ? error : new StoreError(`${subject}: ${code ?? error.message}`, { cause: error });
}
