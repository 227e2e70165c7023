import { Decoder, Encoder } from 'cbor-x';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { writeJson } from '../../core/model/text/jsonText.js';
import type { Json } from '../../core/model/object.js';
import {
  CBOR_TAG,
  cborDocument,
  cborEvent,
  cborItems,
  cborListFrame,
  encodeCborText,
} from '../../core/schema/cbor/cbor.js';
import { decodeCbor } from '../../core/schema/cbor/cborDecode.js';
import { CBOR_BYTES, CBOR_DEPTH } from '../../core/limits.js';

const encode = (value: Json): Buffer => encodeCborText(Buffer.from(writeJson(value)));
const library = new Decoder({ mapsAsObjects: false, useRecords: false });
const libraryEncoder = new Encoder({ useRecords: false, variableMapSize: true });
const hex = (...bytes: string[]): Buffer => Buffer.from(bytes.join(''), 'hex');
const problemOf = (bytes: Uint8Array): string => {
  try {
    decodeCbor(bytes);
    return 'none';
  } catch (error) {
    return (error as Error).message.replace('unable to determine group/version/kind: ', '');
  }
};
/** JSON values, whose numbers are doubles that JSON can write, or integers of 64 bits. */
const values = fc.letrec(tie => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.string({ unit: 'grapheme', maxLength: 300 }),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(number => (Object.is(number, -0) ? 0 : number)),
    fc.integer(),
    fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n).map(big => (Number.isSafeInteger(Number(big)) ? Number(big) : big)),
    fc.constantFrom(null, true, false),
    fc.array(tie('value')),
    fc.dictionary(fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('__proto__', 'constructor')), tie('value')),
  ),
})).value as fc.Arbitrary<Json>;

describe('CBOR made of a JSON text', () => {
  it('encodes the same value [R191]', () => {
    fc.assert(
      fc.property(values, value => {
        expect(writeJson(decodeCbor(encode(value)))).toBe(writeJson(value));
      }),
    );
  });

  it('encodes texts and keys as byte strings', () => {
    expect(library.decode(encode({ a: 'ä"\n' }))).toEqual(new Map([[Buffer.from('a'), Buffer.from('ä"\n')]]));
  });

  it.each([
    ['0', '00'],
    ['23', '17'],
    ['24', '1818'],
    ['1000', '1903e8'],
    ['1000000', '1a000f4240'],
    ['-1', '20'],
    ['-1000', '3903e7'],
    ['1099511627776', '1b0000010000000000'],
    ['9223372036854775807', '1b7fffffffffffffff'],
    ['-9223372036854775808', '3b7fffffffffffffff'],
    ['1.5', 'fb3ff8000000000000'],
    ['1e300', 'fb7e37e43c8800759c'],
    ['true', 'f5'],
    ['null', 'f6'],
  ])('encodes %s as in RFC 8949', (text, expected) => {
    expect(encodeCborText(Buffer.from(text)).toString('hex')).toBe(expected);
  });

  it('is the same for a text with white space and escapes as without them', () => {
    expect(encodeCborText(Buffer.from('{ "\\u0061" : [ 1 , "\\u003c" ] }\n'))).toEqual(encode({ a: [1, '<'] }));
  });

  it('of a list is its frame around the items of all parts', () => {
    const { head, tail } = cborListFrame(Buffer.from('{"kind":"PodList","items":[]}'));
    const parts = [[{ a: 1 }, { b: 2 }], [{ c: 3 }]].map(items => cborItems(Buffer.from(JSON.stringify(items))));
    expect(decodeCbor(Buffer.concat([head, ...parts, tail]))).toEqual({
      kind: 'PodList',
      items: [{ a: 1 }, { b: 2 }, { c: 3 }],
    });
  });

  it('of an event has the object as a document in a document [R192]', () => {
    const event = cborEvent('ADDED', cborDocument(Buffer.from('{"a":1}')));
    expect(event.subarray(0, 3)).toEqual(CBOR_TAG);
    expect(event.includes(Buffer.concat([Buffer.from('object'), CBOR_TAG]))).toBe(true);
    expect(decodeCbor(event)).toEqual({ type: 'ADDED', object: { a: 1 } });
  });
});

describe('a body in CBOR', () => {
  it('may have text strings, byte strings, definite or indefinite lengths, and tags without a meaning in JSON', () => {
    const value = { a: ['x', 1, 1.5, null, true], b: { c: 'ä' } };
    expect(decodeCbor(libraryEncoder.encode(value))).toEqual(value);
    expect(decodeCbor(Buffer.concat([CBOR_TAG, CBOR_TAG, encode(value)]))).toEqual(value);
    // A map from a text to a text with the tag of a date.
    expect(decodeCbor(hex('a1', '626162', 'c0', '6178'))).toEqual({ ab: 'x' });
  });

  it('has byte strings decoded by their tag, or else as UTF-8', () => {
    expect(decodeCbor(hex('84', 'd5', '42fbff', 'd6', '42fbff', 'd7', '42fbff', '426869'))).toEqual([
      '-_8',
      '+/8=',
      'fbff',
      'hi',
    ]);
  });

  it.each([
    ['', 'EOF'],
    ['a1', 'unexpected EOF'],
    ['0000', 'cbor: 1 bytes of extraneous data starting at index 1'],
    ['a2616101416102', 'cbor: found duplicate map key "a" at map element index 1'],
    ['a10102', 'cbor: the keys of a map must be strings'],
    ['61ff', 'cbor: invalid UTF-8 string'],
    ['f7', /simple value 23 is not recognized/],
    ['f863', /simple value 99 is not recognized/],
    ['f97e00', /NaN or infinity/],
    ['fa7f800000', /NaN or infinity/],
    ['c24101', /bignum/],
    ['9bffffffffffffffff', 'unexpected EOF'],
    ['bb0000000100000000', 'unexpected EOF'],
    ['1c', 'cbor: invalid additional information 28'],
    ['7f6161ff', 'cbor: a string must be in one piece'],
    [`${'81'.repeat(CBOR_DEPTH + 1)}00`, `cbor: exceeded max nested level ${CBOR_DEPTH}`],
    ['81'.repeat(100_000), `cbor: exceeded max nested level ${CBOR_DEPTH}`],
  ])('%.20s is refused', (text, problem) => {
    expect(problemOf(hex(text))).toMatch(problem);
  });

  it('of any bytes is a value or refused', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), bytes => {
        expect(problemOf(bytes)).toMatch(/^(?:none|EOF|unexpected EOF|cbor: .*)$/);
      }),
      { numRuns: 5000 },
    );
  });

  it('of more bytes than an object may have is refused with 413', () => {
    const text = (bytes: number) =>
      Buffer.concat([hex('5a', bytes.toString(16).padStart(8, '0')), Buffer.alloc(bytes)]);
    expect(decodeCbor(text(CBOR_BYTES - 5))).toHaveLength(CBOR_BYTES - 5);
    expect(() => decodeCbor(text(CBOR_BYTES))).toThrow(expect.objectContaining({ reason: 'RequestEntityTooLarge' }));
  });

  it('cannot reach a prototype', () => {
    const value = decodeCbor(encode(JSON.parse('{"__proto__":{"x":1},"constructor":1}'))) as object;
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor']);
  });
});
