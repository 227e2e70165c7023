import { ConfigError } from '../api/point.js';
import type { Settings } from '../server/settings.js';
import { OPTIONS, type Option } from './options.js';

/** What flags say: settings, and the configuration file. */
export interface Flags {
  readonly settings: Partial<Settings>;
  readonly config?: string;
}

/** Edit distance at which a name still counts as a slip of the pen. */
const SLIP = 3;

function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++)
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)));
    row = next;
  }
  return row[b.length]!;
}

function unknownFlag(given: string, name: string): ConfigError {
  const near = [...OPTIONS.keys(), 'config'].filter(
    known => name.length < 64 && distance(known, name) <= SLIP && known.length > 1,
  );
  const [best] = near.sort((a, b) => distance(a, name) - distance(b, name));
  return new ConfigError(given, `unknown flag; ${best ? `did you mean --${best}?` : 'capstan --help lists them'}`);
}

interface Token {
  readonly shown: string;
  readonly name: string;
  readonly value: string | undefined;
}

function tokenOf(argument: string): Token {
  const match = /^(--?)([^=]*)(?:=(.*))?$/s.exec(argument);
  if (!match || match[2] === '')
    throw new ConfigError(argument, 'unexpected argument; flags are given as --name=value');
  const [, dashes = '', name = '', value] = match;
  const level = dashes === '-' && value === undefined ? /^v(\d+)$/.exec(name) : null;
  if (level) return { shown: '-v', name: 'v', value: level[1] };
  if (dashes === '-' && name.length > 1) throw unknownFlag(`-${name}`, name);
  return { shown: dashes + name, name, value };
}

function givenValue(token: Token, option: Option | undefined, rest: string[]): string {
  if (token.value !== undefined) return token.value;
  const next = rest[0];
  if (option?.bare && next !== 'true' && next !== 'false') return 'true';
  if (next === undefined || next.startsWith('--'))
    throw new ConfigError(token.shown, `needs a value: ${token.shown}=${option?.placeholder ?? 'FILE'}`);
  rest.shift();
  return next;
}

/** Reads `--name=value` and `--name value`; throws ConfigError that names the flag and the fix. */
export function parseFlags(args: readonly string[]): Flags {
  const rest = [...args];
  const settings = new Map<keyof Settings, unknown>();
  let config: string | undefined;
  while (rest.length > 0) {
    const token = tokenOf(rest.shift()!);
    const option = OPTIONS.get(token.name);
    if (!option && token.name !== 'config') throw unknownFlag(token.shown, token.name);
    const value = givenValue(token, option, rest);
    if (!option) {
      if (config !== undefined) throw new ConfigError(token.shown, 'given twice; give one file');
      config = value;
      continue;
    }
    const read = option.read(value, token.shown);
    const before = settings.get(option.setting);
    if (before !== undefined && !option.repeatable)
      throw new ConfigError(token.shown, 'given twice; leave one of them out');
    settings.set(option.setting, before === undefined ? read : [...(before as unknown[]), ...(read as unknown[])]);
  }
  return { settings: Object.fromEntries(settings) as Partial<Settings>, config };
}
