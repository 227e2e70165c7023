import { labelValue, qualifiedName } from './names.js';
import { badRequest } from './refusal.js';

/** One requirement of a label or field selector, normalised (`==` is `=`). */
export interface Requirement {
  readonly key: string;
  readonly operator: '=' | '!=' | 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt';
  readonly values: readonly string[];
}

/** A conjunction of requirements; an empty list selects everything. */
export type Selector = readonly Requirement[];

/** A lexical unit of a label selector; `end` has no text. */
interface Token {
  readonly is: 'word' | 'symbol' | 'end';
  readonly text: string;
}

const TOKEN = /\s*(?:(==|!=|[=!(),<>])|([^\s=!(),<>]+))/y;
const END: Token = { is: 'end', text: '' };

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(text); match; match = TOKEN.exec(text))
    tokens.push(match[1] === undefined ? { is: 'word', text: match[2]! } : { is: 'symbol', text: match[1] });
  return tokens;
}

const OPERATORS = new Map<string, Requirement['operator']>([
  ['=', '='],
  ['==', '='],
  ['!=', '!='],
  ['in', 'in'],
  ['notin', 'notin'],
  ['>', 'gt'],
  ['<', 'lt'],
]);
const INTEGER = /^-?\d{1,19}$/;

const unparsable = (why: string): never => {
  throw badRequest(`unable to parse requirement: ${why}`);
};

/** Recursive descent over the tokens; the grammar and its complaints are upstream's (spec, "Label selectors"). */
class LabelParser {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(text: string) {
    this.#tokens = tokensOf(text);
  }

  #peek(): Token {
    return this.#tokens[this.#at] ?? END;
  }

  #next(): Token {
    const token = this.#peek();
    this.#at++;
    return token;
  }

  #is(text: string): boolean {
    const token = this.#peek();
    return token.is === 'symbol' && token.text === text;
  }

  selector(): Requirement[] {
    const found: Requirement[] = [];
    if (this.#peek().is === 'end') return found;
    if (!this.#startsRequirement())
      throw badRequest(`found '${this.#peek().text}', expected: !, identifier, or 'end of string'`);
    for (;;) {
      found.push(this.#requirement());
      const token = this.#next();
      if (token.is === 'end') return found;
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
    if (negated) this.#at++;
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
    if ((operator === 'gt' || operator === 'lt') && !INTEGER.test(values[0]!))
      complaints.unshift(
        `values[0]: Invalid value: ${JSON.stringify(values[0])}: for 'Gt', 'Lt' operators, the value must be an integer`,
      );
    if (complaints.length > 0) return unparsable(complaints.length > 1 ? `[${complaints.join(', ')}]` : complaints[0]!);
    return { key, operator, values };
  }

  #exact(): string {
    if (this.#peek().is === 'end' || this.#is(',')) return '';
    const token = this.#next();
    return token.is === 'word' ? token.text : unparsable(`found '${token.text}', expected: identifier`);
  }

  /** Whether a value of a set begins here, be it the empty one. */
  #isValue(): boolean {
    return this.#peek().is === 'word' || this.#is(',') || this.#is(')');
  }

  /** `(a,b)`; nothing between two separators is the empty value. */
  #set(): string[] {
    const open = this.#next();
    if (open.is !== 'symbol' || open.text !== '(') return unparsable(`found '${open.text}' expected: '('`);
    if (!this.#isValue()) return unparsable(`found '${this.#peek().text}', expected: ',', ')' or identifier`);
    const values = new Set<string>();
    for (;;) {
      if (!this.#isValue()) return unparsable(`found '${this.#peek().text}', expected: ',', or identifier`);
      values.add(this.#peek().is === 'word' ? this.#next().text : '');
      const token = this.#next();
      if (token.is === 'symbol' && token.text === ')') return [...values].sort();
      if (token.is !== 'symbol' || token.text !== ',') return unparsable(`found '${token.text}', expected: ',' or ')'`);
    }
  }
}

/** Parses a label selector (spec, "Label selectors"). Throws a 400 Refusal with upstream's complaint. */
export const parseLabelSelector = (text: string): Selector => new LabelParser(text).selector();

/** Splits at commas that no backslash precedes. */
function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === ',') {
      terms.push(text.slice(start, at));
      start = at + 1;
    }
  }
  terms.push(text.slice(start));
  return terms;
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
function unescaped(value: string): string {
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
 * Parses a field selector (spec, "Field selectors"); which fields exist is for the caller to say. Throws a 400 Refusal.
 */
export function parseFieldSelector(text: string): Selector {
  const found: Requirement[] = [];
  for (const term of splitTerms(text)) {
    if (term === '') continue;
    const operator = operatorOf(term);
    if (!operator) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`);
    const key = term.slice(0, operator.at);
    const value = unescaped(term.slice(operator.at + operator.text.length));
    // Upstream takes a term without key and value as no term at all.
    if (key !== '' || value !== '') found.push({ key, operator: operator.text === '!=' ? '!=' : '=', values: [value] });
  }
  return found;
}

function compares(value: string, operator: 'gt' | 'lt', than: string): boolean {
  if (!INTEGER.test(value)) return false;
  return operator === 'gt' ? BigInt(value) > BigInt(than) : BigInt(value) < BigInt(than);
}

function meets(
  { key, operator, values }: Requirement,
  labels: { readonly [key: string]: string } | undefined,
): boolean {
  const value = labels && Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case 'exists':
      return value !== undefined;
    case '!':
      return value === undefined;
    case '=':
    case 'in':
      return value !== undefined && values.includes(value);
    case '!=':
    case 'notin':
      return value === undefined || !values.includes(value);
    default:
      return value !== undefined && compares(value, operator, values[0]!);
  }
}

/** True if the labels meet every requirement. Absent labels meet `!=`, `notin` and `!`. */
export const matchesLabels = (selector: Selector, labels: { readonly [key: string]: string } | undefined): boolean =>
  selector.every(requirement => meets(requirement, labels));
