import { describe, expect, it } from 'vitest';
import { appSources, neededBy, sourcesIn } from './files.js';

/** The files that each file imports. */
type Graph = ReadonlyMap<string, readonly string[]>;

/** Cycles of files that import each other, directly or indirectly. Each cycle is listed once. */
function circlesIn(graph: Graph): string[] {
  const circles: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, way: readonly string[]): void => {
    const at = way.indexOf(file);
    if (at >= 0) circles.push([...way.slice(at), file].join(' → '));
    if (at >= 0 || done.has(file)) return;
    for (const next of graph.get(file) ?? []) visit(next, [...way, file]);
    done.add(file);
  };
  for (const file of graph.keys()) visit(file, []);
  return circles;
}

describe('imports', () => {
  it('have no cycles', () => {
    const sources = [...sourcesIn('core', 'workers', 'plugins'), ...appSources()];
    expect(circlesIn(new Map(sources.map(({ path, needs }) => [path, needs])))).toEqual([]);
  });

  it('are found in cycles of any length', () => {
    const graph = new Map(
      Object.entries({ a: ['b'], b: ['c', 'd'], c: ['a'], d: ['d', 'e'], e: [] as string[], f: ['a'] }),
    );
    expect(circlesIn(graph)).toEqual(['a → b → c → a', 'd → d']);
  });

  it('include those of types, but not dynamic imports', () => {
    const text = `
import { a, type B } from './b.js';
import type { C } from './c.js';
import {
  d,
} from '../d.js';
import './e.js';
export * from './f.js';
export type { G } from './g.js';
const later = import('./h.js');
const more = import('./h.js').then(use);
let i: import('./i.js').I;
let j: typeof import('./j.js');
`;
    expect(neededBy('core/x/a.ts', text)).toEqual([
      'core/x/b.ts',
      'core/x/c.ts',
      'core/d.ts',
      'core/x/e.ts',
      'core/x/f.ts',
      'core/x/g.ts',
      'core/x/i.ts',
      'core/x/j.ts',
    ]);
  });
});
