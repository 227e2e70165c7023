import { describe, expect, it } from 'vitest';
import { sourcesIn } from './files.js';

/** By file, the files that it loads. */
type Graph = ReadonlyMap<string, readonly string[]>;

/** Files that load each other, directly or through others; each circle once, as the way around it. */
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

describe('imports at run time', () => {
  it('have no circles', () => {
    const sources = sourcesIn('core', 'workers', 'plugins');
    expect(circlesIn(new Map(sources.map(({ path, loads }) => [path, loads])))).toEqual([]);
  });

  it('are found in circles of any length', () => {
    const graph = new Map(
      Object.entries({ a: ['b'], b: ['c', 'd'], c: ['a'], d: ['d', 'e'], e: [] as string[], f: ['a'] }),
    );
    expect(circlesIn(graph)).toEqual(['a → b → c → a', 'd → d']);
  });

  it('are those of statements that load a value, and not of types', () => {
    const loads = new Map(sourcesIn('test/tidy').map(source => [source.path, source.loads]));
    expect(loads.get('test/tidy/circles.test.ts')).toEqual(['vitest', 'test/tidy/files.ts']);
    const types = sourcesIn('workers/pipeline').find(({ path }) => path.endsWith('/status.ts'))!;
    expect(types.imports.length).toBeGreaterThan(0);
    expect(types.loads).toEqual([]);
  });
});
