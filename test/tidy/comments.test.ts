import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Source, sourcesIn } from './files.js';

/** Each line of the tables is one fact. */
const TABLES = 'core/schema/table/';
const COLUMNS = 120;
const EXPORT = /^export (?:default )?(?:abstract |async )*(?:interface|type|const|class|function\*?|enum) (\w+)/gm;
const COMMENT = /\/\*[\s\S]*?\*\/|(?:^|\s)\/\/.*$/gm;
const CITATION = /\bspec\b(?=[^"\n(]{0,20}[\s*]*"[A-Z])[^")]*(?:"[^"]*"(?: and )?)+|\(spec\b[^)]{0,80}\)/g;
const LITERAL = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`|\/(?:[^/\\\n]|\\.)+\/[a-z]*/g;

/** Whether a doc comment ends right before a position. */
function isDocumented(text: string, at: number): boolean {
  const before = text.slice(0, at).trimEnd();
  return before.endsWith('*/') && before.startsWith('/**', before.lastIndexOf('/*'));
}

/** Sections of the specification: the second column of docs/reference/requirements.tsv. */
const sections = new Set(
  readFileSync('docs/reference/requirements.tsv', 'utf8')
    .split('\n')
    .map(row => row.split('\t')[1]),
);

/** Citations of the specification in comments that name no section of it. */
function wrongCitations({ path, text }: Source): string[] {
  const comments = [...text.matchAll(COMMENT)].map(([comment]) => comment.replace(/\s*\n\s*\*?\s*/g, ' '));
  return comments
    .flatMap(comment => [...comment.matchAll(CITATION)].map(([citation]) => citation))
    .filter(citation => {
      const names = [...citation.matchAll(/"([^"]+)"/g)].map(match => match[1]);
      return !citation.includes('spec, "') || names.some(name => !sections.has(name));
    })
    .map(citation => `${path}: ${citation}`);
}

/**
 * Lines that are too long without their literals, and comments. Literals are not split, so that a search finds them.
 */
function longLines({ path, text }: Source): string[] {
  const lines = text.split('\n').map((line, at) => ({ line, place: `${path}:${at + 1}` }));
  return lines
    .filter(({ line }) => line.length > COLUMNS)
    .filter(({ line }) => /^\s*(\*|\/\*|\/\/)/.test(line) || line.replace(LITERAL, '').length > COLUMNS)
    .map(({ place }) => place);
}

describe('comments', () => {
  it('document everything that a module exports', () => {
    const missing = sourcesIn('core', 'plugins', 'workers').flatMap(({ path, text }) =>
      [...text.matchAll(EXPORT)].filter(match => !isDocumented(text, match.index)).map(match => `${path}: ${match[1]}`),
    );
    expect(missing).toEqual([]);
  });

  it('cite sections of the specification by name', () => {
    const wrong = sourcesIn('core', 'plugins', 'workers', 'test', 'bench', 'examples').flatMap(wrongCitations);
    expect(wrong).toEqual([]);
  });
});

it('lines stay within 120 columns, except for a text or pattern that is longer', () => {
  const long = sourcesIn('core', 'plugins', 'workers', 'test', 'bench', 'examples')
    .filter(({ path }) => !path.startsWith(TABLES))
    .flatMap(longLines);
  expect(long).toEqual([]);
});
