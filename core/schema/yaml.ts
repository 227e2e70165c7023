import { createRequire } from 'node:module';
import type { Document, LineCounter, Pair, Scalar, Tags } from 'yaml';
import { BODY_BYTES, COMPLAINTS, DEPTH, YAML_ALIASES } from '../limits.js';
import type { Json } from '../model/object.js';
import { Refusal } from '../model/refusal.js';
import type { StrictJson } from './json.js';
import { Unreadable } from './unreadable.js';

type Yaml = typeof import('yaml');

let library: Yaml | undefined;

/** The library, loaded with the first document: loading it takes 40 ms, and most servers never see YAML. */
const yaml = (): Yaml => (library ??= createRequire(import.meta.url)('yaml') as Yaml);

const broken = (why: string): Refusal => new Unreadable(`error converting YAML to JSON: yaml: ${why}`);

/** Types of YAML 1.1 that have no JSON form: their texts stay strings, as upstream reads them. */
const NOT_JSON = /:(timestamp|binary|omap|pairs|set)$/;

const jsonTags = (tags: Tags): Tags =>
  tags.filter(tag => typeof tag === 'string' || (!NOT_JSON.test(tag.tag) && tag.format !== 'TIME'));

/** A member called `<<` is a member, quoted as any other text that YAML 1.1 takes for something else. */
const withoutMerge = (tags: Tags): Tags => tags.filter(tag => typeof tag === 'string' || !tag.tag.endsWith(':merge'));

interface Parsed {
  readonly document: Document.Parsed | undefined;
  readonly lines: LineCounter;
}

/**
 * The first document of a stream; what follows it is not read. Depth is checked while parsing, before anything
 * recurses.
 */
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
    // What it would warn of comes from clients and would fill the log of the process.
    logLevel: 'error',
  });
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) for (const document of composer.next(token)) return { document, lines };
    // The document itself is one more entry of the stack, the value that is being read another.
    if (parser.stack.length > DEPTH + 2) throw broken(`exceeded max depth of ${DEPTH}`);
  }
  for (const token of parser.end()) for (const document of composer.next(token)) return { document, lines };
  for (const document of composer.end()) return { document, lines };
  return { document: undefined, lines };
}

/** A copy that shares nothing, so that aliases cost what they expand to. A cycle ends at the bound of depth. */
function expanded(value: unknown, depth: number, budget: { left: number }): Json {
  budget.left -= typeof value === 'string' ? value.length + 1 : 1;
  if (budget.left < 0) throw broken('document contains excessive aliasing');
  if (depth > DEPTH) throw broken(`exceeded max depth of ${DEPTH}`);
  if (Array.isArray(value)) return value.map(item => expanded(item, depth + 1, budget));
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([key, member]): [string, Json] => {
      budget.left -= key.length;
      return [key, expanded(member, depth + 1, budget)];
    });
    // fromEntries defines own members, `__proto__` too.
    return Object.fromEntries(members);
  }
  if (typeof value === 'number' && !Number.isFinite(value)) throw broken(`unsupported value: ${value}`);
  return (value ?? null) as Json;
}

function parsed(bytes: Uint8Array): Parsed & { readonly value: Json } {
  try {
    const { document, lines } = firstDocument(
      Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'),
    );
    const error = document?.errors[0];
    if (error) throw broken(`line ${lines.linePos(error.pos[0]).line}: ${error.message}`);
    const value = expanded(document?.toJS({ maxAliasCount: YAML_ALIASES }), 0, { left: 2 * BODY_BYTES });
    return { document, lines, value };
  } catch (cause) {
    throw cause instanceof Refusal ? cause : broken((cause as Error).message);
  }
}

/**
 * The first document of a YAML 1.1 stream as JSON: timestamps and binary stay strings, keys become strings, of
 * duplicate keys the last counts, an empty stream is null. A member `__proto__` is an ordinary own member. Throws a 400
 * Refusal.
 */
export const decodeYaml = (bytes: Uint8Array): Json => parsed(bytes).value;

/**
 * As `decodeYaml`, and finds keys given more than once in one mapping (`line 7: key "k" already set in map`, in
 * document order).
 */
export function decodeYamlStrict(bytes: Uint8Array): StrictJson {
  const { document, lines, value } = parsed(bytes);
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
        if (seen.has(key) && key !== '<<' && found.length < COMPLAINTS)
          found.push(`line ${lineOf(pair, lines)}: key ${JSON.stringify(key)} already set in map`);
        seen.add(key);
      }
    },
  });
  return found;
}

const DIGITS = /^\d+/;
const LETTER = /^\p{L}/u;

/** The order of keys in YAML of Go clients: letters after other characters, runs of digits by value. */
function keyOrder(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  const [left, right] = [a.slice(at), b.slice(at)];
  if (!left || !right) return a.length - b.length;
  const letters = Number(LETTER.test(left)) - Number(LETTER.test(right));
  if (letters !== 0) return letters;
  const [leftDigits, rightDigits] = [DIGITS.exec(left)?.[0], DIGITS.exec(right)?.[0]];
  if (leftDigits && rightDigits && leftDigits !== rightDigits) {
    const value = Number(leftDigits) - Number(rightDigits) || leftDigits.length - rightDigits.length;
    if (value !== 0) return value;
  }
  return left < right ? -1 : 1;
}

/**
 * Texts that a reader of YAML 1.1 takes for something else than a string (yaml.org/type: null, bool, int, float,
 * timestamp).
 */
const TAKEN =
  /^(?:~|null|y|yes|n|no|true|false|on|off|<<|=|[-+]?\.(?:inf|nan)|[-+]?0b[01_]+|[-+]?0o?[0-7_]+|[-+]?0x[\da-f_]+|[-+]?(?:\.\d+|\d[\d_]*(?:\.\d*)?)(?:e[-+]?\d+)?|[-+]?\d[\d_]*(?::[0-5]?\d)+(?:\.\d*)?|\d{4}-\d\d?-\d\d?(?:[t\s].*)?)?$/i;
/** Characters that only a double-quoted text can hold. */
const SPECIAL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/;

function styled(scalar: Scalar): void {
  const { Scalar } = yaml();
  const text = scalar.value;
  if (typeof text !== 'string') return;
  if (TAKEN.test(text) || SPECIAL.test(text)) scalar.type = Scalar.QUOTE_DOUBLE;
  else if (text.includes('\n')) scalar.type = /^\s|[ ]\n/.test(text) ? Scalar.QUOTE_DOUBLE : Scalar.BLOCK_LITERAL;
  else scalar.type = Scalar.PLAIN;
}

/**
 * One YAML document of a JSON value in the form of sigs.k8s.io/yaml: keys sorted, block style, strings that YAML 1.1
 * would read as another type in double quotes, lines never folded.
 */
export function encodeYaml(value: object): string {
  const { Document, visit } = yaml();
  // Through JSON: members that are undefined go, what is shared is written twice instead of as an alias.
  const document = new Document(JSON.parse(JSON.stringify(value)), {
    version: '1.1',
    merge: false,
    customTags: withoutMerge,
    aliasDuplicateObjects: false,
    sortMapEntries: (a, b) => keyOrder(String(keyText(a)), String(keyText(b))),
  });
  visit(document, { Scalar: (_key, scalar) => styled(scalar) });
  return document.toString({ lineWidth: 0, indentSeq: false, singleQuote: true, directives: false });
}

const keyText = ({ key }: Pair): unknown => (yaml().isScalar(key) ? key.value : key);
