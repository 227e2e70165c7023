import type { Exchange } from '../../../core/api/listener.js';
import type { Stored } from '../../../core/api/storage.js';
import { isReadable, reasonOf, unreadable, type UnreadableObject } from '../../../core/threads/entries/unreadable.js';
import type { WireEvent } from '../../../core/threads/messages/wireEvent.js';
import type { WriterClient } from '../state/writerClient.js';
import type { OpenedValues } from '../../../core/services/encryption/index.js';
import { SnapshotWriter } from '../../../core/services/snapshot/writer.js';

/** Number of objects requested from the writer at once. */
const PAGE = 2000;
/** Unsent bytes at which the next page waits for the client. */
const UNSENT_BYTES = 4 * 1024 * 1024;

/** The source of a snapshot. */
export interface SnapshotSource {
  readonly writer: Pick<WriterClient, 'range'>;
  /** A revision at which every acknowledged write can be seen. */
  revision(): Promise<number>;
  /** An object that cannot be read, if there is one. */
  unreadable(): UnreadableObject | undefined;
  readonly storeName: string;
  readonly now: () => number;
  /** How values are stored in snapshots, if not as they are. Rejects if that cannot be determined. */
  readonly values?: () => Promise<OpenedValues>;
}

/**
 * Streams a snapshot of one revision while the server continues to write. Pages are read at that revision, so the
 * history must be kept at least as long as the download takes. If it is not, or if the store fails, the stream is
 * aborted before its end mark, and the client knows that the snapshot is incomplete.
 */
export async function sendSnapshot(exchange: Exchange, source: SnapshotSource): Promise<void> {
  const opened = await source.values?.();
  try {
    await send(exchange, source, opened?.values);
  } finally {
    opened?.close();
  }
}

async function send(
  exchange: Exchange,
  source: SnapshotSource,
  values: OpenedValues['values'] | undefined,
): Promise<void> {
  const revision = await source.revision();
  const broken = source.unreadable();
  if (broken) throw unreadable(broken);
  const ask = (after: string) =>
    source.writer.range({ prefix: '', revision, limit: PAGE, after, counted: after === '' });
  let page = await ask('');
  const stream = exchange.stream(200, [['content-type', 'application/octet-stream']]);
  let wake: () => void = () => undefined;
  stream.onDrain(() => wake());
  exchange.onAbort(() => wake());
  const writer = new SnapshotWriter();
  const objects = page.items.length + page.remaining;
  stream.write(
    writer.header({ revision, objects, store: source.storeName, created: new Date(source.now()).toISOString() }),
  );
  try {
    for (;;) {
      const drained = new Promise<void>(resolve => (wake = resolve));
      if (
        page.items.length > 0 &&
        stream.write(writer.rows(page.items.map(item => storedOf(item, values)))) > UNSENT_BYTES
      )
        await drained;
      if (exchange.aborted) return;
      if (!page.more) break;
      page = await ask(page.items.at(-1)!.key);
    }
    stream.write(writer.end());
    stream.end();
  } catch {
    // The status has been sent: an error can only break the stream.
    stream.abort();
  }
}

/** Throws Refusal 500 for an object that cannot be read: a snapshot without it would lose it. */
function storedOf(
  { key, value, created, revision, version = 1 }: WireEvent,
  values: OpenedValues['values'] | undefined,
): Stored {
  if (!isReadable(value!)) throw unreadable({ key, reason: reasonOf(value!) });
  return {
    key,
    value: values ? values.encode(key, Buffer.from(value!), 0) : value!,
    created,
    modified: revision,
    version,
  };
}
