import { createReadStream, statSync, type Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { clearTimeout, setTimeout } from '../runtime/timers.js';
import { READABLE } from './unreadable.js';

/**
 * The interval at which a file is checked, in milliseconds: a change takes effect within seconds. A check takes 50 µs.
 */
const LOOK_MS = 1000;

/** A watched file. */
export interface WatchedFile {
  /** Ends the watch. */
  close(): void;
}

const fingerprint = ({ dev, ino, size, mtimeMs, ctimeMs }: Stats): string => [dev, ino, size, mtimeMs, ctimeMs].join();

/**
 * The state of a file, for comparison. If the file is a symbolic link, it is the state of the target, because `stat`
 * follows links.
 */
async function stateOf(file: string): Promise<string> {
  try {
    return fingerprint(await stat(file));
  } catch (error) {
    return `${(error as NodeJS.ErrnoException).code}`;
  }
}

/** The same, synchronously: content that is written after a watch has begun must not count as the earlier content. */
function stateNow(file: string): string {
  try {
    return fingerprint(statSync(file));
  } catch (error) {
    return `${(error as NodeJS.ErrnoException).code}`;
  }
}

/**
 * Watches files by checking them once a second, which detects every change, also of a symbolic link, of a folder in the
 * path, or on a network file system. `changed` is called when a file has changed and the next check finds no further
 * change, so that a file that is being written is read once. Its promise is awaited before the next check; it must not
 * reject.
 */
export function watchFiles(files: readonly string[], changed: () => unknown, everyMs = LOOK_MS): WatchedFile {
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let handled = files.map(stateNow).join('\n');
  let seen = '';
  const look = async (): Promise<void> => {
    const state = (await Promise.all(files.map(stateOf))).join('\n');
    const isStable = state === seen;
    seen = state;
    if (isStable && state !== handled && !isClosed) {
      handled = state;
      await changed();
    }
    // A file that is changing is checked again soon.
    if (!isClosed) timer = setTimeout(() => void look(), isStable ? everyMs : everyMs / 4).unref();
  };
  void look();
  return {
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

/**
 * The bytes of a file. Rejects with an Error that names the file and the fix, also if it is longer than `maxBytes`. No
 * more bytes are read, because the size of a device, of a pipe, or of the target of a link that changes is not known in
 * advance.
 */
export async function readBounded(file: string, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    // `end` is the offset of the last byte, so one byte more than allowed is read.
    for await (const chunk of createReadStream(file, { end: maxBytes }) as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
    }
  } catch (error) {
    throw new Error(`cannot read ${file}: ${(error as NodeJS.ErrnoException).code ?? 'unreadable'}; ${READABLE}`);
  }
  if (size > maxBytes) throw new Error(`${file} has more than ${maxBytes} bytes, which are not read: make it smaller`);
  return Buffer.concat(chunks);
}
