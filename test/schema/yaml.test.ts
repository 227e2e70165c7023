import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../core/model/object.js';
import { YAML_BYTES } from '../../core/limits.js';
import { Refusal } from '../../core/model/refusal.js';
import { decodeYaml, decodeYamlStrict } from '../../core/schema/yaml/yaml.js';
import { encodeYaml, encodeYamlItems } from '../../core/schema/yaml/yamlText.js';

const decode = (text: string): Json => decodeYaml(Buffer.from(text));

/** Texts that look like syntax, or like values of another type. */
const text = fc.oneof(
  fc.string(),
  fc
    .array(fc.constantFrom(...'ab09 -:#,[{}&*!|>%@`\'"\\=?~_/', 'no', 'word', ' # ', ': '), { maxLength: 6 })
    .map(parts => parts.join('')),
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    'a\n\nb',
    '\n',
    'a: b\n',
    '-',
    '?',
    ':x',
    '0x1',
    '1_000',
    '<<',
    'a #b',
    "'",
    '"',
    '\u0085',
    '\\',
    'a b',
    'a\n b\n',
    'one\n\ntwo\n\n',
    '2024-01-02T03:04:05Z',
    '500m',
    '.',
    'f:a',
    'k:{"a":1}',
    '0o7',
    '1:30',
    `${'long text '.repeat(9)}\n\n\tand "more"`,
    '---',
    '...',
  ),
);
const { map } = fc.letrec(tie => ({
  value: fc.oneof({ maxDepth: 4 }, text, fc.integer(), fc.boolean(), fc.constant(null), tie('list'), tie('map')),
  list: fc.array(tie('value'), { maxLength: 4 }),
  map: fc.dictionary(text, tie('value'), { maxKeys: 4, noNullPrototype: true }),
}));

describe('YAML answers', () => {
  it('[R173] are block style, sorted, quoted only where needed', () => {
    const data = {
      multi: 'one\ntwo\n',
      open: 'one\ntwo',
      text: 'plain',
      quote: 'it\'s "so"',
      nul: 'null',
      exp: '1e3',
      date: '2020-01-01',
      on: 'on',
      tilde: '~',
      star: '*x',
      brace: '{a}',
      tab: 'a\tb',
      uni: 'é☃',
      colon: 'with: colon',
      hash: '# hash',
      lead: ' lead',
      dash: '- dash',
      empty: '',
    };
    expect(
      encodeYaml({
        kind: 'ConfigMap',
        apiVersion: 'v1',
        data,
        list: [{ b: 1, a: [] }, 'x', ['y']],
        none: {},
        nil: null,
      }),
    ).toBe(
      `apiVersion: v1
data:
  brace: '{a}'
  colon: 'with: colon'
  dash: '- dash'
  date: "2020-01-01"
  empty: ""
  exp: "1e3"
  hash: '# hash'
  lead: ' lead'
  multi: |
    one
    two
  nul: "null"
  "on": "on"
  open: |-
    one
    two
  quote: it's "so"
  star: '*x'
  tab: "a\\tb"
  text: plain
  tilde: "~"
  uni: é☃
kind: ConfigMap
list:
- a: []
  b: 1
- x
- - "y"
nil: null
none: {}
`,
    );
  });

  it('are decoded to the encoded value', () => {
    fc.assert(
      fc.property(map as fc.Arbitrary<{ [key: string]: Json }>, given => {
        expect(decode(encodeYaml(given))).toEqual(given);
      }),
      { numRuns: 500 },
    );
  });

  it('are written as by the library, which writes whole documents that have a key too long for one line', () => {
    const long = 'z'.repeat(1100);
    fc.assert(
      fc.property(map as fc.Arbitrary<{ [key: string]: Json }>, given => {
        const whole = encodeYaml({ a: given, [long]: 1 });
        const byLibrary = whole.slice(0, whole.indexOf(`? ${long}`));
        fc.pre(byLibrary.split('\n').every(line => line.length < 80));
        expect(byLibrary).toBe(encodeYaml({ a: given }));
      }),
      { numRuns: 1000 },
    );
  });
});

describe('items of lists in YAML', () => {
  const asTexts = (items: readonly Json[]) => items.map(item => Buffer.from(JSON.stringify(item)));
  const asMember = (items: readonly Json[]) => encodeYaml({ items }).slice('items:\n'.length);

  it('are written as in a list that is encoded whole', () => {
    fc.assert(
      fc.property(fc.array(map as fc.Arbitrary<Json>, { minLength: 1, maxLength: 4 }), items => {
        expect(Buffer.from(encodeYamlItems(asTexts(items))).toString()).toBe(asMember(items));
      }),
    );
  });

  it('are written by the library if an item has a key that is too long for one line', () => {
    const items = [{ a: 'x' }, { ['z'.repeat(1100)]: 1 }];
    const text = Buffer.from(encodeYamlItems(asTexts(items))).toString();
    expect(text).toBe(asMember(items));
    expect(decode(`items:\n${text}`)).toEqual({ items });
  });

  it('keep integers that a number cannot hold', () => {
    const text = encodeYamlItems([Buffer.from('{"a":12345678901234567890,"b":-0,"c":9007199254740993,"d":1.50}')]);
    expect(Buffer.from(text).toString()).toBe('- a: 12345678901234567000\n  b: -0\n  c: 9007199254740993\n  d: 1.5\n');
  });
});

describe('long lines of YAML answers', () => {
  const words = 'lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ut labore';
  const x = 'x'.repeat(90);

  it('are folded at the first single space after column 80, and indented below their key', () => {
    expect(encodeYaml({ key: words })).toBe(
      'key: lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor\n  incididunt ut labore\n',
    );
    expect(encodeYaml({ a: { b: [words] } })).toBe(
      'a:\n  b:\n  - lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor ' +
        'incididunt\n    ut labore\n',
    );
  });

  it('are also folded in quotes, but not at the first or last character', () => {
    expect(encodeYaml({ k: `: ${x} y z` })).toBe(`k: ': ${x}\n  y\n  z'\n`.replace('y\n  z', 'y z'));
    expect(encodeYaml({ k: `: ${x} ` })).toBe(`k: ': ${x} '\n`);
    expect(encodeYaml({ k: `\t${x}  y` })).toBe(`k: "\\t${x}\n  \\ y"\n`);
  });

  it('are not folded at double spaces, and are read back unchanged', () => {
    expect(encodeYaml({ k: `${x}  y` })).toBe(`k: ${x}  y\n`);
    for (const text of [
      words,
      `'${words}`,
      `a: ${words}`,
      `${words}\t${words}`,
      `${words} `,
      words.replaceAll(' ', '  '),
    ])
      for (const indented of [{ k: text }, { a: { b: { c: text } } }, { a: [[text]] }])
        expect(decode(encodeYaml(indented))).toEqual(indented);
  });

  it('have doubled apostrophes, and escapes for characters beyond the basic plane', () => {
    expect(encodeYaml({ k: "'a" })).toBe("k: '''a'\n");
    expect(encodeYaml({ k: '\u{1f600}' })).toBe('k: "\\U0001F600"\n');
  });
});

describe('YAML bodies', () => {
  it('resolve anchors, with a limit', () => {
    expect(decode('a: &x {b: 1}\nc: *x\n')).toEqual({ a: { b: 1 }, c: { b: 1 } });
    const bomb = [
      'a0: &a0 [x,x,x,x,x,x,x,x,x,x]',
      ...[1, 2, 3, 4, 5, 6, 7, 8].map(n => `a${n}: &a${n} [${new Array(10).fill(`*a${n - 1}`).join()}]`),
    ];
    expect(() => decode(bomb.join('\n'))).toThrow(/alias/i);
    expect(() => decode('a: *none')).toThrow();
    expect(() => decode('a: &a [*a]')).toThrow();
  });

  it('may use an anchor any number of times while the result is small', () => {
    const many = decode(`a: &a {b: [1, 2]}\nc:\n${'- *a\n'.repeat(1000)}`) as { c: unknown[] };
    expect(many.c.at(-1)).toEqual({ b: [1, 2] });
    expect(many.c[0]).not.toBe(many.c[1]);
    expect(() => decode(`a: &a ${'x'.repeat(1000)}\nb:\n${'- *a\n'.repeat(2000)}`)).toThrow(/excessive aliasing/);
    expect(() =>
      decode(`a: &a ${'['.repeat(300)}${']'.repeat(300)}\nb: ${'['.repeat(300)}*a${']'.repeat(300)}`),
    ).toThrow(/depth/);
  });

  it('merge maps of the key <<, without replacing members', () => {
    expect(decode('a: &a {x: 1, w: 1}\nb:\n  <<: [*a, {w: 2, z: 2}]\n  x: 3\n')).toEqual({
      a: { x: 1, w: 1 },
      b: { x: 3, w: 1, z: 2 },
    });
    expect(decode('"<<": 1')).toEqual({ '<<': 1 });
    expect(() => decode('<<: 1')).toThrow(/map merge requires map/);
  });

  it('have the scalars of YAML 1.1, except for those that JSON does not have', () => {
    const scalars =
      '[y, No, on, ~, NULL, +1, 010, 08, 0o7, 0b11, -0x1F, 1_000, 1e3, 1:30, 2020-01-01, !!str 1, !!int "3", !!float 1, !x 2]';
    expect(decode(scalars)).toEqual([
      true,
      false,
      true,
      null,
      null,
      1,
      8,
      8,
      7,
      3,
      -31,
      1000,
      1000,
      '1:30',
      '2020-01-01',
      '1',
      3,
      1,
      '2',
    ]);
    expect(() => decode('.inf')).toThrow('json: unsupported value: +Inf');
    expect(() => decode('- .nan')).toThrow('json: unsupported value: NaN');
    expect(() => decode('!!int x')).toThrow('yaml: cannot decode !!str `x` as a !!int');
    expect(() => decode('!!int yes')).toThrow('yaml: cannot decode !!bool `yes` as a !!int');
    expect(decode('[!!binary QUJD, !!binary "QUJD\\nRA==", !!binary /w==, !!binary ""]')).toEqual([
      'ABC',
      'ABCD',
      '\ufffd',
      '',
    ]);
    expect(() => decode('!!binary a')).toThrow('yaml: !!binary value contains invalid base64 data');
    expect(() => decode('a: "\\ud800"')).toThrow('yaml: found invalid Unicode character escape code');
    expect(() => decode('~: x')).toThrow('unsupported map key of type: %!s(<nil>), key: <nil>, value: "x"');
    expect(() => decode('{[a]: b}')).toThrow(/invalid map key/);
  });

  it('are limited in size, unless they are JSON', () => {
    const text = 'x'.repeat(YAML_BYTES);
    expect(decode(`{"a":"${text}"}`)).toEqual({ a: text });
    expect(decode(`\n{"a":"${text}"}`)).toEqual({ a: text });
    expect(() => decode(`a: ${text}`)).toThrow(
      new Refusal('RequestEntityTooLarge', `Request entity too large: limit of a body in YAML is ${YAML_BYTES}`),
    );
  });

  it('refuse deep nesting and malformed text, and end with the first document', () => {
    expect(() => decode('['.repeat(2000) + ']'.repeat(2000))).toThrow(/depth/);
    expect(() => decode('- '.repeat(2000))).toThrow(/depth/);
    expect(decode('a: 1\n---\nb: 2\n')).toEqual({ a: 1 });
    expect(decode('# one\n%YAML 1.1\n---\na: 1\n...\n]')).toEqual({ a: 1 });
    expect(() => decode('a: 1\nb: c: d\n')).toThrow('yaml: line 2: ');
    expect(() => decode('a: [1')).toThrow('yaml: line 1: ');
  });

  it('report duplicate keys with their line', () => {
    expect(decodeYamlStrict(Buffer.from('data:\n  k: 1\n  k: 2\n'))).toEqual({
      value: { data: { k: 2 } },
      duplicates: ['line 3: key "k" already set in map'],
    });
    const { duplicates } = decodeYamlStrict(Buffer.from('a: {x: 1, x: 2}\r\na:\n- 1\na: |\n  b\na:\n  c: 1\n'));
    expect(duplicates).toEqual([
      'line 1: key "x" already set in map',
      'line 2: key "a" already set in map',
      'line 4: key "a" already set in map',
      'line 7: key "a" already set in map',
    ]);
  });

  it('may contain a single dot as a string, which answers do not quote', () => {
    expect(decodeYaml(Buffer.from('{a: ., b: 1.5, c: .5, d: 2.}'))).toEqual({ a: '.', b: 1.5, c: 0.5, d: 2 });
    expect(decodeYaml(Buffer.from('{a: E0, b: 1e2, c: .5e1, d: .e5, e: -e1}'))).toEqual({
      a: 'E0',
      b: 100,
      c: 5,
      d: '.e5',
      e: '-e1',
    });
    expect(encodeYaml({ 'f:a': { '.': {} }, b: '.', c: '.5' })).toBe('b: .\nc: ".5"\nf:a:\n  .: {}\n');
  });

  it('are decoded with members sorted by name', () => {
    expect(JSON.stringify(decodeYaml(Buffer.from('b: {d: 1, c: 2}\na: 3')))).toBe('{"a":3,"b":{"c":2,"d":1}}');
  });

  it('that are JSON mean the same, and report duplicate members as YAML', () => {
    const text = '{"b":{"d":1.0,"c":"\\u00e9"},"a":[null,true,"yes",1e3]}';
    expect(JSON.stringify(decode(text))).toBe('{"a":[null,true,"yes",1000],"b":{"c":"é","d":1}}');
    expect(decode(` ${text}`)).toEqual(decode(text));
    expect(decodeYamlStrict(Buffer.from('{"a":1,\n"a":2}')).duplicates).toEqual(['line 2: key "a" already set in map']);
    expect(decode('{a: yes}')).toEqual({ a: true });
  });

  it('treat __proto__ as an ordinary key', () => {
    expect(Object.keys(decode('__proto__: {x: 1}') as object)).toEqual(['__proto__']);
  });
});
