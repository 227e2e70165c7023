/**
 * The parser's position in the tokens, and its error reporting and recovery. Messages and recovery follow the
 * reference's generated (ANTLR) parser, which drops or inserts a single token if it can continue that way.
 */
import type { Token } from './lexer.js';
import type { Issues } from './source.js';
import { Double, Uint } from '../evaluate/values.js';

/**
 * Thrown to leave a production at a syntax error that is already recorded. Parsing resumes at the end of the enclosing
 * operand or bracket, or ends if `fatal`.
 */
export class ParseAbort {
  constructor(readonly fatal: boolean) {}
}

/** A set of token names, in the grammar's order: error messages list them in it. */
export type TokenSet = ReadonlySet<string>;

const ORDER = (
  '== != in < <= >= > && || [ ] { } ( ) . , - ! ? : + * / % true false null NUM_FLOAT NUM_INT NUM_UINT STRING BYTES ' +
  'IDENTIFIER ' +
  'ESC_IDENTIFIER <EOF>'
).split(' ');

/** A set of the tokens with these names. */
export const tokenSet = (...names: string[]): TokenSet => new Set(ORDER.filter(name => names.includes(name)));

/** Tokens that an operand may start with. */
export const FIRST = tokenSet(
  ...'[ { ( . - ! true false null NUM_FLOAT NUM_INT NUM_UINT STRING BYTES IDENTIFIER'.split(' '),
);
/** Tokens that may follow an operand in any context. */
const AFTER_OPERAND = tokenSet(...'== != in < <= >= > && || [ . - ? + * / %'.split(' '));
const END = tokenSet('<EOF>');
/** Operators at which parsing resumes after an error in an operand. */
const RESYNC: ReadonlySet<string> = new Set(['&&', '||', '?', ':', ',', ')', ']', '}']);

/** The name of a token in the grammar. */
function grammarName(t: Token): string {
  if (t.kind === 'op') return t.text;
  if (t.kind === 'end') return '<EOF>';
  if (t.kind === 'ident') return 'IDENTIFIER';
  if (t.kind === 'quoted') return 'ESC_IDENTIFIER';
  const v = t.value;
  if (v === null || typeof v === 'boolean') return String(v);
  if (typeof v === 'string') return 'STRING';
  if (v instanceof Double) return 'NUM_FLOAT';
  return v instanceof Uint ? 'NUM_UINT' : v instanceof Uint8Array ? 'BYTES' : 'NUM_INT';
}

const displayName = (name: string): string => (/^[A-Z]|^<EOF>$/.test(name) ? name : `'${name}'`);
const displaySet = (set: TokenSet): string => {
  const names = Array.from(set, displayName);
  return names.length === 1 ? names[0]! : `{${names.join(', ')}}`;
};
const escapeControls = (text: string): string => text.replace(/\n/g, '\\n').replace(/\r/g, '\\r').replace(/\t/g, '\\t');

/** A position in a list of tokens. */
export class Cursor {
  protected i = 0;
  /** Tokens that may follow the contents of each open bracket, innermost last. */
  private readonly follow: TokenSet[] = [END];
  constructor(
    private readonly text: string,
    protected readonly tokens: readonly Token[],
    private readonly issues: Issues,
  ) {}

  /** Records an error. */
  error(at: number, message: string): void {
    this.issues.add(at, message);
  }

  protected get token(): Token {
    return this.tokens[this.i]!;
  }
  private get next(): Token {
    return this.tokens[Math.min(this.i + 1, this.tokens.length - 1)]!;
  }
  protected isOp(text: string): boolean {
    const t = this.token;
    return t.kind === 'op' && t.text === text;
  }
  protected accept(text: string): boolean {
    const ok = this.isOp(text);
    if (ok) this.i++;
    return ok;
  }
  /** Whether the current token is in the set. */
  protected isAt(set: TokenSet): boolean {
    return set.has(grammarName(this.token));
  }

  protected abort(at: number, message: string, fatal = false): never {
    this.error(at, message);
    throw new ParseAbort(fatal || this.issues.full);
  }
  private report(what: 'extraneous' | 'mismatched', wanted: TokenSet): void {
    const { kind, text, at } = this.token;
    const shown = kind === 'quoted' ? `\`${text}\`` : escapeControls(text);
    this.error(at, `Syntax error: ${what} input '${shown}' expecting ${displaySet(wanted)}`);
  }
  /** Reports the current token as extraneous and leaves the production. */
  protected rejectToken(wanted: TokenSet): never {
    this.report('extraneous', wanted);
    throw new ParseAbort(this.issues.full);
  }
  /** Reports that a token of this name was expected and leaves the production. */
  protected wanted(name: string): never {
    this.report('mismatched', tokenSet(name));
    throw new ParseAbort(this.issues.full);
  }
  /** Reports that no production matches the text from `start` to the current token. */
  protected noAlternative(start: number): never {
    const t = this.token;
    const end = t.kind === 'end' ? t.at : t.at + t.text.length;
    return this.abort(
      t.at,
      `Syntax error: no viable alternative at input '${escapeControls(this.text.slice(start, end))}'`,
    );
  }
  /** Reports the text after the end of the expression. */
  protected reportEnd(): void {
    this.report(this.next.kind === 'end' ? 'extraneous' : 'mismatched', END);
  }

  /** Moves to a token of the set, dropping at most one token with a report. Returns whether that succeeded. */
  private recover(wanted: TokenSet): boolean {
    if (this.isAt(wanted)) return true;
    const dropping = wanted.has(grammarName(this.next)) && this.token.kind !== 'end';
    this.report(dropping ? 'extraneous' : 'mismatched', wanted);
    if (dropping) this.i++;
    return dropping;
  }
  /** Checks that a production can start at the current token, dropping at most one token. */
  protected expectStart(first: TokenSet): void {
    if (!this.recover(first)) throw new ParseAbort(this.issues.full);
  }
  /** Consumes the colon of a conditional or an entry. */
  protected expectColon(): void {
    if (this.accept(':') || this.repair(':', FIRST)) return;
    this.report('mismatched', tokenSet(':'));
    throw new ParseAbort(this.issues.full);
  }
  /** Repairs a missing token by dropping the current one, or by inserting it if the text continues with `after`. */
  private repair(wanted: string, after: TokenSet): boolean {
    if (grammarName(this.next) === wanted && this.token.kind !== 'end') {
      this.report('extraneous', tokenSet(wanted));
      this.i += 2;
      return true;
    }
    if (!this.isAt(after)) return false;
    this.error(this.token.at, `Syntax error: missing '${wanted}' at '${escapeControls(this.token.text)}'`);
    return true;
  }

  /** Runs a production; `follow` are the tokens that may follow it inside its brackets. */
  protected withFollow<R>(follow: TokenSet, run: () => R): R {
    const depth = this.follow.length;
    this.follow.push(follow);
    try {
      return run();
    } finally {
      this.follow.length = depth;
    }
  }
  /** Consumes a closing bracket. Tokens before it are reported and skipped. */
  protected expectClose(text: string): void {
    if (this.accept(text) || this.repair(text, this.isAt(AFTER_OPERAND) ? AFTER_OPERAND : this.follow.at(-1)!)) return;
    this.report('mismatched', tokenSet(text));
    this.skipTo(new Set([text]));
    this.i++;
  }
  /**
   * Parses items separated by commas up to a closing bracket; a trailing comma is allowed. After an unexpected token,
   * parsing resumes at the next comma or the bracket.
   */
  protected parseItems(close: string, item: () => void): void {
    this.expectStart(tokenSet(...FIRST, close, ',', '?'));
    if (this.accept(close)) return;
    const more = tokenSet(close, ',');
    const starts = tokenSet(...FIRST, '?');
    let wanting = !this.accept(',');
    while (wanting) {
      this.withFollow(more, item);
      if (!this.isAt(more) && !this.recover(more)) this.skipTo(more);
      wanting = this.accept(',') && this.isAt(starts);
    }
    this.expectClose(close);
  }

  /** Skips to one of `stops`, passing over bracketed text. Throws a fatal `ParseAbort` at the end of the text. */
  protected skipTo(stops: ReadonlySet<string>): void {
    for (let nesting = 0; ; this.i++) {
      const { kind, text } = this.token;
      if (kind === 'end' || this.issues.full) throw new ParseAbort(true);
      if (kind !== 'op') continue;
      if (nesting === 0 && stops.has(text)) return;
      if ('([{'.includes(text)) nesting++;
      else if (nesting > 0 && ')]}'.includes(text)) nesting--;
    }
  }
  /** Runs a production. After a syntax error in it, skips to the end of the operand and returns `failed()`. */
  protected tryProduction<R>(run: () => R, failed: () => R): R {
    try {
      return run();
    } catch (error) {
      if (!(error instanceof ParseAbort) || error.fatal) throw error;
      const value = failed();
      this.skipTo(RESYNC);
      return value;
    }
  }
}
