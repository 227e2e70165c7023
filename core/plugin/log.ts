import { createRequire } from 'node:module';
import { isMainThread } from 'node:worker_threads';
import type { Logger } from 'pino';
import type { Log } from '../api/host.js';
import type { ThreadData } from '../threads/data.js';
import { blame } from './calls/blame.js';
import { stackOf } from './calls/stack.js';
import { isTerminal, type LoggingFormat, type LogSettings, textDestination } from './logText.js';
import { currentRequest } from './calls/requestScope.js';

/** The lowest verbosity at which records of a level are written. */
const FROM = { error: 0, warn: 0, info: 1, debug: 2 } as const;

/** Members whose values are redacted, at the top level of a record or in one of its objects. */
const SECRET = ['authorization', 'password', 'token'];

/**
 * Bytes that are buffered while standard error cannot be written, for example on a full disk. Further records are
 * dropped.
 */
const BUFFER_BYTES = 1 << 20;

/** Only the stack of an error is logged, because other members may contain input of a client. */
const errorText = (error: unknown): unknown => (error instanceof Error ? stackOf(error) : error);

/**
 * Opens a logger that writes to standard error synchronously, so that a crash loses no record. The library is loaded
 * with the first record: most threads never write one, and loading it would slow down every start.
 */
function openLogger(name: string, format: LoggingFormat): Logger {
  const { pino } = createRequire(import.meta.url)('pino') as typeof import('pino');
  const destination = pino.destination({ fd: 2, sync: true, maxLength: BUFFER_BYTES });
  destination.on('error', () => undefined);
  const options = {
    level: 'debug',
    base: { name },
    messageKey: 'message',
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (level: string) => ({ level }) },
    serializers: { error: errorText, err: errorText },
    redact: SECRET.flatMap(member => [member, `*.${member}`]),
  };
  return pino(options, format === 'text' ? textDestination(destination) : destination);
}

/** A log that writes its records to standard error, with the name of their writer. */
export function logOf(name: string, settings: LogSettings): Log {
  const { verbosity, loggingFormat = isTerminal() ? 'text' : 'json' } = settings;
  let logger: Logger | undefined;
  const writer =
    (level: keyof typeof FROM) =>
    (fields: object, message: string): void => {
      if (verbosity < FROM[level]) return;
      logger ??= openLogger(name, loggingFormat);
      logger[level](fields, message);
    };
  return { debug: writer('debug'), info: writer('info'), warn: writer('warn'), error: writer('error') };
}

/** The plugins that records about the end of a thread may name, and the counters of their failures. */
type Blamable = () => Pick<ThreadData, 'plugins' | 'calls'>;

/**
 * Logs rejections in this thread that nothing handles, such as those of promises that a plugin does not await. By
 * default they end the thread. The record names the plugin that caused the rejection. Returns a function that restores
 * the default.
 */
export function logUnhandledRejections(log: Log, called: Blamable): () => void {
  const report = (error: unknown): void => {
    const stack = stackOf(error);
    const fields = { plugin: blame(stack, called()), ...currentRequest()?.fields, stack };
    log.error(fields, 'a promise was rejected, and nothing handled it');
  };
  process.on('unhandledRejection', report);
  return () => void process.off('unhandledRejection', report);
}

/**
 * Logs calls of `process.exit` in this thread, which end it without an error, with the plugin in whose code they are.
 * Returns a function that stops this.
 */
export function logExits(log: Log, called: Blamable): () => void {
  const { exit } = process;
  process.exit = (code): never => {
    const stack = stackOf(new Error(`process.exit(${code ?? ''})`));
    const [, , ...frames] = stack.split('\n');
    // Node.js itself calls `process.exit` when it ends a thread because of an error.
    if (frames.some(frame => !frame.includes('(node:'))) {
      const fields = { plugin: blame(stack, called()), ...currentRequest()?.fields, stack };
      log.error(fields, `process.exit was called, which ends ${isMainThread ? 'the server' : 'this thread'}`);
    }
    return exit.call(process, code) as never;
  };
  return () => {
    process.exit = exit;
  };
}

/** Logs an uncaught error that ends the process, with the plugin that caused it. Returns a function that stops this. */
export function logUncaught(log: Log, called: Blamable): () => void {
  const report = (error: unknown): void => {
    const stack = stackOf(error);
    log.error({ plugin: blame(stack, called()), stack }, 'an error that nothing caught ends the server');
  };
  process.on('uncaughtExceptionMonitor', report);
  return () => void process.off('uncaughtExceptionMonitor', report);
}
