import { createReadStream, statSync, type Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { clearTimeout, setTimeout } from '../runtime/timers.js';

/** How often a file is looked at, in milliseconds: a change is effective within seconds. A look takes some 50 µs. */
const LOOK_MS = 1000;

/** A watched file. */
export interface WatchedFile {
  /** Ends the watch. */
  close(): void;
}

const shown = ({ dev, ino, size, mtimeMs, ctimeMs }: Stats): string => [dev, ino, size, mtimeMs, ctimeMs].join();

/** The state of a file, as far as two states differ: also where a symbolic link to it points, as `stat` follows it. */
async function stateOf(file: string): Promise<string> {
  try {
    return shown(await stat(file));
  } catch (error) {
    return `${(error as NodeJS.ErrnoException).code}`;
  }
}

/** The same at once: content written after a watch has begun must not be taken for the content before. */
function stateNow(file: string): string {
  try {
    return shown(statSync(file));
  } catch (error) {
    return `${(error as NodeJS.ErrnoException).code}`;
  }
}

/**
 * Watches files, by looking at them once a second: that notices every change, also of a symbolic link, of a folder on
 * the way, or on a network file system. `changed` is called when any of them has changed and is then the same for one
 * look, so that a file that is being written is read once. Its promise is awaited before the next look; it must not
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
    // One that is changing is looked at again soon.
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
 * The bytes of a file. Rejects with an Error that names the file, also if it has more than `maxBytes`: no more are
 * read, as the size of a device, of a pipe, or of the target of a link by then is not known before.
 */
export async function readBounded(file: string, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  // `end` is the place of the last byte: one more than may be.
  for await (const chunk of createReadStream(file, { end: maxBytes }) as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
  }
  if (size > maxBytes) throw new Error(`${file} has more than ${maxBytes} bytes, which are not read: make it smaller`);
  return Buffer.concat(chunks);
}
