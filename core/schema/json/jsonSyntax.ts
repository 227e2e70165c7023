const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const UNEXPECTED_END = 'unexpected end of JSON input';

/** The token that is expected next. */
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

const ESCAPES = new Map([
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

/** Quotes the character with the code of a byte, like Go. */
function quoteByte(byte: number): string {
  const printable = byte >= 0x20 && byte !== 0x7f && (byte < 0x80 || byte > 0xa0) && byte !== 0xad;
  const text = ESCAPES.get(byte) ?? (printable ? String.fromCharCode(byte) : hexEscape(byte));
  return `'${text}'`;
}

const hexEscape = (byte: number): string =>
  byte < 0x80 ? `\\x${byte.toString(16).padStart(2, '0')}` : `\\u${byte.toString(16).padStart(4, '0')}`;

const isSpace = (byte: number): boolean => byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39;
const isHex = (byte: number): boolean => isDigit(byte) || ((byte | 0x20) - 0x61 < 6 && (byte | 0x20) >= 0x61);

/** Scans a text up to its first syntax error, with the messages of Go's scanner. */
class Scanner {
  at = 0;
  readonly containers: ('{' | '[')[] = [];

  constructor(readonly bytes: Uint8Array) {}

  /** The first syntax error; undefined if there is none. */
  findError(): string | undefined {
    let expected: Expected = 'value';
    for (;;) {
      while (this.at < this.bytes.length && isSpace(this.bytes[this.at]!)) this.at++;
      if (this.at === this.bytes.length) return expected === 'nothing' ? undefined : UNEXPECTED_END;
      const next = this.#step(expected, this.bytes[this.at]!);
      if (next === undefined) return this.#invalidCharacter(CONTEXTS[expected]);
      if (typeof next === 'object') return next.error;
      expected = next;
    }
  }

  #invalidCharacter = (context: string): string =>
    this.at < this.bytes.length ? `invalid character ${quoteByte(this.bytes[this.at]!)} ${context}` : UNEXPECTED_END;

  /** Returns what is expected after a token; undefined if its first character is not expected. */
  #step(expected: Expected, byte: number): Expected | { error: string } | undefined {
    const char = String.fromCharCode(byte);
    if (expected === 'value' || expected === 'element')
      return expected === 'element' && char === ']' ? this.#close() : this.#value(char);
    if (expected === 'firstKey' && char === '}') return this.#close();
    if (expected === 'firstKey' || expected === 'key')
      return char === '"' ? this.#afterToken(this.#string(), 'colon') : undefined;
    if (expected === 'nothing') return undefined;
    const closing = expected === 'afterMember' ? '}' : expected === 'afterElement' ? ']' : '';
    if (char === closing) return this.#close();
    if (char !== (closing ? ',' : ':')) return undefined;
    this.at++;
    return expected === 'afterMember' ? 'key' : 'value';
  }

  #afterToken = (error: string | undefined, after: Expected): Expected | { error: string } =>
    error ? { error } : after;

  #after(): Expected {
    const inside = this.containers.at(-1);
    if (inside === undefined) return 'nothing';
    return inside === '{' ? 'afterMember' : 'afterElement';
  }

  #close(): Expected {
    this.at++;
    this.containers.pop();
    return this.#after();
  }

  #value(char: string): Expected | { error: string } | undefined {
    if (char === '{' || char === '[') {
      this.at++;
      this.containers.push(char);
      return char === '{' ? 'firstKey' : 'element';
    }
    if (char === '"') return this.#afterToken(this.#string(), this.#after());
    if (char === '-' || (char >= '0' && char <= '9')) return this.#afterToken(this.#number(), this.#after());
    const word = ['true', 'false', 'null'].find(known => known[0] === char);
    return word === undefined ? undefined : this.#afterToken(this.#word(word), this.#after());
  }

  #word(word: string): string | undefined {
    for (const char of word) {
      if (this.bytes[this.at] !== char.charCodeAt(0))
        return this.#invalidCharacter(`in literal ${word} (expecting '${char}')`);
      this.at++;
    }
    return undefined;
  }

  #string(): string | undefined {
    for (this.at++; this.at < this.bytes.length; this.at++) {
      const byte = this.bytes[this.at]!;
      if (byte < 0x20) return this.#invalidCharacter('in string literal');
      if (byte === QUOTE) {
        this.at++;
        return undefined;
      }
      if (byte !== BACKSLASH) continue;
      const escaped = this.bytes[++this.at];
      if (escaped === 0x75) {
        for (let digits = 0; digits < 4; digits++)
          if (!isHex(this.bytes[++this.at] ?? 0)) return this.#invalidCharacter('in \\u hexadecimal character escape');
      } else if (escaped === undefined || !'bfnrt\\/"'.includes(String.fromCharCode(escaped)))
        return this.#invalidCharacter('in string escape code');
    }
    return UNEXPECTED_END;
  }

  #digits(context: string): string | undefined {
    if (!isDigit(this.bytes[this.at] ?? 0)) return this.#invalidCharacter(context);
    while (isDigit(this.bytes[this.at] ?? 0)) this.at++;
    return undefined;
  }

  #number(): string | undefined {
    if (this.bytes[this.at] === 0x2d) this.at++;
    // No digit may follow a leading zero.
    if (this.bytes[this.at] === 0x30) this.at++;
    else {
      const error = this.#digits('in numeric literal');
      if (error) return error;
    }
    if (this.bytes[this.at] === 0x2e) {
      this.at++;
      const error = this.#digits('after decimal point in numeric literal');
      if (error) return error;
    }
    if (((this.bytes[this.at] ?? 0) | 0x20) !== 0x65) return undefined;
    this.at++;
    if (this.bytes[this.at] === 0x2b || this.bytes[this.at] === 0x2d) this.at++;
    return this.#digits('in exponent of numeric literal');
  }
}

/** The syntax error of a JSON text (RFC 8259) in the words of Go's scanner; undefined if it is valid. */
export const jsonSyntaxError = (bytes: Uint8Array): string | undefined => new Scanner(bytes).findError();
