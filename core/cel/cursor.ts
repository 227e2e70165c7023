/**
 * The parser's place in the tokens, and its syntax errors: worded and repaired as the reference's generated parser
 * does, which drops one token or makes one up where that lets it go on.
 */
import type { Token } from './lexer.js';
import type { Issues } from './source.js';
import { Double, Uint } from './values.js';

/**
 * Ends a production at a syntax error, which is already recorded; the nearest operand or bracket takes up the text
 * again.
 */
export class Stop {
  constructor(readonly fatal: boolean) {}
}

/** A set of tokens by the names the grammar gives them, in the grammar's order. */
export type TokenSet = ReadonlySet<string>;

const ORDER = (
  '== != in < <= >= > && || [ ] { } ( ) . , - ! ? : + * / % true false null NUM_FLOAT NUM_INT NUM_UINT STRING BYTES IDENTIFIER ' +
  'ESC_IDENTIFIER <EOF>'
).split(' ');

/** Makes a set. */
export const tokenSet = (...names: string[]): TokenSet => new Set(ORDER.filter(name => names.includes(name)));

/** What an operand may start with. */
export const FIRST = tokenSet(
  ...'[ { ( . - ! true false null NUM_FLOAT NUM_INT NUM_UINT STRING BYTES IDENTIFIER'.split(' '),
);
/** What may follow an operand, whatever encloses it. */
const AFTER_OPERAND = tokenSet(...'== != in < <= >= > && || [ . - ? + * / %'.split(' '));
const END = tokenSet('<EOF>');
/** Where an operand that failed may end. */
const RESUME: ReadonlySet<string> = new Set(['&&', '||', '?', ':', ',', ')', ']', '}']);

/** The name of a token in the grammar. */
function nameOf(t: Token): string {
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

const shownName = (name: string): string => (/^[A-Z]|^<EOF>$/.test(name) ? name : `'${name}'`);
const shownSet = (set: TokenSet): string => {
  const names = Array.from(set, shownName);
  return names.length === 1 ? names[0]! : `{${names.join(', ')}}`;
};
const escaped = (text: string): string => text.replace(/\n/g, '\\n').replace(/\r/g, '\\r').replace(/\t/g, '\\t');

/** See the file's comment. */
export class Cursor {
  protected i = 0;
  /** What may follow the brackets that are open, innermost last. */
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
  /** Whether the token is one of the set. */
  protected stands(set: TokenSet): boolean {
    return set.has(nameOf(this.token));
  }

  protected stop(at: number, message: string, fatal = false): never {
    this.error(at, message);
    throw new Stop(fatal || this.issues.full);
  }
  private report(what: 'extraneous' | 'mismatched', wanted: TokenSet): void {
    const { kind, text, at } = this.token;
    const shown = kind === 'quoted' ? `\`${text}\`` : escaped(text);
    this.error(at, `Syntax error: ${what} input '${shown}' expecting ${shownSet(wanted)}`);
  }
  /** Reports a token that no production takes. */
  protected unwanted(wanted: TokenSet): never {
    this.report('extraneous', wanted);
    throw new Stop(this.issues.full);
  }
  /** Reports that another token was wanted. */
  protected wanted(name: string): never {
    this.report('mismatched', tokenSet(name));
    throw new Stop(this.issues.full);
  }
  /** Reports that what begins at `start` and ends with the token is no production. */
  protected noAlternative(start: number): never {
    const t = this.token;
    const end = t.kind === 'end' ? t.at : t.at + t.text.length;
    return this.stop(t.at, `Syntax error: no viable alternative at input '${escaped(this.text.slice(start, end))}'`);
  }
  /** Reports what stands after the end of the expression. */
  protected reportEnd(): void {
    this.report(this.next.kind === 'end' ? 'extraneous' : 'mismatched', END);
  }

  /** Stands before a token of the set, if need be by leaving one out. */
  private repaired(wanted: TokenSet): boolean {
    if (this.stands(wanted)) return true;
    const dropping = wanted.has(nameOf(this.next)) && this.token.kind !== 'end';
    this.report(dropping ? 'extraneous' : 'mismatched', wanted);
    if (dropping) this.i++;
    return dropping;
  }
  /** The start of a production: what cannot start it is an error. */
  protected startOf(first: TokenSet): void {
    if (!this.repaired(first)) throw new Stop(this.issues.full);
  }
  /** The colon of a condition or an entry; an operand follows it. */
  protected colon(): void {
    if (this.accept(':') || this.madeUp(':', FIRST)) return;
    this.report('mismatched', tokenSet(':'));
    throw new Stop(this.issues.full);
  }
  /** Leaves one token out, or reports the wanted one as missing where the text goes on as if it stood there. */
  private madeUp(wanted: string, after: TokenSet): boolean {
    if (nameOf(this.next) === wanted && this.token.kind !== 'end') {
      this.report('extraneous', tokenSet(wanted));
      this.i += 2;
      return true;
    }
    if (!this.stands(after)) return false;
    this.error(this.token.at, `Syntax error: missing '${wanted}' at '${escaped(this.token.text)}'`);
    return true;
  }

  /** Runs a production inside brackets. */
  protected inside<R>(follow: TokenSet, run: () => R): R {
    const depth = this.follow.length;
    this.follow.push(follow);
    try {
      return run();
    } finally {
      this.follow.length = depth;
    }
  }
  /** The bracket that ends one expression; what stands before it is an error and skipped. */
  protected close(text: string): void {
    if (this.accept(text) || this.madeUp(text, this.stands(AFTER_OPERAND) ? AFTER_OPERAND : this.follow.at(-1)!))
      return;
    this.report('mismatched', tokenSet(text));
    this.resume(new Set([text]));
    this.i++;
  }
  /**
   * Items up to a closing bracket, the last with or without a comma; after a wrong token goes on at the next comma or
   * the bracket.
   */
  protected items(close: string, item: () => void): void {
    this.startOf(tokenSet(...FIRST, close, ',', '?'));
    if (this.accept(close)) return;
    const more = tokenSet(close, ',');
    const starts = tokenSet(...FIRST, '?');
    let wanting = !this.accept(',');
    while (wanting) {
      this.inside(more, item);
      if (!this.stands(more) && !this.repaired(more)) this.resume(more);
      wanting = this.accept(',') && this.stands(starts);
    }
    this.close(close);
  }

  /** Skips to one of the operators outside any bracket opened on the way; gives up at the end of the text. */
  protected resume(stops: ReadonlySet<string>): void {
    for (let nesting = 0; ; this.i++) {
      const { kind, text } = this.token;
      if (kind === 'end' || this.issues.full) throw new Stop(true);
      if (kind !== 'op') continue;
      if (nesting === 0 && stops.has(text)) return;
      if ('([{'.includes(text)) nesting++;
      else if (nesting > 0 && ')]}'.includes(text)) nesting--;
    }
  }
  /** Runs a production; after a syntax error in it goes on where an operand may end, with what `failed` answers. */
  protected attempt<R>(run: () => R, failed: () => R): R {
    try {
      return run();
    } catch (error) {
      if (!(error instanceof Stop) || error.fatal) throw error;
      const value = failed();
      this.resume(RESUME);
      return value;
    }
  }
}
