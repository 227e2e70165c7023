/** Regular expressions, in linear time, by RE2's rules. */
import { RE2JS } from 're2js';
import { declare } from '../declarations.js';
import type { Library } from '../environment.js';
import type { Meter } from '../meter.js';
import { ArrayList, fail, type Int, type Value } from '../values.js';

interface Compiled {
  readonly pattern: RE2JS;
  readonly size: number;
}

/** Patterns compiled lately; the text of one is bounded, so the cache is. */
const cache = new Map<string, Compiled>();
const CACHE_ENTRIES = 200;

/** Compiles a pattern; `undefined` when malformed. */
export function compileRegex(text: string): Compiled | undefined {
  const known = cache.get(text);
  if (known) return known;
  if (text.length > 10_000) return undefined;
  try {
    const pattern = RE2JS.compile(text);
    const made = { pattern, size: pattern.programSize() };
    if (cache.size >= CACHE_ENTRIES) cache.delete(cache.keys().next().value!);
    cache.set(text, made);
    return made;
  } catch {
    return undefined;
  }
}

/**
 * Charges upstream's price, or the program's real size where that is more. `where` stands before the error of a
 * malformed pattern.
 */
function ready(text: string, pattern: string, meter: Meter, where = ''): RE2JS {
  meter.traverse(pattern.length);
  const compiled = compileRegex(pattern) ?? fail(`${where}error parsing regexp`);
  meter.charge(Math.ceil((1 + text.length) * 0.1) * Math.ceil(Math.max(pattern.length, compiled.size) * 0.25));
  return compiled.pattern;
}

/** Whether the pattern is found anywhere in the text. */
export function matchRegex(text: string, pattern: string, meter: Meter): boolean {
  return ready(text, pattern, meter).matcher(text).find();
}

/** How `find` and `findAll` begin the error of a pattern that is not constant. */
const ILLEGAL = 'Illegal regex: ';

function findAll(text: string, pattern: string, limit: number, meter: Meter): ArrayList {
  const out: Value[] = [];
  const matcher = ready(text, pattern, meter, ILLEGAL).matcher(text);
  let last = -1;
  while (out.length < limit && matcher.find()) {
    meter.charge(1);
    // As Go: an empty match right after a match does not count.
    if (matcher.start() === matcher.end() && matcher.end() === last) continue;
    last = matcher.end();
    out.push(matcher.group() ?? '');
  }
  return new ArrayList(out);
}

/** `find` and `findAll`. */
export const REGEX: Library = {
  name: 'regex',
  functions: [
    declare('string.find(string): string', (text, pattern, _c, meter) => {
      const matcher = ready(text as string, pattern as string, meter, ILLEGAL).matcher(text as string);
      return matcher.find() ? (matcher.group() ?? '') : '';
    }),
    declare('string.findAll(string): list(string)', (text, pattern, _c, meter) =>
      findAll(text as string, pattern as string, Number.POSITIVE_INFINITY, meter),
    ),
    declare('string.findAll(string, int): list(string)', (text, pattern, limit, meter) =>
      findAll(
        text as string,
        pattern as string,
        (limit as Int) < 0 ? Number.POSITIVE_INFINITY : Number(limit as Int),
        meter,
      ),
    ),
  ],
};
