import { createRequire } from 'node:module';
import type { Logger } from 'pino';
import type { Log } from '../api/host.js';

/** The verbosity from which on records of a level are written. */
const FROM = { error: 0, warn: 0, info: 1, debug: 2 } as const;

/** Members whose values are never written, at the top of a record or in one of its objects. */
const SECRET = ['authorization', 'password', 'token'];

/** Bytes that are kept while standard error takes none, as on a full disk; further records are lost then. */
const KEPT_BYTES = 1 << 20;

/** Text and stack alone: other members of an error may hold what a client sent. */
const errorText = (error: unknown): unknown => (error instanceof Error ? (error.stack ?? String(error)) : error);

/**
 * Writes JSON lines straight to standard error, in every thread and before the call returns, so that a crash loses
 * none. The library is loaded with the first record: most threads never write one, and four would pay for it at each
 * start.
 */
function openLogger(name: string): Logger {
  const { pino } = createRequire(import.meta.url)('pino') as typeof import('pino');
  const destination = pino.destination({ fd: 2, sync: true, maxLength: KEPT_BYTES });
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
