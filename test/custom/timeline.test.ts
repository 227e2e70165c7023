import { beforeAll, describe, expect, it, test } from 'vitest';
import { defineResource, t, type ResourceType } from '../../core/api/index.js';
import { namingOf } from '../../core/naming.js';
import { checkTypes } from '../../core/plugin/load/checkTypes.js';
import { loadEngine } from '../../core/schema/custom/engine.js';
import { resourcesOf } from '../../core/schema/custom/kind.js';
import { buildRegistry, extendRegistry } from '../../core/schema/registry/registry.js';
import type { Resource } from '../../core/schema/resource.js';
import { groupDocument } from '../../core/services/discovery/plain.js';

/* The example of the deprecation policy: one kind of a program in the releases X to X+15. */

const GROUP = 'tea.example.com';
const schema = t.object({ spec: t.object({ cups: t.integer() }) });

/** The life of each version, in releases after X. */
const LIVES: readonly { name: string; introduced: number; deprecated?: number; removed?: number; next?: string }[] = [
  { name: 'v1alpha1', introduced: 0, removed: 1 },
  { name: 'v1alpha2', introduced: 1, removed: 2 },
  { name: 'v1beta1', introduced: 2, deprecated: 3, removed: 6, next: 'v1beta2' },
  { name: 'v1beta2', introduced: 3, deprecated: 5, removed: 8, next: 'v1' },
  { name: 'v1', introduced: 5, deprecated: 12, next: 'v2' },
  { name: 'v2alpha1', introduced: 8, removed: 9 },
  { name: 'v2alpha2', introduced: 9, removed: 10 },
  { name: 'v2beta1', introduced: 10, deprecated: 11, removed: 14, next: 'v2beta2' },
  { name: 'v2beta2', introduced: 11, deprecated: 12, removed: 15, next: 'v2' },
  { name: 'v2', introduced: 12 },
];

/**
 * The rows of the spec: the versions that release X+n serves, those deprecated, the preferred one and the stored one.
 */
const TIMELINE: readonly [id: string, served: string, deprecated: string, stored: string][] = [
  ['[R433]', 'v1alpha1', '', 'v1alpha1'],
  ['[R434]', 'v1alpha2', '', 'v1alpha2'],
  ['[R435]', 'v1beta1', '', 'v1beta1'],
  ['[R436]', 'v1beta1 v1beta2', 'v1beta1', 'v1beta1'],
  ['[R437]', 'v1beta2 v1beta1', 'v1beta1', 'v1beta2'],
  ['[R438]', 'v1beta2 v1 v1beta1', 'v1beta2 v1beta1', 'v1beta2'],
  ['[R439]', 'v1 v1beta2', 'v1beta2', 'v1'],
  ['[R440]', 'v1 v1beta2', 'v1beta2', 'v1'],
  ['[R441]', 'v1 v2alpha1', '', 'v1'],
  ['[R442]', 'v1 v2alpha2', '', 'v1'],
  ['[R443]', 'v1 v2beta1', '', 'v1'],
  ['[R444]', 'v1 v2beta2 v2beta1', 'v2beta1', 'v1'],
  ['[R445]', 'v1 v2 v2beta2 v2beta1', 'v1 v2beta2 v2beta1', 'v1'],
  ['[R446]', 'v2 v1 v2beta2 v2beta1', 'v1 v2beta2 v2beta1', 'v2'],
  ['[R447]', 'v2 v1 v2beta2', 'v1 v2beta2', 'v2'],
  ['[R448]', 'v2 v1', 'v1', 'v2'],
];

/** The type as the program of release X+n defines it, where X is 1.0. It has all versions of earlier releases. */
const typeIn = (n: number, stored = TIMELINE[n]![3]): ResourceType =>
  defineResource({
    group: GROUP,
    kind: 'Order',
    plural: 'orders',
    scope: 'Namespaced',
    release: `1.${n}`,
    versions: LIVES.filter(({ introduced }) => introduced <= n).map(({ name, deprecated, removed, next }) => ({
      name,
      schema,
      storage: name === stored,
      preferred: name === stored,
      ...(deprecated === undefined ? {} : { deprecated: `1.${deprecated}` }),
      ...(removed === undefined ? {} : { removedIn: `1.${removed}` }),
      ...(next === undefined || deprecated! > n ? {} : { replacedBy: `${GROUP}/${next}` }),
    })),
  });

const resourcesIn = (n: number): readonly Resource[] => resourcesOf(typeIn(n));
const namesOf = (resources: readonly Resource[]): readonly string[] => resources.map(({ version }) => version);
const base = buildRegistry({ naming: namingOf('neutral'), strategies: () => undefined, generation: 1 });

beforeAll(loadEngine);

test.each(TIMELINE.map((row, n) => [n, ...row] as const))(
  'release X+%i serves, deprecates, prefers and stores the versions of the example %s',
  async (n, _id, served, deprecated, stored) => {
    await checkTypes([typeIn(n)], namingOf('neutral'));
    const resources = resourcesIn(n);
    const registry = extendRegistry(base, resources, 2);
    const version = (name: string) => ({ groupVersion: `${GROUP}/${name}`, version: name });
    expect(groupDocument(registry.groups.get(GROUP)!)).toMatchObject({
      versions: served.split(' ').map(version),
      preferredVersion: version(stored),
    });
    const warned = namesOf(resources.filter(({ warning }) => warning !== undefined));
    expect([...warned].sort()).toEqual(deprecated.split(' ').filter(Boolean).sort());
    expect(new Set(resources.map(one => one.storageApiVersion))).toEqual(new Set([`${GROUP}/${stored}`]));
  },
);

describe('an upgrade', () => {
  const stored = (n: number) => ({
    apiVersion: `${GROUP}/${TIMELINE[n]![3]}`,
    kind: 'Order',
    metadata: { name: 'a', namespace: 'default' },
    spec: { cups: 3 },
  });

  it('to the next release leaves all objects readable in every version, also if their own version is removed [R560]', () => {
    for (let n = 1; n < TIMELINE.length; n++)
      for (const { custom, apiVersion } of resourcesIn(n))
        expect(custom!.read(stored(n - 1))).toMatchObject({ apiVersion, spec: { cups: 3 } });
  });

  it('and back needs no conversion from the first beta version on [R387] [R388]', () => {
    for (let n = 3; n < TIMELINE.length; n++) {
      const before = resourcesIn(n - 1);
      expect(namesOf(before), `X+${n - 1}`).toContain(TIMELINE[n]![3]);
      for (const { custom, apiVersion } of before)
        expect(custom!.read(stored(n))).toMatchObject({ apiVersion, spec: { cups: 3 } });
    }
  });
});

describe('the release of a type', () => {
  const refusal = async (type: ResourceType): Promise<string> =>
    await checkTypes([type], namingOf('neutral')).then(
      () => 'accepted',
      (error: Error) => error.message,
    );

  it('must not remove the version that it stores', async () => {
    expect(await refusal(typeIn(6, 'v1beta1'))).toContain(
      'versions[v1beta1].removedIn: Forbidden: release 1.6 stores objects in this version, which 1.6 removes',
    );
  });

  it('must be a release', async () => {
    expect(await refusal({ ...typeIn(5), release: 'soon' })).toContain('release: Invalid value: "soon"');
  });

  it('has one preferred version in a group', async () => {
    const other = { ...typeIn(6), kind: 'Menu', plural: 'menus', versions: typeIn(5).versions };
    await expect(checkTypes([typeIn(6), other], namingOf('neutral'))).rejects.toThrow(
      `versions[v1beta2].preferred: Forbidden: ${GROUP} prefers v1: omit one of them`,
    );
  });

  it('may remove an alpha version that was never deprecated [R386]', async () => {
    expect(await refusal(typeIn(1))).toBe('accepted');
    expect(namesOf(resourcesIn(1))).toEqual(['v1alpha2']);
  });
});
