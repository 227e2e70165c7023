import type { Overload } from './check/declarations.js';
import type { Macro } from './syntax/macros.js';
import type { ObjectType, Type } from './check/types.js';
import type { Value } from './evaluate/values.js';

/** A named group of declarations; an environment is a list of them. Neither may change once it is in use. */
export interface Library {
  readonly name: string;
  readonly functions?: readonly Overload[];
  readonly macros?: readonly (readonly [string, number, boolean, Macro])[];
  /** The type of the message literals of a name. */
  readonly messages?: (name: string) => ObjectType | undefined;
  /** Names of types that expressions may write. */
  readonly types?: readonly string[];
  readonly constants?: ReadonlyMap<string, { readonly type: Type; readonly value: Value }>;
  /** Allows `a.?b`, `a[?b]` and optional entries. */
  readonly optionalSyntax?: boolean;
  /** Allows field names in back ticks. */
  readonly quotedFields?: boolean;
}
