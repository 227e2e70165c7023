/**
 * Recursive descent over the grammar, expanding macros as calls close. Bounds: text length, nesting, number of issues.
 */
import type { Expr, MapEntry } from './ast.js';
import { Cursor, FIRST, Stop, tokenSet } from './cursor.js';
import { tokenize, type Token } from './lexer.js';
import type { MacroContext, Macros } from './macros.js';
import { Issues, type Issue } from './source.js';
import { canonical, Double, INT_MAX } from './values.js';

/** Bounds of a parse; the defaults are upstream's. */
export interface ParseLimits {
  /** Code units of the text. */
  readonly length: number;
  /** Nesting of the tree, chains of operators and selections included. */
  readonly depth: number;
}
export const DEFAULT_LIMITS: ParseLimits = { length: 100_000, depth: 250 };

/** What a parse may use. */
export interface ParseOptions {
  readonly macros: Macros;
  /** `a.?b`, `a[?b]`, optional entries. */
  readonly optionalSyntax: boolean;
  /** Field names in back ticks. */
  readonly quotedFields: boolean;
  readonly limits: ParseLimits;
}

const RESERVED = new Set(
  'as break const continue else for function if import let loop package namespace return var void while'.split(' '),
);
const RELATIONS = new Set(['<', '<=', '>', '>=', '==', '!=', 'in']);
const SUMS = new Set(['+', '-']);
const PRODUCTS = new Set(['*', '/', '%']);

/** Stands for what could not be parsed. */
const BROKEN: Expr = { is: 'ident', at: 0, name: '@broken' };
const LOGIC: ReadonlySet<string> = new Set(['&&', '||']);

/** Parses a text. `expr` is absent when there are issues. */
export function parse(text: string, options: ParseOptions): { expr?: Expr; issues: readonly Issue[] } {
  const issues = new Issues();
  if (text.length > options.limits.length) {
    issues.add(0, `expression code point size exceeds limit: size: ${text.length}, limit ${options.limits.length}`);
    return { issues: issues.list };
  }
  let expr: Expr | undefined;
  try {
    expr = new Parser(text, tokenize(text, issues, options.quotedFields), issues, options).whole();
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
  }
  return issues.list.length ? { issues: issues.list } : { expr, issues: [] };
}

const isDotted = (e: Expr): boolean => e.is === 'ident' || (e.is === 'select' && isDotted(e.operand));

/** Tokens that may stand first in brackets. */
const ARGUMENTS_START = tokenSet(...FIRST, ')');
const INDEX_START = tokenSet(...FIRST, '?');
const MESSAGE_START = tokenSet('}', ',', '?', 'IDENTIFIER', 'ESC_IDENTIFIER');
/** Tokens after a part of an expression, by what encloses it. */
const AFTER_KEY = tokenSet(':');

class Parser extends Cursor implements MacroContext {
  private depth = 0;
  constructor(
    text: string,
    tokens: readonly Token[],
    issues: Issues,
    private readonly options: ParseOptions,
  ) {
    super(text, tokens, issues);
  }

  whole(): Expr {
    const e = this.expr();
    while (this.token.kind !== 'end') {
      this.reportEnd();
      this.resume(LOGIC);
      this.i++;
      this.or();
    }
    return e;
  }

  /** Runs a production; after a syntax error in it, goes on where the operand may end. */
  private recovering(run: () => Expr): Expr {
    const { depth } = this;
    return this.attempt(run, () => {
      this.depth = depth;
      return BROKEN;
    });
  }

  /** Runs a production one level deeper. */
  private deeper<R>(levels: number, run: () => R): R {
    this.depth += levels;
    if (this.depth > this.options.limits.depth) {
      this.stop(this.token.at, `expression recursion limit exceeded: ${this.options.limits.depth}`, true);
    }
    const result = run();
    this.depth -= levels;
    return result;
  }

  private expr(): Expr {
    return this.deeper(1, () => {
      const condition = this.or();
      if (!this.isOp('?')) return condition;
      const at = this.token.at;
      this.i++;
      const yes = this.inside(AFTER_KEY, () => this.or());
      this.colon();
      return { is: 'call', at, fn: '_?_:_', args: [condition, yes, this.expr()] };
    });
  }

  private or(): Expr {
    return this.logic('||', '_||_', () =>
      this.logic('&&', '_&&_', () => this.recovering(() => this.binary(RELATIONS, () => this.sum()))),
    );
  }

  /** Chains of one logical operator are one flat call. */
  private logic(op: string, fn: string, operand: () => Expr): Expr {
    const first = operand();
    if (!this.isOp(op)) return first;
    const at = this.token.at;
    const args = [first];
    while (this.accept(op)) args.push(operand());
    return { is: 'call', at, fn, args };
  }

  private sum(): Expr {
    return this.binary(SUMS, () => this.binary(PRODUCTS, () => this.unary()));
  }

  private binary(ops: ReadonlySet<string>, operand: () => Expr): Expr {
    let left = operand();
    let chain = 0;
    while (this.token.kind === 'op' && ops.has(this.token.text)) {
      const { at, text } = this.token;
      this.i++;
      chain++;
      const right = this.deeper(chain, operand);
      left = { is: 'call', at, fn: text === 'in' ? '@in' : `_${text}_`, args: [left, right] };
    }
    return left;
  }

  private unary(): Expr {
    this.startOf(FIRST);
    const op = this.token;
    if (!this.isOp('!') && !this.isOp('-')) return this.member();
    let count = 0;
    let last = op.at;
    for (; this.isOp(op.text); count++) {
      last = this.token.at;
      this.i++;
    }
    if (op.text === '-') {
      const literal = count === 1 ? this.negativeLiteral(op.at) : undefined;
      if (literal) return this.selectors(literal);
      if (!this.stands(FIRST)) this.noAlternative(last);
    } else if (!this.stands(FIRST)) this.unwanted(FIRST);
    return this.deeper(1, () => {
      const operand = this.isOp('!') || this.isOp('-') ? this.unary() : this.member();
      return count % 2 ? { is: 'call', at: op.at, fn: `${op.text}_`, args: [operand] } : operand;
    });
  }

  /** A minus sign belongs to the number that follows it. */
  private negativeLiteral(at: number): Expr | undefined {
    const t = this.token;
    if (t.kind !== 'const') return undefined;
    if (t.big !== undefined) {
      this.i++;
      return { is: 'const', at, value: canonical(-t.big) };
    }
    if (!(t.value instanceof Double)) return undefined;
    this.i++;
    return { is: 'const', at, value: new Double(-t.value.value) };
  }

  private member(): Expr {
    return this.selectors(this.primary());
  }

  private selectors(start: Expr): Expr {
    let e = start;
    for (let chain = 1; ; chain++) {
      const at = this.token.at;
      if (this.isOp('.')) e = this.deeper(chain, () => this.afterDot(e, at));
      else if (this.isOp('[')) e = this.deeper(chain, () => this.index(e, at));
      else return e;
    }
  }

  private afterDot(operand: Expr, at: number): Expr {
    this.i++;
    if (this.isOp('?')) {
      this.i++;
      const field = this.fieldName(at);
      if (!this.options.optionalSyntax) this.error(at, "unsupported syntax '.?'");
      return {
        is: 'call',
        at,
        fn: '_?._',
        args: [operand, { is: 'const', at: this.tokens[this.i - 1]!.at, value: field }],
      };
    }
    const name = this.token;
    // The reference takes a dotted name for the start of a message literal, and then wants a name where a constant word
    // stands.
    if (isDotted(operand) && name.kind === 'const' && /^(true|false|null)$/.test(name.text)) this.wanted('IDENTIFIER');
    const field = this.fieldName(at);
    if (!this.isOp('(') || name.kind === 'quoted') return { is: 'select', at, operand, field, test: false };
    const open = this.token.at;
    this.i++;
    const args = this.callArguments();
    return this.call(open, field, args, operand);
  }

  /** The name after a dot at `dot`. */
  private fieldName(dot: number): string {
    const t = this.token;
    if (t.kind !== 'ident' && t.kind !== 'quoted') return this.noAlternative(dot);
    this.i++;
    return t.text;
  }

  private index(operand: Expr, at: number): Expr {
    this.i++;
    this.startOf(INDEX_START);
    const mark = this.token.at;
    const optional = this.accept('?');
    if (optional && !this.options.optionalSyntax) this.error(at, "unsupported syntax '[?'");
    const index = this.inside(tokenSet(']'), () => this.expr());
    this.close(']');
    return {
      is: 'call',
      at: optional && !this.options.optionalSyntax ? mark : at,
      fn: optional ? '_[?_]' : '_[_]',
      args: [operand, index],
    };
  }

  private call(at: number, fn: string, args: Expr[], target?: Expr): Expr {
    if (args.includes(BROKEN)) return BROKEN;
    const macro = this.options.macros.find(fn, args.length, target !== undefined);
    const expanded = macro?.(this, at, target, args);
    return expanded ?? { is: 'call', at, fn, target, args };
  }

  private primary(): Expr {
    const t = this.token;
    if (t.kind === 'const') {
      this.i++;
      if (t.big !== undefined && t.big > INT_MAX) this.error(t.at, 'invalid int literal');
      return { is: 'const', at: t.at, value: t.value! };
    }
    if (t.kind === 'ident') return this.named('', t.at);
    if (this.accept('(')) {
      const e = this.inside(tokenSet(')'), () => this.expr());
      this.close(')');
      return e;
    }
    if (this.accept('[')) return this.listLiteral(t.at);
    if (this.accept('{')) return this.mapLiteral(t.at);
    if (this.accept('.')) return this.named('.', t.at);
    return this.unwanted(FIRST);
  }

  /** An identifier, a call, or a message literal `a.b.C{…}`. */
  private named(dot: string, start: number): Expr {
    const t = this.token;
    if (t.kind !== 'ident') return this.noAlternative(start);
    this.i++;
    const name = dot + t.text;
    if (this.isOp('(')) {
      const open = this.token.at;
      this.i++;
      return this.call(open, name, this.callArguments());
    }
    const message = this.messageName(name);
    if (message !== undefined) return this.structLiteral(message);
    if (RESERVED.has(t.text)) this.error(t.at, `reserved identifier: ${t.text}`);
    return { is: 'ident', at: t.at, name };
  }

  /** Looks ahead for `.b.C{`. */
  private messageName(first: string): string | undefined {
    let name = first;
    let k = this.i;
    while (this.tokens[k]?.kind === 'op' && this.tokens[k]!.text === '.' && this.tokens[k + 1]?.kind === 'ident') {
      name += `.${this.tokens[k + 1]!.text}`;
      k += 2;
    }
    if (!(this.tokens[k]?.kind === 'op' && this.tokens[k]!.text === '{')) return undefined;
    this.i = k;
    return name;
  }

  private structLiteral(name: string): Expr {
    const at = this.token.at;
    this.i++;
    const fields: { at: number; name: string; value: Expr; optional: boolean }[] = [];
    this.startOf(MESSAGE_START);
    this.items('}', () => {
      const optional = this.optionalMark();
      const field = this.fieldName(this.token.at);
      const colon = this.token.at;
      this.colon();
      fields.push({ at: colon, name: field, value: this.expr(), optional });
    });
    return { is: 'struct', at, name, fields };
  }

  private optionalMark(): boolean {
    const at = this.token.at;
    const optional = this.accept('?');
    if (optional && !this.options.optionalSyntax) this.error(at, "unsupported syntax '?'");
    return optional;
  }

  private callArguments(): Expr[] {
    const out: Expr[] = [];
    this.startOf(ARGUMENTS_START);
    if (this.accept(')')) return out;
    this.inside(tokenSet(',', ')'), () => {
      do out.push(this.expr());
      while (this.accept(','));
    });
    this.close(')');
    return out;
  }

  private listLiteral(at: number): Expr {
    const items: Expr[] = [];
    const optional = new Set<number>();
    this.items(']', () => {
      if (this.optionalMark()) optional.add(items.length);
      items.push(this.expr());
    });
    return { is: 'list', at, items, optional };
  }

  private mapLiteral(at: number): Expr {
    const entries: MapEntry[] = [];
    this.items('}', () => {
      const optional = this.optionalMark();
      const key = this.inside(AFTER_KEY, () => this.expr());
      const colon = this.token.at;
      this.colon();
      entries.push({ at: colon, key, value: this.expr(), optional });
    });
    return { is: 'map', at, entries };
  }
}
