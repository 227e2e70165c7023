/** The parser: recursive descent, with macros expanded when a call is complete. */
import type { Expr, MapEntry } from './ast.js';
import { Cursor, FIRST, ParseAbort, tokenSet } from './cursor.js';
import { tokenize, type Token } from './lexer.js';
import type { MacroContext, Macros } from './macros.js';
import { Issues, type Issue } from './source.js';
import { canonical, Double, INT_MAX } from '../evaluate/values.js';

/** Bounds of a parse; the defaults are upstream's. */
export interface ParseLimits {
  /** Code units of the text. */
  readonly length: number;
  /** Nesting of the tree, chains of operators and selections included. */
  readonly depth: number;
}
/** Upstream's bounds. */
export const DEFAULT_LIMITS: ParseLimits = { length: 100_000, depth: 250 };

/** Syntax that a parse accepts. */
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

/** A placeholder for an operand with a syntax error: parsing continues, so that one attempt reports several errors. */
const ERROR_EXPR: Expr = { is: 'ident', at: 0, name: '@broken' };
const LOGIC: ReadonlySet<string> = new Set(['&&', '||']);

/** Parses a text. `expr` is set exactly if there are no issues. */
export function parse(text: string, options: ParseOptions): { expr?: Expr; issues: readonly Issue[] } {
  const issues = new Issues();
  if (text.length > options.limits.length) {
    issues.add(0, `expression code point size exceeds limit: size: ${text.length}, limit ${options.limits.length}`);
    return { issues: issues.list };
  }
  let expr: Expr | undefined;
  try {
    expr = new Parser(text, tokenize(text, issues, options.quotedFields), issues, options).parseAll();
  } catch (error) {
    if (!(error instanceof ParseAbort)) throw error;
  }
  return issues.list.length ? { issues: issues.list } : { expr, issues: [] };
}

const isDotted = (e: Expr): boolean => e.is === 'ident' || (e.is === 'select' && isDotted(e.operand));

/** Tokens that may follow an opening bracket. */
const ARGUMENTS_START = tokenSet(...FIRST, ')');
const INDEX_START = tokenSet(...FIRST, '?');
const MESSAGE_START = tokenSet('}', ',', '?', 'IDENTIFIER', 'ESC_IDENTIFIER');
/** The token after the key of a map entry and the middle operand of a conditional. */
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

  parseAll(): Expr {
    const e = this.expr();
    while (this.token.kind !== 'end') {
      this.reportEnd();
      this.skipTo(LOGIC);
      this.i++;
      this.or();
    }
    return e;
  }

  /** Parses an operand; a syntax error in it gives `ERROR_EXPR`, and parsing resumes after the operand. */
  private withRecovery(run: () => Expr): Expr {
    const { depth } = this;
    return this.tryProduction(run, () => {
      this.depth = depth;
      return ERROR_EXPR;
    });
  }

  /** Runs a production `levels` deeper. Ends the parse beyond the nesting limit. */
  private nested<R>(levels: number, run: () => R): R {
    this.depth += levels;
    if (this.depth > this.options.limits.depth) {
      this.abort(this.token.at, `expression recursion limit exceeded: ${this.options.limits.depth}`, true);
    }
    const result = run();
    this.depth -= levels;
    return result;
  }

  private expr(): Expr {
    return this.nested(1, () => {
      const condition = this.or();
      if (!this.isOp('?')) return condition;
      const at = this.token.at;
      this.i++;
      const yes = this.withFollow(AFTER_KEY, () => this.or());
      this.expectColon();
      return { is: 'call', at, fn: '_?_:_', args: [condition, yes, this.expr()] };
    });
  }

  private or(): Expr {
    return this.logic('||', '_||_', () =>
      this.logic('&&', '_&&_', () => this.withRecovery(() => this.binary(RELATIONS, () => this.sum()))),
    );
  }

  /** A chain of one logical operator becomes one call with all operands. */
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
      // Operators are left-associative: each one more puts the operands before it one level deeper.
      const right = this.nested(chain, operand);
      left = { is: 'call', at, fn: text === 'in' ? '@in' : `_${text}_`, args: [left, right] };
    }
    return left;
  }

  private unary(): Expr {
    this.expectStart(FIRST);
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
      if (!this.isAt(FIRST)) this.noAlternative(last);
    } else if (!this.isAt(FIRST)) this.rejectToken(FIRST);
    return this.nested(1, () => {
      const operand = this.isOp('!') || this.isOp('-') ? this.unary() : this.member();
      return count % 2 ? { is: 'call', at: op.at, fn: `${op.text}_`, args: [operand] } : operand;
    });
  }

  /** A number literal after a minus sign is one negative literal. */
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
      if (this.isOp('.')) e = this.nested(chain, () => this.selection(e, at));
      else if (this.isOp('[')) e = this.nested(chain, () => this.index(e, at));
      else return e;
    }
  }

  private selection(operand: Expr, at: number): Expr {
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
    // The reference parses a dotted name as the start of a message literal and then expects an identifier.
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
    this.expectStart(INDEX_START);
    const mark = this.token.at;
    const optional = this.accept('?');
    if (optional && !this.options.optionalSyntax) this.error(at, "unsupported syntax '[?'");
    const index = this.withFollow(tokenSet(']'), () => this.expr());
    this.expectClose(']');
    return {
      is: 'call',
      at: optional && !this.options.optionalSyntax ? mark : at,
      fn: optional ? '_[?_]' : '_[_]',
      args: [operand, index],
    };
  }

  private call(at: number, fn: string, args: Expr[], target?: Expr): Expr {
    if (args.includes(ERROR_EXPR)) return ERROR_EXPR;
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
    if (t.kind === 'ident') return this.identifierOrCall('', t.at);
    if (this.accept('(')) {
      const e = this.withFollow(tokenSet(')'), () => this.expr());
      this.expectClose(')');
      return e;
    }
    if (this.accept('[')) return this.listLiteral(t.at);
    if (this.accept('{')) return this.mapLiteral(t.at);
    if (this.accept('.')) return this.identifierOrCall('.', t.at);
    return this.rejectToken(FIRST);
  }

  /** An identifier, a call, or a message literal `a.b.C{…}`. */
  private identifierOrCall(dot: string, start: number): Expr {
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

  /** Consumes `.b.C` if a brace follows; otherwise consumes nothing and returns `undefined`. */
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
    this.expectStart(MESSAGE_START);
    this.parseItems('}', () => {
      const optional = this.optionalMark();
      const field = this.fieldName(this.token.at);
      const colon = this.token.at;
      this.expectColon();
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
    this.expectStart(ARGUMENTS_START);
    if (this.accept(')')) return out;
    this.withFollow(tokenSet(',', ')'), () => {
      do out.push(this.expr());
      while (this.accept(','));
    });
    this.expectClose(')');
    return out;
  }

  private listLiteral(at: number): Expr {
    const items: Expr[] = [];
    const optional = new Set<number>();
    this.parseItems(']', () => {
      if (this.optionalMark()) optional.add(items.length);
      items.push(this.expr());
    });
    return { is: 'list', at, items, optional };
  }

  private mapLiteral(at: number): Expr {
    const entries: MapEntry[] = [];
    this.parseItems('}', () => {
      const optional = this.optionalMark();
      const key = this.withFollow(AFTER_KEY, () => this.expr());
      const colon = this.token.at;
      this.expectColon();
      entries.push({ at: colon, key, value: this.expr(), optional });
    });
    return { is: 'map', at, entries };
  }
}
