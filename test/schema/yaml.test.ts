import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../core/model/object.js';
import { decodeYaml, decodeYamlStrict, encodeYaml } from '../../core/schema/yaml.js';

const decode = (text: string): Json => decodeYaml(Buffer.from(text));

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
    const text = fc.oneof(
      fc.string(),
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
        '---',
        '...',
      ),
    );
    const { map } = fc.letrec(tie => ({
      value: fc.oneof({ maxDepth: 4 }, text, fc.integer(), fc.boolean(), fc.constant(null), tie('list'), tie('map')),
      list: fc.array(tie('value'), { maxLength: 4 }),
      map: fc.dictionary(text, tie('value'), { maxKeys: 4, noNullPrototype: true }),
    }));
    fc.assert(
      fc.property(map as fc.Arbitrary<{ [key: string]: Json }>, given => {
        expect(decode(encodeYaml(given))).toEqual(given);
      }),
      { numRuns: 500 },
    );
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

  it('refuse deep nesting and malformed text, and end with the first document', () => {
    expect(() => decode('['.repeat(2000) + ']'.repeat(2000))).toThrow(/depth/);
    expect(() => decode('- '.repeat(2000))).toThrow(/depth/);
    expect(decode('a: 1\n---\nb: 2\n')).toEqual({ a: 1 });
    expect(() => decode('a: [1')).toThrow(/converting YAML/);
  });

  it('report duplicate keys with their line', () => {
    expect(decodeYamlStrict(Buffer.from('data:\n  k: 1\n  k: 2\n'))).toEqual({
      value: { data: { k: 2 } },
      duplicates: ['line 3: key "k" already set in map'],
    });
  });

  it('contain a single dot as text, which answers do not quote', () => {
    expect(decodeYaml(Buffer.from('{a: ., b: 1.5, c: .5, d: 2.}'))).toEqual({ a: '.', b: 1.5, c: 0.5, d: 2 });
    expect(encodeYaml({ 'f:a': { '.': {} }, b: '.', c: '.5' })).toBe('b: .\nc: ".5"\nf:a:\n  .: {}\n');
  });

  it('have members sorted by name', () => {
    expect(JSON.stringify(decodeYaml(Buffer.from('b: {d: 1, c: 2}\na: 3')))).toBe('{"a":3,"b":{"c":2,"d":1}}');
  });

  it('keep __proto__ an ordinary key', () => {
    expect(Object.keys(decode('__proto__: {x: 1}') as object)).toEqual(['__proto__']);
  });
});
