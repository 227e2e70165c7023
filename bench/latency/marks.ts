/**
 * Preloaded into the server of the case `latency`, in every thread: writes when messages of writes are posted and taken
 * to a file in the directory CAPSTAN_BENCH_MARKS. A line is a time in nanoseconds and a `Mark`; `bench/lib/stages.ts`
 * reads it.
 */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { MessagePort, threadId } from 'node:worker_threads';
import { roleOf } from './role.js';

/** A step of a write from one thread to another. */
export type Mark = 'job' | 'jobTaken' | 'proposal' | 'proposalTaken' | 'committed' | 'verdict';

const directory = process.env['CAPSTAN_BENCH_MARKS'];
/** Milliseconds between two writes to the file. */
const FLUSH_MS = 200;

/** The meaning of messages, by the thread that posts or takes them. Those of Piscina have the id of a task. */
const MARKS: { readonly [role: string]: { readonly [message: string]: Mark } } = {
  'front end': { 'post task': 'job', take: 'verdict' },
  pool: { 'take task': 'jobTaken', post: 'proposal' },
  writer: { take: 'proposalTaken', post: 'committed' },
};

type Listener = (message: unknown) => void;

function record(file: string): void {
  let lines = '';
  const note = (action: 'post' | 'take', message: unknown): void => {
    const isTask = typeof message === 'object' && message !== null && 'taskId' in message;
    const mark = MARKS[roleOf()]?.[isTask ? `${action} task` : action];
    if (mark) lines += `${process.hrtime.bigint()} ${mark}\n`;
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
  setInterval(() => {
    if (lines) appendFileSync(file, lines);
    lines = '';
  }, FLUSH_MS).unref();
}

if (directory !== undefined) record(join(directory, String(threadId)));
