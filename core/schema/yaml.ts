import { createRequire } from 'node:module';
import type { Document, LineCounter, Pair, Scalar, Tags } from 'yaml';
import { BODY_BYTES, STRICT_ERRORS, DEPTH, YAML_ALIASES } from '../limits.js';
import type { Json } from '../model/object.js';
import { Refusal } from '../model/refusal.js';
import type { StrictJson } from './json.js';
import { UnreadableBody } from './unreadable.js';

type Yaml = typeof import('yaml');

let library: Yaml | undefined;

/** The library, loaded on first use: loading takes 40 ms, and most servers never need it. */
const yaml = (): Yaml => (library ??= createRequire(import.meta.url)('yaml') as Yaml);

const yamlError = (why: string): Refusal => new UnreadableBody(`error converting YAML to JSON: yaml: ${why}`);

/** Types of YAML 1.1 without a JSON form. Their values stay strings, as upstream. */
const NOT_JSON = /:(timestamp|binary|omap|pairs|set)$/;

/** The library's float begins at a lone point, which is a string. */
const withDigits = (tags: Tags): Tags =>
  tags.map(tag =>
    typeof tag !== 'string' && 'test' in tag && tag.test?.test('.')
      ? { ...tag, test: /^[-+]?(?=[^.]|\..)[\d_]*\.[\d_]*$/ }
      : tag,
  );

const jsonTags = (tags: Tags): Tags =>
  withDigits(tags).filter(tag => typeof tag === 'string' || (!NOT_JSON.test(tag.tag) && tag.format !== 'TIME'));

/** Without the merge tag, so that a key `<<` is an ordinary key, which is quoted. */
const withoutMerge = (tags: Tags): Tags =>
  withDigits(tags).filter(tag => typeof tag === 'string' || !tag.tag.endsWith(':merge'));

interface Parsed {
  readonly document: Document.Parsed | undefined;
  readonly lines: LineCounter;
}

/** Parses the first document of a stream. The depth is checked during parsing, before anything recurses. */
function firstDocument(text: string): Parsed {
  const { Composer, Lexer, LineCounter, Parser } = yaml();
  const lines = new LineCounter();
  lines.addNewLine(0);
  const parser = new Parser(lines.addNewLine);
  const composer = new Composer({
    version: '1.1',
    customTags: jsonTags,
    uniqueKeys: false,
    prettyErrors: false,
    // Warnings would be caused by clients and could fill the log.
    logLevel: 'error',
  });
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) for (const document of composer.next(token)) return { document, lines };
    // The stack contains the document and the current value in addition to the containers.
    if (parser.stack.length > DEPTH + 2) throw yamlError(`exceeded max depth of ${DEPTH}`);
  }
  for (const token of parser.end()) for (const document of composer.next(token)) return { document, lines };
  for (const document of composer.end()) return { document, lines };
  return { document: undefined, lines };
}

/**
 * Copies a value with all aliases expanded, within a budget; a cycle exceeds the depth limit. Members are sorted by
 * name, as upstream does: unknown fields are reported in this order.
 */
function expandAliases(value: unknown, depth: number, budget: { remaining: number }): Json {
  budget.remaining -= typeof value === 'string' ? value.length + 1 : 1;
  if (budget.remaining < 0) throw yamlError('document contains excessive aliasing');
  if (depth > DEPTH) throw yamlError(`exceeded max depth of ${DEPTH}`);
  if (Array.isArray(value)) return value.map(item => expandAliases(item, depth + 1, budget));
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([key, member]): [string, Json] => {
      budget.remaining -= key.length;
      return [key, expandAliases(member, depth + 1, budget)];
    });
    members.sort(([a], [b]) => (a < b ? -1 : 1));
    // `fromEntries` defines `__proto__` as an own member.
    return Object.fromEntries(members);
  }
  if (typeof value === 'number' && !Number.isFinite(value)) throw yamlError(`unsupported value: ${value}`);
  return (value ?? null) as Json;
}

function parseFirst(bytes: Uint8Array): Parsed & { readonly value: Json } {
  try {
    const { document, lines } = firstDocument(
      Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'),
    );
    const error = document?.errors[0];
    if (error) throw yamlError(`line ${lines.linePos(error.pos[0]).line}: ${error.message}`);
    const value = expandAliases(document?.toJS({ maxAliasCount: YAML_ALIASES }), 0, { remaining: 2 * BODY_BYTES });
    return { document, lines, value };
  } catch (cause) {
    throw cause instanceof Refusal ? cause : yamlError((cause as Error).message);
  }
}

/**
 * Decodes the first document of a YAML 1.1 stream to JSON. Timestamps and binaries stay strings, keys become strings,
 * the last of duplicate keys wins, an empty stream is null. `__proto__` is an ordinary key. Throws a Refusal (400).
 */
export const decodeYaml = (bytes: Uint8Array): Json => parseFirst(bytes).value;

/** Like `decodeYaml`, with the duplicate keys in document order (`line 7: key "k" already set in map`). */
export function decodeYamlStrict(bytes: Uint8Array): StrictJson {
  const { document, lines, value } = parseFirst(bytes);
  return { value, duplicates: document ? duplicateKeys(document, lines) : [] };
}

function lineOf(pair: Pair, lines: LineCounter): number {
  const { isAlias, isMap, isScalar } = yaml();
  const node = isScalar(pair.value) || isAlias(pair.value) || isMap(pair.value) ? pair.value : pair.key;
  return lines.linePos((node as { range?: readonly number[] | null }).range?.[0] ?? 0).line;
}

function duplicateKeys(document: Document.Parsed, lines: LineCounter): string[] {
  const { isPair, isScalar, visit } = yaml();
  const found: string[] = [];
  visit(document, {
    Map(_key, map) {
      const seen = new Set<string>();
      for (const pair of map.items) {
        if (!isPair(pair) || !isScalar(pair.key)) continue;
        const key = String(pair.key.value);
        if (seen.has(key) && key !== '<<' && found.length < STRICT_ERRORS)
          found.push(`line ${lineOf(pair, lines)}: key ${JSON.stringify(key)} already set in map`);
        seen.add(key);
      }
    },
  });
  return found;
}

const DIGITS = /^\d+/;
const LETTER = /^\p{L}/u;

/** Compares keys as Go's YAML encoder: letters after other characters, sequences of digits by value. */
function compareKeys(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  const [remaining, right] = [a.slice(at), b.slice(at)];
  if (!remaining || !right) return a.length - b.length;
  const letters = Number(LETTER.test(remaining)) - Number(LETTER.test(right));
  if (letters !== 0) return letters;
  const [leftDigits, rightDigits] = [DIGITS.exec(remaining)?.[0], DIGITS.exec(right)?.[0]];
  if (leftDigits && rightDigits && leftDigits !== rightDigits) {
    const value = Number(leftDigits) - Number(rightDigits) || leftDigits.length - rightDigits.length;
    if (value !== 0) return value;
  }
  return remaining < right ? -1 : 1;
}

/** Plain texts that YAML 1.1 parses as another type than string (yaml.org/type: null, bool, int, float, timestamp). */
const AMBIGUOUS_FORMS = [
  /~|null|y|yes|n|no|true|false|on|off|<<|=/,
  /[-+]?\.(?:inf|nan)|[-+]?0b[01_]+|[-+]?0o?[0-7_]+|[-+]?0x[\da-f_]+/,
  /[-+]?(?:\.\d+|\d[\d_]*(?:\.\d*)?)(?:e[-+]?\d+)?|[-+]?\d[\d_]*(?::[0-5]?\d)+(?:\.\d*)?/,
  /\d{4}-\d\d?-\d\d?(?:[t\s].*)?/,
];
const AMBIGUOUS = new RegExp(`^(?:${AMBIGUOUS_FORMS.map(form => form.source).join('|')})?$`, 'i');
/** Characters that are only possible in a double-quoted text. */
const NEEDS_ESCAPES = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/;

function setStyle(scalar: Scalar): void {
  const { Scalar } = yaml();
  const text = scalar.value;
  if (typeof text !== 'string') return;
  if (AMBIGUOUS.test(text) || NEEDS_ESCAPES.test(text)) scalar.type = Scalar.QUOTE_DOUBLE;
  else if (text.includes('\n')) scalar.type = /^\s|[ ]\n/.test(text) ? Scalar.QUOTE_DOUBLE : Scalar.BLOCK_LITERAL;
  else scalar.type = Scalar.PLAIN;
}

/**
 * Encodes a JSON value as YAML in the style of sigs.k8s.io/yaml: sorted keys, block style, strings quoted if YAML 1.1
 * would parse them as another type, no folded lines.
 */
export function encodeYaml(value: object): string {
  const { Document, visit } = yaml();
  // The detour through JSON removes undefined members and shared values, which would become aliases.
  const document = new Document(JSON.parse(JSON.stringify(value)), {
    version: '1.1',
    merge: false,
    customTags: withoutMerge,
    aliasDuplicateObjects: false,
    sortMapEntries: (a, b) => compareKeys(String(keyText(a)), String(keyText(b))),
  });
  visit(document, { Scalar: (_key, scalar) => setStyle(scalar) });
  return document.toString({ lineWidth: 0, indentSeq: false, singleQuote: true, directives: false });
}

const keyText = ({ key }: Pair): unknown => (yaml().isScalar(key) ? key.value : key);
