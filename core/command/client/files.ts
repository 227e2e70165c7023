import { isRecord, recordsAt, stringAt, type UnknownRecord } from '../../model/record.js';
import { readSource } from '../manifests/files.js';
import { yamlDocumentsOf } from '../manifests/yamlDocuments.js';

/**
 * The objects of a file with YAML or JSON documents, and those of the lists among them; `-` is standard input. Throws
 * ConfigError that names `--filename`, and the document.
 */
export const objectsOfFile = (file: string): readonly UnknownRecord[] =>
  yamlDocumentsOf(readSource(file, '--filename')).flatMap(({ content }) => {
    if (!isRecord(content)) return [];
    return stringAt(content, 'kind').endsWith('List') ? recordsAt(content, 'items') : [content];
  });
