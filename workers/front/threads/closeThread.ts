import { clearTimeout, setTimeout } from '../../../core/runtime/timers.js';
import type { FromThread, ToThread } from '../../../core/threads/messages/lifecycle.js';

/** A thread, or a channel to one. */
interface Channel {
  readonly threadId?: number;
  on(name: 'message', listener: (message: unknown) => void): unknown;
  once(name: 'exit' | 'close', listener: () => void): unknown;
  postMessage(message: ToThread): void;
}

/**
 * Makes a thread release its resources and those of its plugins. Resolves when this is done or the thread has ended,
 * but at the latest after `ms` milliseconds, if given. The thread continues to run until it is terminated.
 */
export async function closeThread(channel: Channel, ms?: number): Promise<void> {
  // A thread that has ended no longer has an id, and emits nothing.
  if (channel.threadId === -1) return;
  let timer: NodeJS.Timeout | undefined;
  await new Promise<void>(resolve => {
    if (ms !== undefined) timer = setTimeout(resolve, ms);
    channel.on('message', message => {
      if ((message as FromThread).is === 'closed') resolve();
    });
    // A thread emits `exit` when it ends. A port emits `close` when the thread at its other end does.
    channel.once('exit', () => resolve());
    channel.once('close', () => resolve());
    channel.postMessage({ is: 'close' } satisfies ToThread);
  });
  clearTimeout(timer);
}
