import type { StructuralSchema } from '../../api/resource.js';
import { propertySchema } from './prune.js';

/** A name in a field path. `isKey`: it is the key of a map. */
export interface PathElement {
  readonly name: string;
  readonly isKey: boolean;
}

/** The result of looking up a field path: the path with the schema of its field, or the reason why it was not found. */
export type FieldPath =
  | { readonly names: readonly PathElement[]; readonly schema: StructuralSchema | undefined }
  | { readonly error: string };

/** A delimiter, a quoted name, or a plain name. */
const TOKEN = /[.[\]]|'(?:[^'\\]|\\.)*'|[^.[\]]+/gs;
const NOT_FOUND = 'does not refer to a valid field';
const UNEXPECTED_END = 'unexpected end of JSON path';

/** Thrown for a path that is not in the schema. */
class InvalidFieldPath extends Error {}

function refuse(message: string): never {
  throw new InvalidFieldPath(message);
}

/**
 * Finds a path (`.a.b`, `.m['k']`) in a schema, with upstream's messages for paths that do not exist. `brackets`: names
 * in brackets are allowed.
 */
export function findFieldPath(path: string, schema: StructuralSchema | undefined, brackets = true): FieldPath {
  try {
    return walkPath(path.match(TOKEN) ?? [], schema, brackets);
  } catch (error) {
    if (error instanceof InvalidFieldPath) return { error: error.message };
    throw error;
  }
}

function walkPath(tokens: readonly string[], schema: StructuralSchema | undefined, brackets: boolean): FieldPath {
  const names: PathElement[] = [];
  let current = schema;
  let at = 0;
  const next = (): string => tokens[at++] ?? refuse(UNEXPECTED_END);
  while (at < tokens.length) {
    const token = next();
    if (token !== '.' && token !== '[') refuse(`expected [ or . but got: ${token}`);
    if (token === '[' && !brackets) refuse('array notation is not allowed');
    const name = token === '.' ? next() : quotedName(next());
    // Without properties, the name is a key of a map, whose schema is that of its values.
    const isKey = !current?.properties;
    if (isKey && current?.additionalProperties === undefined) refuse(NOT_FOUND);
    names.push({ name, isKey });
    if (isKey) current = typeof current!.additionalProperties === 'object' ? current!.additionalProperties : undefined;
    else current = propertySchema(current!, name) ?? refuse(NOT_FOUND);
    if (token === '[') {
      const end = next();
      if (end !== ']') refuse(`expected ] but got ${end}`);
    }
  }
  return { names, schema: current };
}

function quotedName(token: string): string {
  if (!/^'.*'$/s.test(token) || token.length < 2) refuse(`expected single quoted string but got ${token}`);
  return token.slice(1, -1).replace(/\\(.)/gs, '$1');
}
