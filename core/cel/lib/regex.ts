/** Regular expressions with RE2's syntax and linear run time. */
import { RE2JS } from 're2js';
import { declare } from '../check/declarations.js';
import type { Library } from '../library.js';
import type { Meter } from '../cost/meter.js';
import { ArrayList, fail, type Int, type Value } from '../evaluate/values.js';

interface CompiledRegex {
  readonly pattern: RE2JS;
  readonly size: number;
}

/** Compiled patterns; the length of a pattern and the number of entries are bounded. */
const cache = new Map<string, CompiledRegex>();
/** Beyond it the oldest pattern is dropped: expressions have few, but data can contain any number. */
const CACHE_ENTRIES = 200;

/** Compiles a pattern, cached. Returns `undefined` if it is malformed or longer than 10,000 characters. */
export function compileRegex(text: string): CompiledRegex | undefined {
  const known = cache.get(text);
  if (known) return known;
  if (text.length > 10_000) return undefined;
  try {
    const pattern = RE2JS.compile(text);
    const compiled = { pattern, size: pattern.programSize() };
    if (cache.size >= CACHE_ENTRIES) cache.delete(cache.keys().next().value!);
    cache.set(text, compiled);
    return compiled;
  } catch {
    return undefined;
  }
}

/**
 * Compiles a pattern and charges upstream's cost of a match, or more if the compiled program is larger. Throws
 * `CelError` for a malformed pattern, with `where` before the message.
 */
function compileCharged(text: string, pattern: string, meter: Meter, where = ''): RE2JS {
  meter.traverse(pattern.length);
  const compiled = compileRegex(pattern) ?? fail(`${where}error parsing regexp`);
  meter.charge(Math.ceil((1 + text.length) * 0.1) * Math.ceil(Math.max(pattern.length, compiled.size) * 0.25));
  return compiled.pattern;
}

/** Whether the pattern is found anywhere in the text. */
export function matchRegex(text: string, pattern: string, meter: Meter): boolean {
  return compileCharged(text, pattern, meter).matcher(text).find();
}

/** The prefix of the error of `find` and `findAll` for a malformed pattern that is not constant. */
const ILLEGAL_REGEX = 'Illegal regex: ';

function findAll(text: string, pattern: string, limit: number, meter: Meter): ArrayList {
  const out: Value[] = [];
  const matcher = compileCharged(text, pattern, meter, ILLEGAL_REGEX).matcher(text);
  let last = -1;
  while (out.length < limit && matcher.find()) {
    meter.charge(1);
    // An empty match right after a match is ignored, as in Go.
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
      const matcher = compileCharged(text as string, pattern as string, meter, ILLEGAL_REGEX).matcher(text as string);
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
