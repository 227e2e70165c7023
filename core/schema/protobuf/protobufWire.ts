import type { Json, JsonObject } from '../../model/object.js';
import type { Embedded, Field, Struct } from '../model.js';

/* Constants and functions that the protobuf encoder and decoder share. */

/** The first bytes of every protobuf body. */
export const MAGIC: Uint8Array = Uint8Array.of(0x6b, 0x38, 0x73, 0x00);

/** A field on the wire: a member of the struct, or an embedded message with some of its members. */
export type Entry = { readonly number: number } & ({ readonly field: Field } | { readonly nested: readonly Entry[] });

const plans = new WeakMap<Struct, readonly Entry[]>();

function toEntries(fields: readonly { field: Field; embedded: Embedded | undefined }[]): Entry[] {
  const entries: Entry[] = [];
  const groups = new Map<number, { field: Field; embedded: Embedded | undefined }[]>();
  for (const { field, embedded } of fields) {
    if (!embedded) {
      if (field.number > 0) entries.push({ number: field.number, field });
      continue;
    }
    const group = groups.get(embedded.number) ?? [];
    group.push({ field, embedded: embedded.inner });
    groups.set(embedded.number, group);
  }
  for (const [number, group] of groups) entries.push({ number, nested: toEntries(group) });
  return entries.sort((a, b) => a.number - b.number);
}

/** The wire fields of a struct, sorted by number. Cached. */
export function wireEntries(struct: Struct): readonly Entry[] {
  let plan = plans.get(struct);
  if (!plan) {
    plan = toEntries(struct.fields.map(field => ({ field, embedded: field.inlinedFrom })));
    plans.set(struct, plan);
  }
  return plan;
}

/** Wire type of integers and booleans. */
export const VARINT = 0;
/** Wire type of doubles. */
export const DOUBLE = 1;
/** Wire type of texts, bytes and messages. */
export const BYTES = 2;

/** Whether a value is a JSON object. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
/** An own member of an object; undefined for other values. */
export const ownMember = (value: unknown, key: string): Json | undefined =>
  isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
