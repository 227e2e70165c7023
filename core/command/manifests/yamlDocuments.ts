import { Composer, type Document, isScalar, Lexer, LineCounter, type Node, Parser, visit } from 'yaml';
import { ConfigError } from '../../api/point.js';
import { DEPTH, YAML_ALIASES } from '../../limits.js';
import type { SourceFile } from './files.js';

/** A document of a file in YAML or JSON. */
export interface YamlDocument {
  /** Its place in the file, from 1. */
  readonly number: number;
  /** Its file and number, for errors: `shop.yaml: document 2`. */
  readonly place: string;
  readonly document: Document.Parsed;
  /** Its content when it was read; undefined for an empty document. */
  readonly content: unknown;
}

/** The plain value of a node with its aliases; undefined if there is none. Throws Error for aliases without a value. */
export const plainOf = (document: Document, node: unknown): unknown =>
  node === null || node === undefined ? undefined : (node as Node).toJS(document, { maxAliasCount: YAML_ALIASES });

/** The parts of a text, whose nesting is limited: composing documents of them is recursive. */
function* tokensOf(text: string, lines: LineCounter, tooDeep: () => Error) {
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  for (const lexeme of new Lexer().lex(text)) {
    yield* parser.next(lexeme);
    if (parser.stack.length > DEPTH) throw tooDeep();
  }
  yield* parser.end();
}

/**
 * The offset in the file of a repeated key; undefined if there is none. The library's own check takes quadratic time.
 */
function repeatedKeyIn(document: Document): number | undefined {
  let found: number | undefined;
  visit(document, {
    Map(_key, { items }) {
      const names = new Set<unknown>();
      for (const { key } of items) {
        const name = isScalar(key) ? key.value : key;
        if (names.has(name)) {
          found = (key as Node).range?.[0] ?? 0;
          return visit.BREAK;
        }
        names.add(name);
      }
      return undefined;
    },
  });
  return found;
}

/**
 * The documents of a file, where `<<` merges maps, as in YAML 1.1. Takes time in proportion to the size of the file,
 * whatever its content. Throws ConfigError that names flag, file and document.
 */
export function yamlDocumentsOf({ flag, name, text }: SourceFile): readonly YamlDocument[] {
  const lines = new LineCounter();
  const found: YamlDocument[] = [];
  const placeOf = (number: number): string => `${name}: document ${number}`;
  const errorOf = (message: string): ConfigError => new ConfigError(flag, `${placeOf(found.length + 1)}: ${message}`);
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `at line ${line}, column ${col}`;
  };
  const tokens = tokensOf(text, lines, () => errorOf(`is nested more than ${DEPTH} levels deep: flatten it`));
  // With pretty errors, the library adds the text of the line to each error: a line with many errors takes quadratic
  // time.
  const composer = new Composer({ merge: true, prettyErrors: false, uniqueKeys: false, logLevel: 'silent' });
  for (const document of composer.compose(tokens)) {
    const [error] = document.errors;
    if (error) throw errorOf(`${error.message} ${at(error.pos[0])}`);
    const repeated = repeatedKeyIn(document);
    if (repeated !== undefined) throw errorOf(`Map keys must be unique ${at(repeated)}`);
    const number = found.length + 1;
    try {
      const content = plainOf(document, document.contents);
      found.push({ number, place: placeOf(number), document, content });
    } catch (thrown) {
      throw errorOf(`cannot be read: ${(thrown as Error).message}`);
    }
  }
  return found;
}
