/** A recursive Partial: some of the members of a type, and of the types of its members. */
type Part<T> = T extends (...parameters: never[]) => unknown
  ? T
  : T extends object
    ? { readonly [Member in keyof T]?: Part<T[Member]> }
    : T;

/** A test double: it has only those members of a type that the code under test uses. */
export const partly = <T>(members: Part<T>): T => members as T;

/** Returns a JSON value that must be a string. Throws otherwise. */
export function textOf(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError(`expected a text, not ${JSON.stringify(value)}`);
  return value;
}
