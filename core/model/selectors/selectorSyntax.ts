import { SELECTOR_CHARACTERS, SELECTOR_KEYS, SELECTOR_REQUIREMENTS, SELECTOR_VALUES } from '../../limits.js';
import { labelValue, qualifiedName } from '../names.js';
import { badRequest } from '../refusal.js';
import { parseInt64, type Requirement, type Selector } from './selector.js';

/** A lexical unit of a label selector; `end` has no text. */
interface Token {
  readonly is: 'word' | 'symbol' | 'end';
  readonly text: string;
}

const TOKEN = /\s*(?:(==|!=|[=!(),<>])|([^\s=!(),<>]+))/y;
const END: Token = { is: 'end', text: '' };

const OPERATORS = new Map<string, Requirement['operator']>([
  ['=', '='],
  ['==', '='],
  ['!=', '!='],
  ['in', 'in'],
  ['notin', 'notin'],
  ['>', 'gt'],
  ['<', 'lt'],
]);

const unparsable = (why: string): never => {
  throw badRequest(`unable to parse requirement: ${why}`);
};

/** Collects the requirements of one selector, each of them once. Throws 400 over a bound. */
class Requirements {
  readonly #found = new Map<string, Requirement>();
  readonly #keys = new Set<string>();
  #added = 0;
  #values = 0;

  constructor(
    readonly parameter: 'labelSelector' | 'fieldSelector',
    text: string,
  ) {
    this.#check(text.length, SELECTOR_CHARACTERS, 'characters');
  }

  /** Counts a value before it is parsed. */
  countValue(): void {
    this.#check(++this.#values, SELECTOR_VALUES, 'values');
  }

  add(requirement: Requirement): void {
    this.#check(++this.#added, SELECTOR_REQUIREMENTS, 'requirements');
    const { key, operator, values } = requirement;
    this.#keys.add(key);
    this.#check(this.#keys.size, SELECTOR_KEYS, 'different keys');
    this.#found.set(JSON.stringify([key, operator, ...values]), requirement);
  }

  get all(): Selector {
    return [...this.#found.values()];
  }

  #check(count: number, most: number, what: string): void {
    if (count > most) throw badRequest(`${this.parameter} is too large: it may have at most ${most} ${what}`);
  }
}

/**
 * Recursive descent over the tokens of a label selector; the grammar and its error messages are upstream's. Tokens are
 * read only when needed, so that no work is done beyond a bound.
 */
class LabelParser {
  readonly #text: string;
  readonly #requirements: Requirements;
  #token: Token | undefined;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    this.#requirements = new Requirements('labelSelector', text);
  }

  #peek(): Token {
    this.#token ??= this.#read();
    return this.#token;
  }

  #next(): Token {
    const token = this.#peek();
    this.#token = undefined;
    return token;
  }

  #read(): Token {
    TOKEN.lastIndex = this.#at;
    const match = TOKEN.exec(this.#text);
    if (!match) return END;
    this.#at = TOKEN.lastIndex;
    const [, symbol, word] = match;
    return word === undefined ? { is: 'symbol', text: symbol! } : { is: 'word', text: word };
  }

  #is(text: string): boolean {
    const token = this.#peek();
    return token.is === 'symbol' && token.text === text;
  }

  selector(): Selector {
    if (this.#peek().is === 'end') return [];
    if (!this.#startsRequirement())
      throw badRequest(`found '${this.#peek().text}', expected: !, identifier, or 'end of string'`);
    for (;;) {
      this.#requirements.add(this.#requirement());
      const token = this.#next();
      if (token.is === 'end') return this.#requirements.all;
      if (token.text !== ',' || token.is === 'word')
        throw badRequest(`found '${token.text}', expected: ',' or 'end of string'`);
      if (!this.#startsRequirement()) throw badRequest(`found '${this.#peek().text}', expected: identifier after ','`);
    }
  }

  #startsRequirement(): boolean {
    return this.#peek().is === 'word' || this.#is('!');
  }

  #requirement(): Requirement {
    const negated = this.#is('!');
    if (negated) this.#next();
    const token = this.#next();
    if (token.is !== 'word') return unparsable(`found '${token.text}', expected: identifier`);
    const key = token.text;
    const wrong = qualifiedName(key).join('; ');
    if (wrong) return unparsable(`<nil>: Invalid value: ${JSON.stringify(key)}: ${wrong}`);
    if (negated) return { key, operator: '!', values: [] };
    if (this.#peek().is === 'end' || this.#is(',')) return { key, operator: 'exists', values: [] };
    return this.#comparison(key);
  }

  #comparison(key: string): Requirement {
    const token = this.#next();
    const operator = OPERATORS.get(token.text);
    if (!operator) return unparsable(`found '${token.text}', expected: in, notin, =, ==, !=, gt, lt`);
    const values = operator === 'in' || operator === 'notin' ? this.#set() : [this.#exact()];
    const complaints = values.flatMap((value, at) => {
      const wrong = labelValue(value).join('; ');
      return wrong ? [`values[${at}][${key}]: Invalid value: ${JSON.stringify(value)}: ${wrong}`] : [];
    });
    if ((operator === 'gt' || operator === 'lt') && parseInt64(values[0]!) === undefined)
      complaints.unshift(
        `values[0]: Invalid value: ${JSON.stringify(values[0])}: for 'Gt', 'Lt' operators, the value must be an integer`,
      );
    if (complaints.length > 0) return unparsable(complaints.length > 1 ? `[${complaints.join(', ')}]` : complaints[0]!);
    return { key, operator, values };
  }

  #exact(): string {
    if (this.#peek().is === 'end' || this.#is(',')) return '';
    this.#requirements.countValue();
    const token = this.#next();
    return token.is === 'word' ? token.text : unparsable(`found '${token.text}', expected: identifier`);
  }

  /** Whether a value of a set, possibly the empty one, begins here. */
  #isValue(): boolean {
    return this.#peek().is === 'word' || this.#is(',') || this.#is(')');
  }

  /** `(a,b)`; an empty place between two separators is the empty value. */
  #set(): string[] {
    const open = this.#next();
    if (open.is !== 'symbol' || open.text !== '(') return unparsable(`found '${open.text}' expected: '('`);
    if (!this.#isValue()) return unparsable(`found '${this.#peek().text}', expected: ',', ')' or identifier`);
    const values = new Set<string>();
    for (;;) {
      if (!this.#isValue()) return unparsable(`found '${this.#peek().text}', expected: ',', or identifier`);
      this.#requirements.countValue();
      values.add(this.#peek().is === 'word' ? this.#next().text : '');
      const token = this.#next();
      if (token.is === 'symbol' && token.text === ')') return [...values].sort();
      if (token.is !== 'symbol' || token.text !== ',') return unparsable(`found '${token.text}', expected: ',' or ')'`);
    }
  }
}

/**
 * Parses a label selector (spec, "Query parameters"). Throws a 400 Refusal with upstream's complaint, or over a bound.
 */
export const parseLabelSelector = (text: string): Selector => new LabelParser(text).selector();

/** The terms between commas that no backslash precedes. */
function* termsOf(text: string): Generator<string> {
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === ',') {
      yield text.slice(start, at);
      start = at + 1;
    }
  }
  yield text.slice(start);
}

/** Position and text of the first operator of a term. */
function operatorOf(term: string): { at: number; text: string } | undefined {
  for (let at = 0; at < term.length; at++) {
    if (term[at] === '\\') {
      at++;
      continue;
    }
    const text = ['!=', '==', '='].find(operator => term.startsWith(operator, at));
    if (text) return { at, text };
  }
  return undefined;
}

/** Resolves `\\`, `\,` and `\=`. */
function resolveEscapes(value: string): string {
  let out = '';
  for (let at = 0; at < value.length; at++) {
    const char = value[at]!;
    if (char === '\\') {
      const escaped = value[++at] ?? '';
      if (escaped === '' || !'\\,='.includes(escaped))
        throw badRequest(`invalid field selector: invalid escape sequence: \\${escaped}`);
      out += escaped;
    } else if (char === ',' || char === '=')
      throw badRequest(`invalid field selector: unescaped character in value: ${char.charCodeAt(0)}`);
    else out += char;
  }
  return out;
}

/**
 * Parses a field selector (spec, "Query parameters"); the caller checks which fields exist. Throws a 400 Refusal with
 * upstream's complaint, or over a bound.
 */
export function parseFieldSelector(text: string): Selector {
  const requirements = new Requirements('fieldSelector', text);
  for (const term of termsOf(text)) {
    if (term === '') continue;
    const operator = operatorOf(term);
    if (!operator) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`);
    const key = term.slice(0, operator.at);
    const value = resolveEscapes(term.slice(operator.at + operator.text.length));
    // Upstream ignores a term without key and value.
    if (key === '' && value === '') continue;
    requirements.add({ key, operator: operator.text === '!=' ? '!=' : '=', values: [value] });
  }
  return requirements.all;
}
