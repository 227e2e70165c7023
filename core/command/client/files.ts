import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import { ConfigError } from '../../api/point.js';
import { YAML_ALIASES } from '../../limits.js';
import { isRecord, recordsAt, stringAt, type UnknownRecord } from '../../model/record.js';

/**
 * The objects of a file with YAML or JSON documents, and those of the lists among them; `-` is standard input. Throws
 * ConfigError that names `--filename`.
 */
export function objectsOfFile(file: string): readonly UnknownRecord[] {
  let text: string;
  try {
    text = readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    throw new ConfigError('--filename', `cannot read ${file}: ${(error as NodeJS.ErrnoException).code}`);
  }
  return parseAllDocuments(text).flatMap(document => {
    const [error] = document.errors;
    if (error) throw new ConfigError('--filename', `${file}: ${error.message.split('\n')[0]}`);
    const content: unknown = document.toJS({ maxAliasCount: YAML_ALIASES });
    if (!isRecord(content)) return [];
    return stringAt(content, 'kind').endsWith('List') ? recordsAt(content, 'items') : [content];
  });
}
