import { readFileSync } from 'node:fs';
import { ConfigError } from '../../api/point.js';
import type { ParsedArguments } from '../arguments.js';

/** A file with its text. */
export interface SourceFile {
  readonly name: string;
  readonly text: string;
}

/** Reads a file; `-` is standard input. Throws ConfigError that names `flag`. */
export function readSource(name: string, flag: string): SourceFile {
  try {
    return { name: name === '-' ? 'standard input' : name, text: readFileSync(name === '-' ? 0 : name, 'utf8') };
  } catch (error) {
    throw new ConfigError(flag, `cannot read ${name}: ${(error as NodeJS.ErrnoException).code ?? 'unreadable'}`);
  }
}

/** Reads the files of `--filename` and of the operands. Throws ConfigError if there are none. */
export function readSources({ values, positionals }: ParsedArguments): readonly SourceFile[] {
  const names = [...((values['filename'] ?? []) as readonly string[]), ...positionals];
  if (names.length === 0)
    throw new ConfigError('--filename', 'needs a value: --filename=FILE, or - for standard input');
  return names.map(name => readSource(name, '--filename'));
}

/** Reads `--output` of a command with these forms; undefined if it is not given. Throws ConfigError. */
export function formOf<Form extends string>({ values }: ParsedArguments, forms: readonly Form[]): Form | undefined {
  const given = values['output'];
  const form = forms.find(one => one === given);
  if (given !== undefined && form === undefined)
    throw new ConfigError('--output', `must be ${forms.join(' or ')}, not ${JSON.stringify(given)}`);
  return form;
}
