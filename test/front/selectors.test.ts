import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SELECTOR_CHARACTERS, SELECTOR_KEYS, SELECTOR_REQUIREMENTS, SELECTOR_VALUES } from '../../core/limits.js';
import { matcherOf, type Requirement } from '../../core/model/selectors/selector.js';
import { registryOf } from '../kinds/builtIn.js';
import { parseRoute } from '../../core/request/route.js';
import { withSelectors } from '../../core/request/selectors.js';
import { parseFieldSelector, parseLabelSelector } from '../../core/model/selectors/selectorSyntax.js';

const LABEL =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

test.each([
  ['a in (', "found '', expected: ',', ')' or identifier"],
  ['a in ((b))', "found '(', expected: ',', ')' or identifier"],
  ['a in (b,', "found '', expected: ',', or identifier"],
  ['a in (,(', "found '(', expected: ',', or identifier"],
  ['a in (b c)', "found 'c', expected: ',' or ')'"],
  ['a in b', "found 'b' expected: '('"],
])('the set in %j is refused with the unexpected token', (text, why) => {
  expect(() => parseLabelSelector(text)).toThrow(`unable to parse requirement: ${why}`);
});

test.each([
  ['a in ()', ['']],
  ['a in (,)', ['']],
  ['a in (c,,b)', ['', 'b', 'c']],
  ['a in (in,notin)', ['in', 'notin']],
])('the set in %j is parsed as %j', (text, values) => {
  expect(parseLabelSelector(text)).toEqual([{ key: 'a', operator: 'in', values }]);
});

test('every invalid value of a requirement is reported, and an invalid key in one message', () => {
  expect(() => parseLabelSelector('a notin (-x,b,-y)')).toThrow(
    new RegExp(
      `^unable to parse requirement: \\[values\\[0\\]\\[a\\]: Invalid value: "-x": ${LABEL}.*, values\\[1\\]\\[a\\]: Invalid value: "-y": ${LABEL}.*\\]$`,
    ),
  );
  expect(() => parseLabelSelector('a>-b')).toThrow(
    /^unable to parse requirement: \[values\[0\]: Invalid value: "-b": for 'Gt', 'Lt' operators, the value must be an integer, values\[0\]\[a\]: .*\]$/,
  );
  expect(() => parseLabelSelector(`${'k'.repeat(64)}-`)).toThrow(
    /^unable to parse requirement: <nil>: Invalid value: "k+-": name part must be no more than 63 characters; name part must consist of/,
  );
});

const terms = (count: number, term: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => term(i)).join();

test.each([
  [
    'characters',
    SELECTOR_CHARACTERS,
    parseLabelSelector(`a in (${' '.repeat(SELECTOR_CHARACTERS - 7)})`),
    () => parseLabelSelector(`a in (${' '.repeat(SELECTOR_CHARACTERS - 6)})`),
  ],
  [
    'requirements',
    SELECTOR_REQUIREMENTS,
    parseLabelSelector(terms(SELECTOR_REQUIREMENTS, () => 'a')),
    () => parseLabelSelector(terms(SELECTOR_REQUIREMENTS + 1, () => 'a')),
  ],
  [
    'different keys',
    SELECTOR_KEYS,
    parseLabelSelector(terms(SELECTOR_KEYS, i => `!k${i}`)),
    () => parseLabelSelector(terms(SELECTOR_KEYS + 1, i => `!k${i}`)),
  ],
  [
    'values',
    SELECTOR_VALUES,
    parseLabelSelector(`a in (${terms(SELECTOR_VALUES, i => `v${i}`)})`),
    () => parseLabelSelector(`a in (${terms(SELECTOR_VALUES + 1, i => `v${i}`)})`),
  ],
  [
    'requirements',
    SELECTOR_REQUIREMENTS,
    parseFieldSelector(terms(SELECTOR_REQUIREMENTS, () => 'a!=b')),
    () => parseFieldSelector(terms(SELECTOR_REQUIREMENTS + 1, () => 'a!=b')),
  ],
])('the number of %s in a selector is limited: %d', (what, most, fitting, over) => {
  expect(fitting.length).toBeGreaterThan(0);
  expect(over).toThrow(`Selector is too large: it may have at most ${most} ${what}`);
});

test('equal requirements count once', () => {
  expect(parseLabelSelector('a=b,a==b,c,a=b,c')).toEqual([
    { key: 'a', operator: '=', values: ['b'] },
    { key: 'c', operator: 'exists', values: [] },
  ]);
  expect(parseFieldSelector('a=b,a==b')).toEqual([{ key: 'a', operator: '=', values: ['b'] }]);
});

/** The meaning of a requirement, implemented independently. */
function meets({ operator, values }: Requirement, value: string | undefined): boolean {
  const number = (text: string | undefined): bigint | undefined =>
    text !== undefined && /^-?\d+$/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text)
      ? BigInt(text)
      : undefined;
  switch (operator) {
    case '=':
    case 'in':
      return value !== undefined && values.includes(value);
    case '!=':
    case 'notin':
      return value === undefined || !values.includes(value);
    case 'exists':
      return value !== undefined;
    case '!':
      return value === undefined;
    default: {
      const [mine, than] = [number(value), number(values[0])];
      return mine !== undefined && than !== undefined && (operator === 'gt' ? mine > than : mine < than);
    }
  }
}

test('a selector matches objects that meet all requirements, with any number of requirements for one key', () => {
  const value = fc.constantFrom('', 'a', '1', '-1', '7', '9223372036854775807', '9223372036854775808');
  const requirement = fc.oneof(
    fc.record({ key: fc.constantFrom('k', 'l'), operator: fc.constantFrom('in', 'notin'), values: fc.array(value) }),
    fc.record({
      key: fc.constantFrom('k', 'l'),
      operator: fc.constantFrom('=', '!=', 'gt', 'lt'),
      values: fc.tuple(value),
    }),
    fc.record({ key: fc.constantFrom('k', 'l'), operator: fc.constantFrom('exists', '!'), values: fc.constant([]) }),
  ) as fc.Arbitrary<Requirement>;
  const labels = fc.dictionary(fc.constantFrom('k', 'l'), value);
  fc.assert(
    fc.property(fc.array(requirement, { maxLength: 4 }), labels, (selector, of) => {
      const read = (key: string): string | undefined => (Object.hasOwn(of, key) ? of[key] : undefined);
      expect(matcherOf(selector)(read)).toBe(selector.every(one => meets(one, read(one.key))));
    }),
  );
});

test('a route does not parse selectors, because it is parsed before the sender is authenticated', () => {
  const registry = registryOf('neutral');
  const route = parseRoute(registry, 'GET', '/api/v1/pods', 'labelSelector=a&fieldSelector=b%3Dc');
  expect(route.target).not.toHaveProperty('labelSelector');
  expect(route.target).not.toHaveProperty('fieldSelector');
  expect(withSelectors(route)).toMatchObject({
    labelSelector: [{ key: 'a', operator: 'exists' }],
    fieldSelector: [{ key: 'b', operator: '=', values: ['c'] }],
  });
  const unreadable = parseRoute(registry, 'GET', '/api/v1/pods', 'labelSelector=(&fieldSelector=b%3Dc');
  expect(withSelectors(unreadable)).not.toHaveProperty('labelSelector');
  const get = parseRoute(registry, 'GET', '/api/v1/nodes/n', 'labelSelector=a');
  expect(withSelectors(get)).toBe(get.target);
});
