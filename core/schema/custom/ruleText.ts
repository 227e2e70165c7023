import type { StructuralSchema } from '../../api/resource.js';
import type { Compiled } from '../../cel/index.js';
import { propertySchema, additionalSchema } from './prune.js';

/** A name in a field path. `isKey`: it is the key of a map. */
export interface PathElement {
  readonly name: string;
  readonly isKey: boolean;
}

const PART = /\.([A-Za-z_][A-Za-z0-9_-]*|[A-Za-z0-9_-]+)|\['((?:\\.|[^'\\])*)'\]/y;

/** The names in a rule's `fieldPath` (`.a.b`, `.m['k']`); undefined if the schema has no such field. */
export function fieldPathNames(path: string, schema: StructuralSchema): PathElement[] | undefined {
  const names: PathElement[] = [];
  let at = 0;
  let current: StructuralSchema | undefined = schema;
  while (at < path.length) {
    PART.lastIndex = at;
    const found = PART.exec(path);
    if (!found || !current) return undefined;
    at = PART.lastIndex;
    const name = found[1] ?? found[2]!.replace(/\\(.)/g, '$1');
    const property: StructuralSchema | undefined = propertySchema(current, name);
    names.push({ name, isKey: !property });
    current = property ?? additionalSchema(current);
    if (!current) return undefined;
  }
  return names.length > 0 ? names : undefined;
}

/** A CEL environment. */
export interface Compiler {
  compile(text: string): Compiled;
}

/**
 * Compiles a rule, first without `oldSelf` and then, if that fails, with it. `usesOldSelf`: only the latter succeeds.
 */
export function compileRule(
  withoutOldSelf: Compiler,
  withOldSelf: Compiler,
  text: string,
): { compiled: Compiled; usesOldSelf: boolean } {
  const compiled = withoutOldSelf.compile(text);
  if (compiled.program) return { compiled, usesOldSelf: false };
  const compiledWithOld = withOldSelf.compile(text);
  return compiledWithOld.program
    ? { compiled: compiledWithOld, usesOldSelf: true }
    : { compiled: compiledWithOld, usesOldSelf: false };
}
