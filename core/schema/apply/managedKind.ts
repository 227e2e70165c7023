import type { Json } from '../../model/object.js';
import type { FieldSet } from './fieldSet.js';
import type { Shape } from './shape.js';

/** A version of a kind. */
export interface KindVersion {
  readonly shape: Shape;
  /** Converts an object from any version of the kind to this one. */
  convert(object: Json): Json;
}

/** The kind of the written object. */
export interface ManagedKind {
  /** The version of the request. All arguments and results are in this version. */
  readonly apiVersion: string;
  /** A version by name; undefined if it is no longer served. Managers of such versions lose their fields. */
  version(apiVersion: string): KindVersion | undefined;
  /** An object of the kind without content. */
  readonly empty: Json;
  /**
   * The fields of a set that the write can change: not the status in a main write, only the status in a status write.
   */
  writable(set: FieldSet): FieldSet;
}
