import { describe, expect, it } from 'vitest';
import { sourcesIn } from './files.js';

/** The floors, from low to high, by the beginnings of the paths on them. The first entry that matches counts. */
const FLOORS: readonly (readonly [floor: number, paths: RegExp])[] = [
  [0, /^core\/(model\/|runtime\/|naming\.ts|limits\.ts)/],
  [1, /^core\/api\//],
  [4, /^core\/(server|command|testing)\/|^core\/index\.ts/],
  [2, /^core\//],
  [3, /^(workers|plugins)\//],
];

const floorOf = (path: string): number | undefined => FLOORS.find(([, paths]) => paths.test(path))?.[0];

/** Folders that share a floor without importing from each other: plugins, and the folder of each thread. */
const apartOf = (path: string): string | undefined => /^(plugins|workers\/[^/]+)\//.exec(path)?.[1];

/** Folders whose code imports from the project only functions for texts, which import nothing themselves. */
const INDEPENDENT = ['core/cel/'];
const TEXTS = /^core\/model\/text\/(quote|trailing)\.ts$/;

/** True if a file may import another, also for types. */
function mayImport(from: string, name: string): boolean {
  const [own, other] = [floorOf(from), floorOf(name)];
  if (own === undefined || other === undefined) return true;
  if (TEXTS.test(from)) return false;
  if (INDEPENDENT.some(folder => from.startsWith(folder) && !name.startsWith(folder))) return TEXTS.test(name);
  return other < own || (other === own && apartOf(name) === apartOf(from));
}

describe('imports', () => {
  it('go to the same or a lower floor', () => {
    const upward = sourcesIn('core', 'workers', 'plugins').flatMap(({ path, imports }) =>
      imports.filter(name => !mayImport(path, name)).map(name => `${path} imports ${name}`),
    );
    expect(upward).toEqual([]);
  });

  it('that go up, or to a separate folder on the same floor, are reported', () => {
    expect(mayImport('core/schema/registry/live.ts', 'core/server/start.ts')).toBe(false);
    expect(mayImport('core/api/point.ts', 'core/schema/registry/live.ts')).toBe(false);
    expect(mayImport('workers/front/main.ts', 'workers/writer/main.ts')).toBe(false);
    expect(mayImport('plugins/health/ping.ts', 'workers/front/main.ts')).toBe(false);
    expect(mayImport('core/cel/cost/meter.ts', 'core/model/object.ts')).toBe(false);
    expect(mayImport('core/cel/lib/format.ts', 'core/model/text/quote.ts')).toBe(true);
    expect(mayImport('core/model/text/quote.ts', 'core/model/object.ts')).toBe(false);
    expect(mayImport('core/server/start.ts', 'workers/front/main.ts')).toBe(true);
    expect(mayImport('workers/front/main.ts', 'core/api/point.ts')).toBe(true);
  });
});
