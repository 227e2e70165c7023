import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  InvalidFieldSet,
  difference,
  makeElement,
  type FieldSet,
  hasPath,
  sortElements,
  intersection,
  isEmpty,
  NONE,
  subtractTrees,
  pathSet,
  pathTexts,
  parseFieldSet,
  sameFields,
  union,
  unionOf,
} from '../../core/schema/apply/fieldSet.js';

/** Sets of paths as plain lists: the model with which the operations are compared. */
const paths = fc.uniqueArray(
  fc.array(fc.constantFrom('f:a', 'f:b', 'k:{"n":"x"}', 'v:1'), { minLength: 1, maxLength: 4 }),
  {
    selector: path => path.join('/'),
    maxLength: 12,
  },
);

const setOf = (list: readonly (readonly string[])[]): FieldSet => list.map(pathSet).reduce(union, NONE);

function listOf(set: FieldSet, prefix: readonly string[] = []): string[] {
  return Object.keys(set)
    .filter(name => name !== '.')
    .flatMap(name => {
      const at = [...prefix, name];
      const rest = listOf(set[name]!, at);
      return isEmpty(set[name]!) || '.' in set[name]! ? [at.join('/'), ...rest] : rest;
    })
    .sort();
}

describe('sets of fields', () => {
  test('contain exactly the given paths, in the format fieldsV1 [R071]', () => {
    fc.assert(
      fc.property(paths, list => {
        expect(listOf(setOf(list))).toEqual(list.map(path => path.join('/')).sort());
      }),
    );
    expect(setOf([['f:data'], ['f:data', 'f:a'], ['f:data', 'f:b']])).toEqual({
      'f:data': { '.': {}, 'f:a': {}, 'f:b': {} },
    });
  });

  test('have union, intersection and difference', () => {
    fc.assert(
      fc.property(paths, paths, (a, b) => {
        const [x, y] = [a.map(path => path.join('/')), b.map(path => path.join('/'))];
        expect(listOf(union(setOf(a), setOf(b)))).toEqual([...new Set([...x, ...y])].sort());
        expect(unionOf([setOf(a), setOf(b), setOf(a)])).toEqual(union(setOf(a), setOf(b)));
        expect(listOf(intersection(setOf(a), setOf(b)))).toEqual(x.filter(path => y.includes(path)).sort());
        expect(listOf(difference(setOf(a), setOf(b)))).toEqual(x.filter(path => !y.includes(path)).sort());
        const below = (path: string): boolean => y.some(other => path === other || path.startsWith(`${other}/`));
        expect(listOf(subtractTrees(setOf(a), setOf(b)))).toEqual(x.filter(path => !below(path)).sort());
      }),
    );
  });

  test('have a canonical text', () => {
    fc.assert(
      fc.property(paths, fc.infiniteStream(fc.nat()), (list, keys) => {
        const shuffled = list.map(path => [keys.next().value ?? 0, path] as const).sort((a, b) => a[0] - b[0]);
        expect(JSON.stringify(setOf(shuffled.map(([, path]) => path)))).toBe(JSON.stringify(setOf(list)));
      }),
    );
  });

  test('report whether a path is in the set itself, and not only a path below it', () => {
    const set = setOf([['f:spec', 'f:replicas'], ['f:data']]);
    expect([
      hasPath(set, ['f:spec']),
      hasPath(set, ['f:spec', 'f:replicas']),
      hasPath(set, ['f:data']),
      hasPath(set, ['f:x']),
    ]).toEqual([false, true, true, false]);
    expect([sameFields(set, sortElements({ ...set })), sameFields(set, NONE)]).toEqual([true, false]);
    expect(makeElement(false, NONE)).toBeUndefined();
  });

  test('are printed in the form of conflicts', () => {
    const set = setOf([
      ['f:spec', 'f:ports', 'k:{"containerPort":80,"protocol":"TCP"}', 'f:name'],
      ['f:metadata', 'f:finalizers', 'v:"x"'],
      ['f:spec', 'f:replicas'],
    ]);
    expect(pathTexts(set)).toEqual([
      '.metadata.finalizers[="x"]',
      '.spec.replicas',
      '.spec.ports[containerPort=80,protocol="TCP"].name',
    ]);
  });

  test('of clients are made canonical, without unknown kinds of elements; malformed ones are refused', () => {
    expect(parseFieldSet({ 'f:z': {}, 'k:{"b": 1, "a": 2}': { '.': {} }, 'x:later': {}, 'f:a': {} })).toEqual({
      'f:a': {},
      'f:z': {},
      'k:{"a":2,"b":1}': { '.': {} },
    });
    const deep = `v:${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    for (const bad of [{ [deep]: {} }, { a: {} }, { 'k:[]': {} }, { 'k:{': {} }, { 'i:x': {} }, { 'f:a': 1 }, [], null])
      expect(() => parseFieldSet(bad)).toThrow(InvalidFieldSet);
    expect(Object.keys(parseFieldSet(JSON.parse('{"f:__proto__":{"f:a":{}}}')))).toEqual(['f:__proto__']);
  });
});
