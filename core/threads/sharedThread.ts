import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { collectGarbageWhenIdle } from './garbage.js';
import type { ThreadData } from './data.js';
import { reportErrors, runThread, type Started, type ThreadMain, threadScope } from './thread.js';

/**
 * Threads that several servers of a process share (docs/decisions/0025). Each server has a guest in the thread, with
 * its own data, plugins and channel, which starts and closes like a thread.
 */

/** The data of a shared thread: those of the server that it was created for, for its log. */
export interface SharedThreadData extends ThreadData {
  readonly isShared: true;
}

/** To a shared thread: begins a guest. */
export interface GuestMessage {
  readonly data: ThreadData;
  /** The guest's end of its channel to the front end. */
  readonly port: MessagePort;
}

/** From a guest that has ended with an error, which is the last message on its channel. */
export interface FailedGuest {
  readonly is: 'guestFailed';
  readonly error: Pick<Error, 'name' | 'message' | 'stack' | 'cause'>;
}

/** An error without its class, as a worker passes it on; a cause only as its text. */
function fieldsOf(thrown: unknown): FailedGuest['error'] {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const strings = Object.entries(error).filter(([, value]) => typeof value === 'string');
  const { name, message, stack, cause } = error;
  return {
    ...Object.fromEntries(strings),
    name,
    message,
    ...(stack && { stack }),
    ...(cause ? { cause: `${cause}` } : {}),
  };
}

/** Runs a thread of a kind, or its guests if servers share it. */
export function runThreadOrGuests<In extends { is: string }, Out extends { is: string }, S extends Started<In, Out>>(
  main: Omit<ThreadMain<In, Out, S>, 'port' | 'guest'>,
): void {
  const data = workerData as ThreadData | SharedThreadData;
  if (!('isShared' in data)) {
    void runThread({ ...main, port: parentPort! });
    return;
  }
  reportErrors(main.kind, threadScope(data, main.kind, main.name));
  collectGarbageWhenIdle();
  parentPort!.on('message', ({ data: guestData, port }: GuestMessage) => {
    const fail = (error: unknown): void =>
      port.postMessage({ is: 'guestFailed', error: fieldsOf(error) } satisfies FailedGuest);
    runThread({ ...main, port, guest: { data: guestData, fail } }).catch(() => undefined);
  });
}
