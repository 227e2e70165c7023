import { isatty, WriteStream } from 'node:tty';
import { isRecord } from '../model/record.js';

/** How records are written: one line of JSON each, or as people read them on a terminal. */
export type LoggingFormat = 'json' | 'text';

/** The settings of a log. */
export interface LogSettings {
  /** 0 shows warnings and errors, 1 also information, 2 and more everything. */
  readonly verbosity: number;
  /** Absent: `text` if standard error is a terminal, else `json`. */
  readonly loggingFormat?: LoggingFormat | undefined;
}

/** A record of the log, as it is written in JSON. */
interface LogRecord {
  readonly level: string;
  /** RFC 3339 with milliseconds. */
  readonly time: string;
  readonly name: string;
  readonly message: string;
  readonly [field: string]: unknown;
}

/** SGR parameters (ECMA-48, 8.3.117) of the colours of a record. */
const COLORS = { error: '31', warn: '33', info: '32', debug: '36', dim: '2', bold: '1' } as const;

/** Characters that a terminal could interpret as commands, except line feeds and tabs. */
const COMMANDS = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;
/** Texts that are shown without quotes. */
const BARE = /^[\w./:@%+*~#?&=,<>()[\]-]+$/;

const escapeCommands = (text: string): string =>
  text.replace(COMMANDS, found => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);

const formatField = (value: unknown): string =>
  typeof value === 'string' && BARE.test(value) ? value : escapeCommands(JSON.stringify(value) ?? 'undefined');

const indent = (text: string): string => text.replace(/^/gm, '    ');
/** A text whose lines after the first are indented, so that none of them looks like a record. */
const indentLaterLines = (text: string): string => text.replaceAll('\n', '\n    ');

/**
 * A record as people read it on a terminal: a line with time, level, origin and message, then its fields, then its
 * stacks unchanged. Characters that a terminal would interpret are escaped, because messages and fields may come from
 * clients. The time is that of the local time zone.
 */
export function recordText(record: LogRecord, colored: boolean): string {
  const { level, time, name, message, ...fields } = record;
  const paint = (how: keyof typeof COLORS, text: string): string =>
    colored ? `\u001b[${COLORS[how]}m${text}\u001b[0m` : text;
  const at = new Date(time);
  const clock = `${at.toTimeString().slice(0, 8)}.${String(at.getMilliseconds()).padStart(3, '0')}`;
  const levelText = paint(level in COLORS ? (level as 'error') : 'bold', level.toUpperCase().padEnd(5));
  const isBlock = (value: unknown): value is string => typeof value === 'string' && value.includes('\n');
  const all = Object.entries(fields);
  const members = all
    .filter(([, value]) => !isBlock(value))
    .map(([member, value]) => `${paint('dim', `${escapeCommands(member)}=`)}${formatField(value)}`);
  const blocks = all.flatMap(([, value]) => (isBlock(value) ? [indent(escapeCommands(value))] : []));
  const text = indentLaterLines(escapeCommands(message));
  const head = `${paint('dim', clock)} ${levelText} ${paint('bold', escapeCommands(name))}: ${text}`;
  return [head, ...(members.length > 0 ? [indent(members.join(' '))] : []), ...blocks, ''].join('\n');
}

/** Whether standard error is a terminal. */
export const isTerminal = (): boolean => isatty(2);

/** A destination of records in JSON that writes them as people read them. */
export function textDestination(destination: { write(text: string): unknown }): { write(line: string): void } {
  // Follows the terminal and the variables NO_COLOR, FORCE_COLOR and TERM, as Node.js itself does.
  const colored = isTerminal() && WriteStream.prototype.hasColors();
  return {
    write(line) {
      const record: unknown = JSON.parse(line);
      if (isRecord(record)) destination.write(recordText(record as unknown as LogRecord, colored));
    },
  };
}
