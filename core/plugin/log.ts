import { createRequire } from 'node:module';
import type { Logger } from 'pino';
import type { Log } from '../api/host.js';

/** The lowest verbosity at which records of a level are written. */
const FROM = { error: 0, warn: 0, info: 1, debug: 2 } as const;

/** Members whose values are never written, at the top of a record or in one of its objects. */
const SECRET = ['authorization', 'password', 'token'];

/** Bytes that are buffered while standard error accepts none, as on a full disk; further records are dropped. */
const BUFFER_BYTES = 1 << 20;

/** An error as its stack: other members may contain what a client sent. */
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
 * A log that writes one JSON line per record to standard error; `verbosity` 0 shows warnings and errors, 1 information,
 * 2 and more everything.
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
