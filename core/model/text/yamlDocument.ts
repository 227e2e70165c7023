import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/**
 * Parses a YAML file of settings. The library is loaded when the first one is read: it takes as long to load as a
 * hundred modules of this program, and most servers read no such file.
 */
export function parseYamlDocument(text: string): import('yaml').Document.Parsed {
  const { parseDocument } = require('yaml') as typeof import('yaml');
  return parseDocument(text, { uniqueKeys: true });
}
