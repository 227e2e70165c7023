import type { StructuralSchema } from '../../api/resource.js';
import type { Compiled } from '../../cel/index.js';
import { propertyOf, valuesOf } from './prune.js';

/** One name of a field path; `key`: of a map's member. */
export interface PathName {
  readonly name: string;
  readonly key: boolean;
}

const PART = /\.([A-Za-z_][A-Za-z0-9_-]*|[A-Za-z0-9_-]+)|\['((?:\\.|[^'\\])*)'\]/y;

/** The names of a rule's `fieldPath` (`.a.b`, `.m['k']`), undefined for a path that leads to nothing in the schema. */
export function fieldPathNames(path: string, schema: StructuralSchema): PathName[] | undefined {
  const names: PathName[] = [];
  let at = 0;
  let here: StructuralSchema | undefined = schema;
  while (at < path.length) {
    PART.lastIndex = at;
    const found = PART.exec(path);
    if (!found || !here) return undefined;
    at = PART.lastIndex;
    const name = found[1] ?? found[2]!.replace(/\\(.)/g, '$1');
    const property: StructuralSchema | undefined = propertyOf(here, name);
    names.push({ name, key: !property });
    here = property ?? valuesOf(here);
    if (!here) return undefined;
  }
  return names.length > 0 ? names : undefined;
}

/** What compiles expressions. */
export interface Compiler {
  compile(text: string): Compiled;
}

/** Compiles a rule; it uses the old value exactly if it does not compile without. */
export function compiledRule(
  without: Compiler,
  withOld: Compiler,
  text: string,
): { compiled: Compiled; usesOld: boolean } {
  const plain = without.compile(text);
  if (plain.program) return { compiled: plain, usesOld: false };
  const full = withOld.compile(text);
  return full.program ? { compiled: full, usesOld: true } : { compiled: full, usesOld: false };
}
