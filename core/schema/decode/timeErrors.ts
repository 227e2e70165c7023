/**
 * Parses the beginning of a text by an element of a layout. Returns the end of the parsed part, and the name of a part
 * that is out of range.
 */
type Read = (text: string) => { readonly end: number; readonly outOfRange?: string } | undefined;

const number = (pattern: RegExp, name: string, low: number, high: number): Read => {
  return text => {
    const digits = pattern.exec(text)?.[0];
    if (digits === undefined) return undefined;
    const value = Number(digits);
    return { end: digits.length, ...(value < low || value > high ? { outOfRange: name } : {}) };
  };
};

const literal =
  (mark: string): Read =>
  text =>
    text.startsWith(mark) ? { end: mark.length } : undefined;

const matching =
  (pattern: RegExp): Read =>
  text => {
    const found = pattern.exec(text)?.[0];
    return found === undefined ? undefined : { end: found.length };
  };

function zone(text: string): ReturnType<Read> {
  const match = /^(?:Z|[-+](\d\d):(\d\d))/.exec(text);
  if (!match) return undefined;
  const [{ length: end }, hours = '0', minutes = '0'] = match;
  if (Number(hours) > 24) return { end, outOfRange: 'time zone offset hour' };
  return { end, ...(Number(minutes) > 60 ? { outOfRange: 'time zone offset minute' } : {}) };
}

const UP_TO_SECONDS: readonly (readonly [string, Read])[] = [
  ['2006', matching(/^\d{4}/)],
  ['-', literal('-')],
  ['01', number(/^\d\d/, 'month', 1, 12)],
  ['-', literal('-')],
  ['02', matching(/^\d\d/)],
  ['T', literal('T')],
  ['15', number(/^\d\d?/, 'hour', 0, 23)],
  [':', literal(':')],
  ['04', number(/^\d\d/, 'minute', 0, 59)],
  [':', literal(':')],
  ['05', number(/^\d\d/, 'second', 0, 59)],
];

const LAYOUTS = {
  '2006-01-02T15:04:05Z07:00': [...UP_TO_SECONDS, ['', matching(/^(?:[.,]\d+)?/)], ['Z07:00', zone]],
  '2006-01-02T15:04:05.000000Z07:00': [...UP_TO_SECONDS, ['.000000', matching(/^[.,]\d{6}/)], ['Z07:00', zone]],
} as const satisfies { readonly [layout: string]: readonly (readonly [string, Read])[] };

/** A layout of times, as Go writes it. */
export type TimeLayout = keyof typeof LAYOUTS;

/** The message with which Go refuses a text that is not a time of the layout; it names the first wrong element. */
export function timeError(text: string, layout: TimeLayout): string {
  const subject = `parsing time ${JSON.stringify(text)}`;
  let rest = text;
  for (const [element, read] of LAYOUTS[layout]) {
    const found = read(rest);
    if (!found)
      return `${subject} as ${JSON.stringify(layout)}: cannot parse ${JSON.stringify(rest)} as ${JSON.stringify(element)}`;
    if (found.outOfRange) return `${subject}: ${found.outOfRange} out of range`;
    rest = rest.slice(found.end);
  }
  // The remaining case is a day that its month does not have.
  return rest === '' ? `${subject}: day out of range` : `${subject}: extra text: ${JSON.stringify(rest)}`;
}
