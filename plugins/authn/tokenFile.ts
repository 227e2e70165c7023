import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ConfigError, type User } from '../../core/api/index.js';

/** Users by the SHA-256 of their token, so that the time of a lookup reveals nothing about the tokens. */
export type TokenTable = ReadonlyMap<string, User>;

/** The key of a token in a TokenTable, and wherever else tokens are looked up. */
export const digest = (token: string): string => hash('sha256', token, 'base64');

interface Scan {
  readonly fields: string[];
  /** Position after the line end of the record, and the number of line ends before it. */
  readonly next: number;
  readonly lines: number;
}

/** Parses one record of RFC 4180 CSV at `at`. Quoted fields may contain commas, line ends and doubled quotes. */
function record(text: string, at: number, fail: (why: string, lines: number) => never): Scan {
  const fields: string[] = [];
  let lines = 0;
  let next = at;
  for (;;) {
    let field: string;
    if (text[next] === '"') {
      const end = closingQuote(text, next);
      if (end < 0) fail('a quoted field does not end', lines);
      field = text.slice(next + 1, end).replaceAll('""', '"');
      lines += field.split('\n').length - 1;
      next = end + 1;
      if (next < text.length && !/[,\r\n]/.test(text[next] as string))
        fail('text after the closing quote of a field', lines);
    } else {
      const end = fieldEnd(text, next);
      field = text.slice(next, end);
      if (field.includes('"')) fail('a quote inside a field that is not quoted', lines);
      next = end;
    }
    fields.push(field);
    if (text[next] !== ',') break;
    next++;
  }
  if (text[next] === '\r') next++;
  return { fields, next: next + 1, lines: lines + 1 };
}

function closingQuote(text: string, open: number): number {
  for (let at = text.indexOf('"', open + 1); at >= 0; at = text.indexOf('"', at + 2))
    if (text[at + 1] !== '"') return at;
  return -1;
}

function fieldEnd(text: string, from: number): number {
  let at = from;
  while (at < text.length && text[at] !== ',' && text[at] !== '\n' && !(text[at] === '\r' && text[at + 1] === '\n'))
    at++;
  return at;
}

function userOf(fields: readonly string[]): User {
  const [, name = '', uid = '', ...columns] = fields;
  const groups = columns.flatMap(column => column.split(',')).map(group => group.trim());
  return Object.freeze({ name, uid, groups: groups.filter(group => group !== ''), extra: new Map() });
}

/**
 * Parses a static token file (spec, "Authentication: methods"): CSV with the columns token, user name, user uid and
 * groups; a quoted column may contain several groups separated by commas. Blank lines and empty tokens are skipped. If
 * a token is repeated, the last row is used. Throws ConfigError naming file and line.
 */
export function parseTokenFile(text: string, file: string): TokenTable {
  const table = new Map<string, User>();
  let line = 1;
  for (let at = 0; at < text.length; ) {
    const fail = (why: string, lines = 0): never => {
      throw new ConfigError(`${file}:${line + lines}`, why);
    };
    const { fields, next, lines } = record(text, at, fail);
    const blank = fields.length === 1 && fields[0] === '';
    if (!blank && fields.length < 3)
      fail(`expected at least 3 columns (token, user name, user uid), found ${fields.length}`);
    if (!blank && fields[0]) table.set(digest(fields[0]), userOf(fields));
    at = next;
    line += lines;
  }
  return table;
}

/** The users of a token file. Throws ConfigError for a file that cannot be read or parsed. */
export function readTokenFile(file: string): TokenTable {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (thrown) {
    throw new ConfigError(file, `cannot read the token file: ${(thrown as NodeJS.ErrnoException).code}`);
  }
  return parseTokenFile(text, file);
}
