import type { Overload } from './declarations.js';
import type { ObjectType, Type } from './types.js';

/** Name resolution for the checker. */
export interface Scope {
  readonly container: string;
  resolveVariable(name: string): { name: string; type: Type } | undefined;
  resolveFunction(name: string): { name: string; overloads: readonly Overload[] } | undefined;
  member(name: string): { overloads: readonly Overload[] } | undefined;
  resolveMessage(name: string): ObjectType | undefined;
}
