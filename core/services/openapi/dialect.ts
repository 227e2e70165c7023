/** A schema object (or another JSON object) of an OpenAPI document. */
export interface Schema {
  [member: string]: unknown;
}

/** The OpenAPI version: the two differ in references, defaults and unions of types. */
export type Dialect = 'v2' | 'v3';
