import type { Type } from '../check/types.js';
import type { Value } from '../evaluate/values.js';

/** A schema prepared for expressions: its type, the conversion of data to values, and its size limits. */
export interface SchemaType {
  readonly type: Type;
  /** Converts decoded data to a value of the type. Throws `CelError` for data that the schema forbids. */
  readonly view: (data: unknown) => Value;
  /** The largest number of characters, items or entries; 0 for types without a size, as in upstream's estimates. */
  readonly maxSize: number;
  /** The length of the shortest JSON that the schema allows, in bytes. */
  readonly minBytes: number;
  readonly items?: SchemaType;
  readonly fields?: ReadonlyMap<string, SchemaType>;
}
