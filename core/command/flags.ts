import { ConfigError } from '../api/point.js';
import type { Settings } from '../settings/settings.js';
import { nearest } from '../model/nearest.js';
import { flag } from '../settings/values.js';
import { type InspectAddress, readInspectAddress } from './inspect.js';
import { isList, isValueOptional, type Option, OPTIONS } from './options.js';
import { OTHER_FLAGS } from './upstream/otherFlags.js';

/** The settings given by flags, and the path of the configuration file. */
export interface Flags {
  readonly settings: Partial<Settings>;
  readonly config?: string;
  /** Whether plugins and configuration are reloaded when their files change. */
  readonly watch: boolean;
  /** The address at which to open the inspector. */
  readonly inspect?: InspectAddress | undefined;
  /** Messages about flags that have no effect. */
  readonly notes: readonly string[];
  /** The values of the flags that only the program has, by name. */
  readonly own: ReadonlyMap<string, readonly string[]>;
}

/** The differences between the flags of a program and those of `capstan serve`. */
export interface FlagRules {
  /** Names of flags that only this program has, each with a value. */
  readonly own: readonly string[];
  /** Whether a flag with one value may be repeated; the last value is then used. */
  readonly lastWins: boolean;
  /** Whether the empty path of a file, and the empty value of a flag that is not a setting, mean that it is not set. */
  readonly emptyIsNone: boolean;
}

const SERVE: FlagRules = { own: [], lastWins: false, emptyIsNone: false };

/** The error for a flag of `capstan serve` that does not exist. */
function unknownFlagError(given: string, name: string): ConfigError {
  // Programs use different names for some settings.
  const [own] = [...OPTIONS].find(([, { setting }]) => setting === name) ?? [];
  const known = [...OPTIONS.keys(), 'config', 'watch', 'inspect', 'help'].filter(one => one.length > 1);
  const best = own ?? nearest(name, known);
  return new ConfigError(given, `unknown flag; ${best ? `did you mean --${best}?` : 'capstan --help lists them'}`);
}

interface Token {
  readonly flag: string;
  readonly name: string;
  readonly value: string | undefined;
}

function parseToken(argument: string): Token {
  const match = /^(--?)([^=]*)(?:=(.*))?$/s.exec(argument);
  if (!match || match[2] === '')
    throw new ConfigError(argument, 'unexpected argument; flags are given as --name=value');
  const [, dashes = '', name = '', value] = match;
  const level = dashes === '-' && value === undefined ? /^v(\d+)$/.exec(name) : null;
  if (level) return { flag: '-v', name: 'v', value: level[1] };
  if (dashes === '-' && name.length > 1) throw unknownFlagError(`-${name}`, name);
  return { flag: dashes + name, name, value };
}

/** The value of a flag: its own, the next argument, or true for a switch. */
function takeValue(token: Token, rest: string[], isSwitch: boolean, placeholder: string): string {
  if (token.value !== undefined) return token.value;
  const next = rest[0];
  if (isSwitch && next !== 'true' && next !== 'false') return 'true';
  if (next === undefined || next.startsWith('--'))
    throw new ConfigError(token.flag, `needs a value: ${token.flag}=${placeholder}`);
  rest.shift();
  return next;
}

/** The value of a setting whose flag is repeated; `before` is the value so far. */
function mergeRepeated(
  option: Option,
  before: unknown,
  value: unknown,
  token: Token,
  { lastWins }: FlagRules,
): unknown {
  if (isList(option, before)) return [...before, ...(value as unknown[])];
  if (lastWins) return value;
  throw new ConfigError(token.flag, 'given twice: omit one of them');
}

/**
 * Parses flags of the forms `--name=value` and `--name value`. `rules` are those of the program. Throws ConfigError
 * naming a bad flag and the fix.
 */
export function parseFlags(args: readonly string[], rules: FlagRules = SERVE): Flags {
  const rest = [...args];
  const settings = new Map<keyof Settings, unknown>();
  const notes: string[] = [];
  const own = new Map<string, string[]>();
  let config: string | undefined;
  let watch = false;
  let inspect: InspectAddress | undefined;
  while (rest.length > 0) {
    const token = parseToken(rest.shift()!);
    if (rules.own.includes(token.name)) {
      own.set(token.name, [...(own.get(token.name) ?? []), takeValue(token, rest, false, 'VALUE')]);
      continue;
    }
    const option = OPTIONS.get(token.name);
    const other = OTHER_FLAGS.get(token.name);
    if (other) {
      const value = takeValue(token, rest, other.isSwitch, 'VALUE');
      if (value === '' && rules.emptyIsNone) continue;
      other.read(value, token.flag);
      notes.push(`${token.flag} has no effect: ${other.note}`);
      continue;
    }
    if (token.name === 'watch') {
      watch = flag(token.value ?? 'true', token.flag);
      continue;
    }
    if (token.name === 'inspect') {
      if (inspect) throw new ConfigError(token.flag, 'given twice: omit one of them');
      inspect = readInspectAddress(token.value, token.flag);
      continue;
    }
    if (!option && token.name !== 'config') throw unknownFlagError(token.flag, token.name);
    const value = takeValue(
      token,
      rest,
      option !== undefined && isValueOptional(option),
      option?.placeholder ?? 'FILE',
    );
    if (!option) {
      if (config !== undefined) throw new ConfigError(token.flag, 'given twice: only one file is allowed');
      config = value;
      continue;
    }
    if (value === '' && option.placeholder === 'FILE' && rules.emptyIsNone) continue;
    const read = option.read(value, token.flag);
    const before = settings.get(option.setting);
    settings.set(option.setting, before === undefined ? read : mergeRepeated(option, before, read, token, rules));
  }
  return { settings: Object.fromEntries(settings) as Partial<Settings>, config, watch, inspect, notes, own };
}
