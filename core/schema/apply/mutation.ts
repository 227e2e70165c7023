import type { Json } from '../../model/object.js';
import { isMembers } from '../patch/members.js';
import { expectedForms, readConfiguration } from './applied.js';
import { merge } from './merge.js';
import { memberShape, type Shape } from './shape.js';

/** Thrown for a configuration that cannot be merged, with upstream's text. */
class UnmergeableConfiguration extends Error {}

/** The paths of values in a configuration that would be replaced as a whole. */
function atomicPaths(shape: Shape, value: Json, path: string): string[] {
  if (Array.isArray(value) && shape.list) {
    const { atomic, of } = shape.list;
    return [...(atomic ? [path] : []), ...value.flatMap((item, i) => atomicPaths(of, item, `${path}[${i}]`))];
  }
  if (!isMembers(value) || !shape.map) return [];
  const { map } = shape;
  const below = Object.entries(value).flatMap(([name, inner]) => {
    const of = map.members.has(name) ? memberShape(map, name) : undefined;
    return of ? atomicPaths(of, inner, `${path}.${name}`) : [];
  });
  return [...(map.atomic ? [path] : []), ...below];
}

/** Upstream's errors for null values, which a configuration must not contain. */
function nullErrors(shape: Shape, value: Json, path: string): string[] {
  if (value === null) return [`${path}: expected ${expectedForms(shape)}, got &{NULL_VALUE}`];
  if (Array.isArray(value) && shape.list) {
    const { of } = shape.list;
    return value.flatMap((item, i) => nullErrors(of, item, `${path}[${i}]`));
  }
  if (!isMembers(value) || !shape.map) return [];
  const { map } = shape;
  return Object.entries(value).flatMap(([name, inner]) => {
    const of = memberShape(map, name);
    return of ? nullErrors(of, inner, `${path}.${name}`) : [];
  });
}

const GOT = ', got ';

/** Returns the error with its scalar in upstream's form. */
function shownScalar(error: string): string {
  const [before = '', ...after] = error.split(GOT);
  const value = after.join(GOT);
  return value === '' || value.startsWith('&') ? error : `${before}${GOT}&value.valueUnstructured{Value:${value}}`;
}

/**
 * Merges the configuration of a mutation into an object, without any ownership. Throws UnmergeableConfiguration for one
 * that does not fit the schema, and for one that sets atomic values, since members that it does not name would be lost.
 */
export function mergeConfiguration(shape: Shape, object: Json, configuration: Json): Json {
  const errors = [...readConfiguration(shape, configuration).errors, ...nullErrors(shape, configuration, '')];
  if (errors.length > 0)
    throw new UnmergeableConfiguration(
      `failed to convert patch object to typed object: ${errors.length === 1 ? shownScalar(errors[0]!) : ['errors:', ...errors.map(error => `  ${shownScalar(error)}`)].join('\n')}`,
    );
  const atomics = atomicPaths(shape, configuration, '');
  if (atomics.length > 0)
    throw new UnmergeableConfiguration(
      `invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${atomics.join(', ')}`,
    );
  return merge(shape, object, configuration)!;
}
