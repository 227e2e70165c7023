/** Returns an integer from 0 to `bound` - 1. It is the only source of randomness, so that a seed repeats a case. */
export type Below = (bound: number) => number;

export const pick = <T>(below: Below, values: readonly T[]): T => values[below(values.length)]!;

/** True with the probability 1 / `oneIn`. */
export const chance = (below: Below, oneIn: number): boolean => below(oneIn) === 0;

export const times = <T>(below: Below, bound: number, make: () => T): T[] => Array.from({ length: below(bound) }, make);

/** JSON tokens that cannot be written as a value: they are inserted into the text in place of `raw`. */
export const raw = (token: string): string => `@raw:${token}@`;
export const withRaw = (text: string): string =>
  text.replace(/"@raw:(.*?)@"/g, (_all, token: string) => JSON.parse(`"${token}"`) as string);

const TOKENS = [
  '1e999',
  '-1e999',
  '1e-999',
  '-0',
  '0.1',
  '1e3',
  '9223372036854775807',
  '9223372036854775808',
  '-9223372036854775809',
  '123456789012345678901234567890123456789012345678901234567890',
  'NaN',
  'Infinity',
  '0x10',
  '01',
  '+1',
  '.5',
  'nul',
  'True',
  "'single'",
  '// comment',
  '[1,]',
  '{,}',
];

/** Texts that are known to break parsers, matchers, paths or maps. */
export const TEXTS: readonly string[] = [
  '',
  ' ',
  'a',
  'A',
  '-',
  '.',
  '..',
  '/',
  '//',
  '%',
  '%00',
  '\u0000',
  '\n',
  '\r\n',
  '\ud800',
  '\u2028',
  '☃',
  '🏳️‍🌈',
  '‮',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '$ref',
  '$patch',
  '*',
  '~1',
  '~',
  '-1',
  '0',
  '1',
  '100%',
  '1e9',
  '10Mi',
  '1e400Ki',
  '99999999999999999999999',
  '2020-01-01T00:00:00Z',
  '9999-99-99T99:99:99Z',
  '0000-00-00T00:00:00.000000000000000Z',
  '10.0.0.1',
  '10.0.0.0/99',
  '::1',
  '::ffff:1.2.3.4',
  'http://[::1]:99999/',
  'true',
  'null',
  'undefined',
  'TCP',
  'Always',
  'nginx@sha256:0',
  'a=b',
  'a in (b',
  '!a,',
  'kubernetes.io/x',
  'example.com/',
  '/example',
  '(a+)+$',
  '[',
  '{{',
  '* * * * *',
  '@every 99999h',
  'has(self.x) && self.x.matches("(a+)+$")',
  'x'.repeat(64),
  'x'.repeat(254),
  'a.'.repeat(500),
  'x'.repeat(70_000),
];

const NUMBERS = [
  0,
  1,
  -1,
  2,
  65535,
  65536,
  2 ** 31 - 1,
  2 ** 31,
  -(2 ** 31) - 1,
  2 ** 53,
  -(2 ** 53),
  0.5,
  -0.5,
  1e21,
  1e308,
];

/** Sets an own member, whatever its name. */
export function withMember(object: object, name: string, value: unknown): object {
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
  return object;
}

/** A value of any type, up to a few levels deep. */
export function anything(below: Below, depth = 3): unknown {
  switch (below(depth > 0 ? 10 : 6)) {
    case 0:
      return null;
    case 1:
      return chance(below, 2);
    case 2:
      return pick(below, NUMBERS);
    case 3:
      return raw(pick(below, TOKENS));
    case 4:
    case 5:
      return pick(below, TEXTS);
    case 6:
    case 7:
      return times(below, 4, () => anything(below, depth - 1));
    default: {
      const object = {};
      for (let i = below(4); i > 0; i--) withMember(object, pick(below, TEXTS), anything(below, depth - 1));
      return object;
    }
  }
}
