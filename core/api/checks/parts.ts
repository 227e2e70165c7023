/**
 * The required members of a value: each has the name of a type, or a test with a description of the values that it
 * accepts.
 */
type Members = { readonly [name: string]: 'function' | 'string' | 'object' | readonly [is: Test, what: string] };
type Test = (value: unknown) => boolean;

/** A list with any items. */
export const LIST = [Array.isArray, 'a list'] as const;

/** A time for which something may be cached: milliseconds, or one of these words. */
export const timeOr = (...words: readonly string[]): readonly [is: Test, what: string] => [
  value => (typeof value === 'number' ? value >= 0 : words.includes(value as string)),
  `${words.join(', ')} or a number of milliseconds`,
];

/**
 * A test of the values that plugins contribute to a point, for plugins in JavaScript: it throws TypeError that names
 * the first member that is missing or wrong.
 */
export const requireMembers = (members: Members): ((value: unknown) => void) => {
  const all = Object.entries(members);
  return value => {
    for (const [name, expected] of all) {
      const member = (value as { readonly [name: string]: unknown } | null | undefined)?.[name];
      const [is, what] =
        typeof expected === 'string'
          ? [member !== null && typeof member === expected, `${expected === 'object' ? 'an' : 'a'} ${expected}`]
          : [expected[0](member), expected[1]];
      if (!is) throw new TypeError(`the member ${name} must be ${what}`);
    }
  };
};
