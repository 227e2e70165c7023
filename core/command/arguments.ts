import { parseArgs, type ParseArgsConfig } from 'node:util';
import { ConfigError } from '../api/point.js';

type Options = NonNullable<ParseArgsConfig['options']>;

/** What a subcommand was given. */
export interface Given {
  readonly words: readonly string[];
  readonly values: { readonly [name: string]: string | boolean | undefined };
}

/** Reads the words and flags of a subcommand; throws ConfigError that names the flag. */
export function givenTo(args: readonly string[], options: Options): Given {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    return { words: positionals, values: values as Given['values'] };
  } catch (error) {
    const [first = ''] = (error as Error).message.split('. ');
    throw new ConfigError(/'(-[^' =]*)/.exec(first)?.[1] ?? 'arguments', first);
  }
}

/** A flag that must be there. */
export function needed(given: Given, name: string, placeholder: string): string {
  const value = given.values[name];
  if (typeof value === 'string' && value !== '') return value;
  throw new ConfigError(`--${name}`, `needs a value: --${name}=${placeholder}`);
}

/** Bytes as people read them. */
export function shownBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const units = ['kB', 'MB', 'GB', 'TB'];
  let value = bytes / 1000;
  while (value >= 1000 && units.length > 1) {
    value /= 1000;
    units.shift();
  }
  return `${value.toFixed(1)} ${units[0]}`;
}
