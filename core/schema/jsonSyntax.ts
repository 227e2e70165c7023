const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const ENDED = 'unexpected end of JSON input';

/** What may come next, outside of strings, numbers and words. */
type Expected = 'value' | 'element' | 'firstKey' | 'key' | 'colon' | 'afterMember' | 'afterElement' | 'nothing';

const CONTEXTS: Readonly<Record<Expected, string>> = {
  value: 'looking for beginning of value',
  element: 'looking for beginning of value',
  firstKey: 'looking for beginning of object key string',
  key: 'looking for beginning of object key string',
  colon: 'after object key',
  afterMember: 'after object key:value pair',
  afterElement: 'after array element',
  nothing: 'after top-level value',
};

const NAMES = new Map([
  [0x07, '\\a'],
  [0x08, '\\b'],
  [0x0c, '\\f'],
  [0x0a, '\\n'],
  [0x0d, '\\r'],
  [0x09, '\\t'],
  [0x0b, '\\v'],
  [0x27, "\\'"],
  [BACKSLASH, '\\\\'],
]);

/** A byte as Go quotes the character of that number. */
function quoted(byte: number): string {
  const printable = byte >= 0x20 && byte !== 0x7f && (byte < 0x80 || byte > 0xa0) && byte !== 0xad;
  const text = NAMES.get(byte) ?? (printable ? String.fromCharCode(byte) : hex(byte));
  return `'${text}'`;
}

const hex = (byte: number): string =>
  byte < 0x80 ? `\\x${byte.toString(16).padStart(2, '0')}` : `\\u${byte.toString(16).padStart(4, '0')}`;

const isSpace = (byte: number): boolean => byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39;
const isHex = (byte: number): boolean => isDigit(byte) || ((byte | 0x20) - 0x61 < 6 && (byte | 0x20) >= 0x61);

/** One reading of a text up to what is wrong with it, in the words of Go's scanner. */
class Scanner {
  at = 0;
  readonly open: ('{' | '[')[] = [];

  constructor(readonly bytes: Uint8Array) {}

  /** What is wrong; undefined if nothing is. */
  complaint(): string | undefined {
    let expected: Expected = 'value';
    for (;;) {
      while (this.at < this.bytes.length && isSpace(this.bytes[this.at]!)) this.at++;
      if (this.at === this.bytes.length) return expected === 'nothing' ? undefined : ENDED;
      const next = this.#step(expected, this.bytes[this.at]!);
      if (next === undefined) return this.#wrong(CONTEXTS[expected]);
      if (typeof next === 'object') return next.wrong;
      expected = next;
    }
  }

  #wrong = (context: string): string =>
    this.at < this.bytes.length ? `invalid character ${quoted(this.bytes[this.at]!)} ${context}` : ENDED;

  /** What is expected after the character; undefined where it does not fit. */
  #step(expected: Expected, byte: number): Expected | { wrong: string } | undefined {
    const char = String.fromCharCode(byte);
    if (expected === 'value' || expected === 'element')
      return expected === 'element' && char === ']' ? this.#close() : this.#value(char);
    if (expected === 'firstKey' && char === '}') return this.#close();
    if (expected === 'firstKey' || expected === 'key')
      return char === '"' ? this.#within(this.#string(), 'colon') : undefined;
    if (expected === 'nothing') return undefined;
    const closing = expected === 'afterMember' ? '}' : expected === 'afterElement' ? ']' : '';
    if (char === closing) return this.#close();
    if (char !== (closing ? ',' : ':')) return undefined;
    this.at++;
    return expected === 'afterMember' ? 'key' : 'value';
  }

  #within = (wrong: string | undefined, after: Expected): Expected | { wrong: string } => (wrong ? { wrong } : after);

  #after(): Expected {
    const inside = this.open.at(-1);
    if (inside === undefined) return 'nothing';
    return inside === '{' ? 'afterMember' : 'afterElement';
  }

  #close(): Expected {
    this.at++;
    this.open.pop();
    return this.#after();
  }

  #value(char: string): Expected | { wrong: string } | undefined {
    if (char === '{' || char === '[') {
      this.at++;
      this.open.push(char);
      return char === '{' ? 'firstKey' : 'element';
    }
    if (char === '"') return this.#within(this.#string(), this.#after());
    if (char === '-' || (char >= '0' && char <= '9')) return this.#within(this.#number(), this.#after());
    const word = ['true', 'false', 'null'].find(known => known[0] === char);
    return word === undefined ? undefined : this.#within(this.#word(word), this.#after());
  }

  #word(word: string): string | undefined {
    for (const char of word) {
      if (this.bytes[this.at] !== char.charCodeAt(0)) return this.#wrong(`in literal ${word} (expecting '${char}')`);
      this.at++;
    }
    return undefined;
  }

  #string(): string | undefined {
    for (this.at++; this.at < this.bytes.length; this.at++) {
      const byte = this.bytes[this.at]!;
      if (byte < 0x20) return this.#wrong('in string literal');
      if (byte === QUOTE) {
        this.at++;
        return undefined;
      }
      if (byte !== BACKSLASH) continue;
      const escaped = this.bytes[++this.at];
      if (escaped === 0x75) {
        for (let digits = 0; digits < 4; digits++)
          if (!isHex(this.bytes[++this.at] ?? 0)) return this.#wrong('in \\u hexadecimal character escape');
      } else if (escaped === undefined || !'bfnrt\\/"'.includes(String.fromCharCode(escaped)))
        return this.#wrong('in string escape code');
    }
    return ENDED;
  }

  #digits(context: string): string | undefined {
    if (!isDigit(this.bytes[this.at] ?? 0)) return this.#wrong(context);
    while (isDigit(this.bytes[this.at] ?? 0)) this.at++;
    return undefined;
  }

  #number(): string | undefined {
    if (this.bytes[this.at] === 0x2d) this.at++;
    // A leading zero is the whole integer.
    if (this.bytes[this.at] === 0x30) this.at++;
    else {
      const wrong = this.#digits('in numeric literal');
      if (wrong) return wrong;
    }
    if (this.bytes[this.at] === 0x2e) {
      this.at++;
      const wrong = this.#digits('after decimal point in numeric literal');
      if (wrong) return wrong;
    }
    if (((this.bytes[this.at] ?? 0) | 0x20) !== 0x65) return undefined;
    this.at++;
    if (this.bytes[this.at] === 0x2b || this.bytes[this.at] === 0x2d) this.at++;
    return this.#digits('in exponent of numeric literal');
  }
}

/** Why a text is no JSON (RFC 8259), in the words of Go's scanner, which clients show; undefined if it is. */
export const syntaxComplaint = (bytes: Uint8Array): string | undefined => new Scanner(bytes).complaint();
