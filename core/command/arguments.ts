import { parseArgs, type ParseArgsConfig } from 'node:util';
import { ConfigError } from '../api/point.js';
import { nearest } from '../model/nearest.js';

type Options = NonNullable<ParseArgsConfig['options']>;

/** The arguments of a subcommand: positional ones, and flags by name. */
export interface ParsedArguments {
  readonly positionals: readonly string[];
  readonly values: { readonly [name: string]: string | boolean | readonly string[] | undefined };
}

/** Parses the arguments of a subcommand. Throws ConfigError naming a bad flag. */
export function parseArguments(args: readonly string[], options: Options): ParsedArguments {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    return { positionals, values: values as ParsedArguments['values'] };
  } catch (error) {
    throw argumentError(error as NodeJS.ErrnoException, Object.keys(options));
  }
}

/** An error of `parseArgs` in the words of the flags of `serve`. */
function argumentError({ code, message }: NodeJS.ErrnoException, known: readonly string[]): ConfigError {
  const flag = /'(?:-\w, )?(--?[\w-]+)/.exec(message)?.[1];
  if (flag === undefined) return new ConfigError('arguments', message);
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
    const best = nearest(flag.replace(/^--/, ''), known);
    return new ConfigError(
      flag,
      `unknown flag; ${best ? `did you mean --${best}?` : '--help lists those of the command'}`,
    );
  }
  return new ConfigError(flag, message.includes('does not take an argument') ? 'takes no value' : 'needs a value');
}

/** Throws ConfigError with `fix` for an argument that is not a flag, if a command takes none. */
export function refuseOperands(command: string, { positionals: [operand] }: ParsedArguments, fix = ''): void {
  if (operand !== undefined) throw new ConfigError(`capstan ${command}`, `takes no operand ${operand}${fix}`);
}

/** The value of a required flag. Throws ConfigError if it is missing. */
export function requireValue(parsed: ParsedArguments, name: string, placeholder: string): string {
  const value = parsed.values[name];
  if (typeof value === 'string' && value !== '') return value;
  throw new ConfigError(`--${name}`, `needs a value: --${name}=${placeholder}`);
}

/** Formats a size with an SI unit: `1.5 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const units = ['kB', 'MB', 'GB', 'TB'];
  let value = bytes / 1000;
  while (value >= 1000 && units.length > 1) {
    value /= 1000;
    units.shift();
  }
  return `${value.toFixed(1)} ${units[0]}`;
}
