import { readFileSync } from 'node:fs';
import { ConfigError } from '../../api/point.js';
import { unreadableError } from '../../files/unreadable.js';
import { MANIFEST_BYTES } from '../../limits.js';
import { stringAt, type UnknownRecord } from '../../model/record.js';
import { formatBytes, type ParsedArguments } from '../arguments.js';

/** A file with its text. */
export interface SourceFile {
  /** The flag that names it, for errors. */
  readonly flag: string;
  readonly name: string;
  readonly text: string;
}

/** Reads a file with manifests; `-` is standard input. Throws ConfigError that names `flag`. */
export function readSource(file: string, flag: string): SourceFile {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file === '-' ? 0 : file);
  } catch (error) {
    throw unreadableError(flag, file, error);
  }
  const name = file === '-' ? 'standard input' : file;
  if (bytes.length > MANIFEST_BYTES)
    throw new ConfigError(flag, `${name} has more than ${formatBytes(MANIFEST_BYTES)}: split it into several files`);
  return { flag, name, text: bytes.toString('utf8') };
}

/** Reads the files of `--filename` and of the operands. Throws ConfigError if there are none. */
export function readSources({ values, positionals }: ParsedArguments): readonly SourceFile[] {
  const names = [...((values['filename'] ?? []) as readonly string[]), ...positionals];
  if (names.length === 0)
    throw new ConfigError('--filename', 'needs a value: --filename=FILE, or - for standard input');
  return names.map(name => readSource(name, '--filename'));
}

/** Whether an object is a list of objects of any kind. */
export const isList = (object: UnknownRecord): boolean =>
  stringAt(object, 'kind') === 'List' && Array.isArray(object['items']);

/** Reads `--output` of a command with these forms; undefined if it is not given. Throws ConfigError. */
export function formOf<Form extends string>({ values }: ParsedArguments, forms: readonly Form[]): Form | undefined {
  const given = values['output'];
  const form = forms.find(one => one === given);
  if (given !== undefined && form === undefined)
    throw new ConfigError('--output', `must be ${forms.join(' or ')}, not ${JSON.stringify(given)}`);
  return form;
}
