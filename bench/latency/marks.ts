/**
 * Preloaded into the server of the case `latency`, in every thread: writes the times at which messages of writes are
 * posted and received to a file in the directory CAPSTAN_BENCH_MARKS. A line is a time in nanoseconds, a `Mark` and the
 * ids of the writes; `bench/lib/stages.ts` reads it.
 */
import { appendFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import workerThreads, { MessagePort, threadId } from 'node:worker_threads';
import type { Batch } from '../../core/threads/messages/jobs.js';
import { decodeFromWriter, decodeToWriter } from '../../core/threads/messages/wire.js';
import { roleOf } from './role.js';

/** A hand-over of a write from one thread to another: posted, or received. */
export type Mark =
  | 'job'
  | 'jobTaken'
  | 'proposal'
  | 'proposalTaken'
  | 'outcome'
  | 'outcomeTaken'
  | 'committed'
  | 'verdict';
type Ids = readonly number[];

const directory = process.env['CAPSTAN_BENCH_MARKS'];
/** Milliseconds between two writes to the file. */
const FLUSH_MS = 200;
const NONE: Ids = [];

/** The writes of running Piscina tasks, since the results do not name their writes. */
const tasks = new Map<number, Ids>();

/** A message of Piscina: a task, or its result. */
interface TaskMessage {
  readonly taskId: number;
  readonly task?: Batch;
}

const isTask = (message: unknown): message is TaskMessage =>
  typeof message === 'object' && message !== null && 'taskId' in message;

function idsOfTask({ taskId, task }: TaskMessage): Ids {
  const ids = task?.jobs?.rows.map(([id]) => id) ?? tasks.get(taskId) ?? NONE;
  if (task) tasks.set(taskId, ids);
  else tasks.delete(taskId);
  return ids;
}

function idsOfProposals(message: unknown): Ids {
  if (!(message instanceof Uint8Array)) return NONE;
  const decoded = decodeToWriter(message);
  return decoded.is === 'propose' ? decoded.proposals.map(({ id }) => id) : NONE;
}

function idsOfVerdicts(message: unknown): Ids {
  const isEvents = message instanceof Uint8Array || (message as { is?: unknown } | undefined)?.is === 'events';
  // Without their memory, values are empty.
  const decoded = isEvents ? decodeFromWriter(message) : undefined;
  return decoded?.is === 'events' ? decoded.verdicts.map(({ id }) => id) : NONE;
}

/** The step of a write to which a posted or received message belongs; undefined if it belongs to no write. */
function meaningOf(role: string, action: 'post' | 'take', message: unknown): readonly [Mark, Ids] | undefined {
  const isPost = action === 'post';
  if (isTask(message)) {
    if (role === 'front end') return [isPost ? 'job' : 'outcomeTaken', idsOfTask(message)];
    return role === 'pool' ? [isPost ? 'outcome' : 'jobTaken', idsOfTask(message)] : undefined;
  }
  if (role === 'pool' && isPost) return ['proposal', idsOfProposals(message)];
  if (role === 'writer')
    return isPost ? ['committed', idsOfVerdicts(message)] : ['proposalTaken', idsOfProposals(message)];
  return role === 'front end' && !isPost ? ['verdict', idsOfVerdicts(message)] : undefined;
}

type Listener = (message: unknown) => void;

function record(file: string): void {
  let lines = '';
  const note = (action: 'post' | 'take', message: unknown): void => {
    const time = process.hrtime.bigint();
    const [mark, ids = NONE] = meaningOf(roleOf(), action, message) ?? [];
    if (mark && ids.length > 0) lines += `${time} ${mark} ${ids.join(' ')}\n`;
  };
  const prototype = MessagePort.prototype as {
    on: (this: MessagePort, event: string, listener: Listener) => MessagePort;
    postMessage: (this: MessagePort, message: unknown, ...rest: unknown[]) => void;
  };
  const { on, postMessage } = prototype;
  prototype.on = function (event, listener) {
    if (event !== 'message') return on.call(this, event, listener);
    return on.call(this, event, message => {
      note('take', message);
      listener.call(this, message);
    });
  };
  prototype.postMessage = function (message, ...rest) {
    note('post', message);
    postMessage.call(this, message, ...rest);
  };
  const { receiveMessageOnPort } = workerThreads;
  workerThreads.receiveMessageOnPort = port => {
    const received = receiveMessageOnPort(port);
    if (received) note('take', received.message);
    return received;
  };
  syncBuiltinESMExports();
  setInterval(() => {
    if (lines) appendFileSync(file, lines);
    lines = '';
  }, FLUSH_MS).unref();
}

if (directory !== undefined) record(join(directory, String(threadId)));
