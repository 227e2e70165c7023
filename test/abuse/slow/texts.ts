/** Repeated parts of a text. Each reveals one mistake: an expression or loop that starts again at every character. */
const UNITS: readonly string[] = [
  ...' \t\n\r,.;:/\\-_+*=%&|!?#@$~^<>()[]{}"\'`aAbz019é\u2028\u0000',
  ...[
    '😀',
    'a.',
    'a-',
    'a/',
    'a,',
    'a=',
    '0.',
    '1,',
    ' a',
    'a ',
    '..',
    '../',
    '::',
    ':0',
    '1h',
    '1s',
    '%4',
    '%41',
    '[]',
  ],
  ...["['", '$(', '(a', '[a', '{a', '!a', 'a b,', '\\"', '-----BEGIN A-----\n', '-----BEGIN CERTIFICATE-----\n'],
];

/** Text after the repetition: most slow searches are slow because they find no match. */
const ENDS: readonly string[] = ['', '!', 'x', '\n', '.', "'"];

/** The prefixes of a valid value up to each of its separators, so that checks reach its later parts. */
function beginnings(value: string): string[] {
  const ends = Array.from(value, (char, i) => (/[a-zA-Z0-9]/.test(char) ? 0 : i + 1)).filter(end => end > 0);
  return [...new Set(['', ...ends.slice(0, 8).map(end => value.slice(0, end)), value])];
}

/** A form of a text: `unit` is repeated between `begin` and `end`. */
export interface Form {
  readonly begin: string;
  readonly unit: string;
  readonly end: string;
}

/** The text of a form with a length of about `bytes` bytes. */
export function textOf({ begin, unit, end }: Form, bytes: number): string {
  return begin + unit.repeat(Math.ceil(bytes / Buffer.byteLength(unit))) + end;
}

/** All forms for a place with a valid value. */
function formsFor(value: string): Form[] {
  const begins = beginnings(value);
  return UNITS.flatMap(unit => ENDS.flatMap(end => begins.map(begin => ({ begin, unit, end }))));
}

/** A sequence of numbers below 1 that a seed determines (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The number of forms that are tried in each place, chosen by the seed; `all` takes hours. */
const FORMS = process.env['CAPSTAN_SLOW_FORMS'] ?? '1';
export const IS_LONG = process.env['CAPSTAN_SLOW_FORMS'] !== undefined;
export const SEED = Number(process.env['CAPSTAN_SLOW_SEED'] ?? 1);

/** The forms that are tried for a place with a valid value. */
export function chosenForms(value: string, random: () => number): readonly Form[] {
  const forms = formsFor(value);
  if (FORMS === 'all') return forms;
  return Array.from({ length: Number(FORMS) }, () => forms[Math.floor(random() * forms.length)]!);
}
