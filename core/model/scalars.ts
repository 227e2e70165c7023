import type { Json } from './object.js';

/** The mark of texts of one form. No value has it: it keeps texts of different forms apart when types are checked. */
declare const form: unique symbol;

/** A text of which decoding makes sure that it has a form. Other texts are made one with `as`. */
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

/** A number or a text, as ports and percentages. */
export type IntOrString = number | string;

/** An integer of 64 bits: a bigint if it is not safe as a number. */
export type Int64 = number | bigint;

/** A text that is one of these if its object is valid. Decoding accepts any. */
export type OneOf<Values extends string> = Values | (string & {});

/** A value whose form the kind does not say. */
export type Untyped = Json;

/** The integer as a number, which may be rounded if it is beyond 2^53. */
export const toNumber = (integer: Int64 | undefined | null): number | undefined =>
  integer === undefined || integer === null ? undefined : Number(integer);
