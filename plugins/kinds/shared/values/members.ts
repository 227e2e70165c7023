import type { Int64 } from '../../../../core/model/scalars.js';

/** The names of the members of `T` whose values are of the type `Value`, where they are present. */
export type MemberOf<T, Value> = {
  [Name in keyof T]-?: [NonNullable<T[Name]>] extends [Value] ? Name : never;
}[keyof T] &
  string;

/** The names of members that are texts. */
export type TextMember<T> = MemberOf<T, string>;

/** The names of members that are integers. */
export type IntegerMember<T> = MemberOf<T, Int64>;

/** An object, if there is one. */
export type Maybe<T> = T | undefined | null;

/** The text in a member; empty if there is none. */
export const textIn = <T extends object>(owner: Maybe<T>, member: TextMember<T>): string =>
  (owner?.[member] as string | undefined | null) ?? '';

/** The integer in a member; undefined if there is none. */
export const integerIn = <T extends object>(owner: Maybe<T>, member: IntegerMember<T>): Int64 | undefined =>
  (owner?.[member] as Int64 | undefined | null) ?? undefined;
