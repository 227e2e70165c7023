import type { Json } from './object.js';

/** The brand of strings of one form. It exists only in types, where it tells strings of different forms apart. */
declare const form: unique symbol;

/** A string whose form is guaranteed by decoding. Other strings are converted with `as`. */
type Text<Form extends string> = string & { readonly [form]: Form };

/** An amount in its canonical form, such as `100m` or `2Gi`. */
export type Quantity = Text<'Quantity'>;

/** A time in RFC 3339, in UTC and whole seconds. */
export type Time = Text<'Time'>;

/** A time in RFC 3339, in UTC and microseconds. */
export type MicroTime = Text<'MicroTime'>;

/** A duration as Go writes it, such as `1m30s`. */
export type Duration = Text<'Duration'>;

/** Bytes in base64 (RFC 4648, section 4). */
export type Bytes = Text<'Bytes'>;

/** A number or a text, such as a port or a percentage. */
export type IntOrString = number | string;

/** An integer of 64 bits: a bigint if it is not safe as a number. */
export type Int64 = number | bigint;

/** One of these strings if the object is valid. Decoding accepts any string. */
export type OneOf<Values extends string> = Values | (string & {});

/** A value whose form the kind does not define. */
export type Untyped = Json;

/** The integer as a number, which may be rounded if it is beyond 2^53. */
export const toNumber = (integer: Int64 | undefined | null): number | undefined =>
  integer === undefined || integer === null ? undefined : Number(integer);
