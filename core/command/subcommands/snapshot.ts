import { createReadStream } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { dirname, join } from 'node:path';
import { ConfigError } from '../../api/point.js';
import type { ClientAccess } from '../../client/index.js';
import { type Stored, StoreError } from '../../api/storage.js';
import { READABLE } from '../../files/unreadable.js';
import { SNAPSHOT_PATH } from '../../model/wellKnown/namedPaths.js';
import { sharedDefinitionsNotice } from '../../schema/storageLayout.js';
import { SnapshotError, type SnapshotHeader } from '../../services/snapshot/format.js';
import { SnapshotReader } from '../../services/snapshot/reader.js';
import { parseArguments, requireValue, formatBytes } from '../arguments.js';
import { flagsOf } from '../commands.js';
import { sendRequest, serverOf } from '../client/request.js';
import type { Io } from '../serve.js';

/** Time without data from the server after which the download fails. */
const IDLE_TIMEOUT_MS = 60_000;
/** Length to which a server's error is truncated. */
const ERROR_TEXT_BYTES = 2000;

const USAGE = 'expects save FILE, restore FILE or status FILE';

/** `capstan snapshot save|restore|status FILE`. Returns the exit code. Throws StoreError if the command fails. */
export async function snapshotCommand(args: readonly string[], io: Io): Promise<number> {
  const parsed = parseArguments(args, flagsOf('snapshot'));
  const [action, file, ...more] = parsed.positionals;
  if (!file || more.length > 0) throw new ConfigError('capstan snapshot', USAGE);
  if (action === 'save') return await save(file, serverOf(parsed.values), io);
  if (action === 'restore') return await restore(file, requireValue(parsed, 'data-dir', 'NEW'), io);
  if (action === 'status') return await status(file, io);
  throw new ConfigError('capstan snapshot', USAGE);
}

/** Takes a snapshot of a running server. The file appears only once it is complete and durable. */
async function save(file: string, access: ClientAccess, io: Io): Promise<number> {
  const partial = `${file}.partial`;
  const handle = await open(partial, 'w', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw new StoreError(`${file} cannot be written: ${error.code}`);
  });
  try {
    // A file that an interrupted command has left may have another mode.
    await handle.chmod(0o600);
    const reader = new SnapshotReader();
    for await (const bytes of (await requestSnapshot(access)) as AsyncIterable<Buffer>) {
      reader.take(bytes);
      await handle.writeFile(bytes);
    }
    const header = reader.end();
    await handle.sync();
    await handle.close();
    await rename(partial, file);
    const { syncDirectory } = await import('../../../plugins/storage/rocksdb/files/files.js');
    await syncDirectory(dirname(file));
    await printSummary(file, header, io);
    return 0;
  } catch (error) {
    await handle.close().catch(() => undefined);
    await rm(partial, { force: true });
    throw toStoreError(error as Error, 'the server sent an incomplete snapshot');
  }
}

async function requestSnapshot(access: ClientAccess): Promise<IncomingMessage> {
  const request = { method: 'GET', path: SNAPSHOT_PATH, timeoutMs: IDLE_TIMEOUT_MS } as const;
  const answer = await sendRequest(access, request).catch((error: Error) => {
    throw error instanceof ConfigError ? error : new StoreError(error.message);
  });
  if (answer.statusCode === 200) return answer;
  let text = '';
  for await (const bytes of answer) if (text.length < ERROR_TEXT_BYTES) text += String(bytes);
  throw new StoreError(`${access.server} refused: ${answer.statusCode} ${messageOf(text)}`);
}

/** The message of a Status, or the text itself. */
function messageOf(text: string): string {
  try {
    const { message } = JSON.parse(text) as { message?: unknown };
    if (typeof message === 'string') return message;
  } catch {
    // Not a Status.
  }
  return text.slice(0, ERROR_TEXT_BYTES).trim();
}

async function restore(file: string, dataDir: string, io: Io): Promise<number> {
  // The whole file is verified before the data directory is created.
  const header = await verifySnapshot(file);
  const { restoreRocksDb } = await import('../../../plugins/storage/rocksdb/offline/restore.js');
  const former: string[] = [];
  const revision = await restoreRocksDb(join(dataDir, 'store'), {
    revision: header.revision,
    objects: readObjects(file, former),
  });
  io.out(`restored ${header.objects} objects of revision ${header.revision} into ${dataDir}`);
  io.out(`new revisions are above ${revision}; watches and paged lists must start again`);
  const notice = sharedDefinitionsNotice(former);
  if (notice !== undefined) io.err(notice);
  return 0;
}

async function status(file: string, io: Io): Promise<number> {
  await printSummary(file, await verifySnapshot(file), io);
  return 0;
}

async function printSummary(
  file: string,
  { revision, objects, store, created }: SnapshotHeader,
  io: Io,
): Promise<void> {
  const { size } = await stat(file);
  io.out(`${file}: revision ${revision}, ${objects} objects, ${formatBytes(size)}, checksum ok`);
  io.out(`taken ${created} from ${store}`);
}

async function verifySnapshot(file: string): Promise<SnapshotHeader> {
  try {
    const reader = new SnapshotReader();
    for await (const bytes of createReadStream(file)) reader.take(bytes as Buffer);
    return reader.end();
  } catch (error) {
    throw toStoreError(error as Error, file);
  }
}

/** Reads the objects of a snapshot. Their keys are added to `former` if an earlier release has written it. */
async function* readObjects(file: string, former: string[]): AsyncGenerator<Stored> {
  const reader = new SnapshotReader();
  for await (const bytes of createReadStream(file)) {
    const objects = reader.take(bytes as Buffer);
    if (reader.isFormer) former.push(...objects.map(({ key }) => key));
    yield* objects;
  }
  reader.end();
}

function toStoreError(error: Error, subject: string): Error {
  if (error instanceof SnapshotError) return new StoreError(`${subject}: ${error.message}`, { cause: error });
  if (error instanceof StoreError) return error;
  const { code, syscall } = error as NodeJS.ErrnoException;
  const next = code === 'ENOENT' && syscall === 'open' ? `; ${READABLE}` : '';
  return new StoreError(`${subject}: ${code ?? error.message}${next}`, { cause: error });
}
