import { createRequire } from 'node:module';
import type { Logger } from 'pino';
import type { Log } from '../api/host.js';
import type { ThreadData } from '../threads/data.js';
import { blame } from './calls/blame.js';
import { stackOf } from './calls/stack.js';

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
const errorText = (error: unknown): unknown => (error instanceof Error ? (error.stack ?? String(error)) : error);

/**
 * Opens a logger that writes JSON lines to standard error synchronously, so that a crash loses none. The library is
 * loaded with the first record: most threads never write one, and loading it would slow down every start.
 */
function openLogger(name: string): Logger {
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
  return pino(options, destination);
}

/**
 * A log that writes one JSON line per record to standard error. Verbosity 0 shows warnings and errors, 1 also
 * information, 2 and more everything.
 */
export function logOf(name: string, verbosity: number): Log {
  let logger: Logger | undefined;
  const writer =
    (level: keyof typeof FROM) =>
    (fields: object, message: string): void => {
      if (verbosity < FROM[level]) return;
      logger ??= openLogger(name);
      logger[level](fields, message);
    };
  return { debug: writer('debug'), info: writer('info'), warn: writer('warn'), error: writer('error') };
}

/**
 * Logs rejections in this thread that nothing handles, such as those of promises that a plugin does not await. By
 * default they end the thread. With the data of the thread, the record names the plugin that the rejection comes from.
 * Returns a function that restores the default.
 */
export function logUnhandledRejections(log: Log, data?: Pick<ThreadData, 'plugins' | 'calls'>): () => void {
  const report = (error: unknown): void => {
    const stack = stackOf(error);
    log.error({ plugin: data && blame(stack, data), stack }, 'a promise was rejected, and nothing handled it');
  };
  process.on('unhandledRejection', report);
  return () => void process.off('unhandledRejection', report);
}
