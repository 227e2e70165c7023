import type { Time } from '../../model/scalars.js';
import assert from 'node:assert/strict';
import type { ResourceSource, ResourceType } from '../../api/resource.js';
import type { Strategy, StrategyContext } from '../../api/strategy.js';
import type { Awaitable } from '../../api/point.js';
import { showCell } from '../../model/age.js';
import type { ApiObject, Json } from '../../model/object.js';
import { namingOf } from '../../naming.js';
import { checkTypes } from '../../plugin/load/checkTypes.js';
import { resourcesOf } from '../../schema/custom/kind.js';
import type { Resource } from '../../schema/resource.js';
import { type ConformanceTest, suite, type SuiteBuilder } from '../suite.js';
import { checkViolation } from './admission.js';
import { frozenCopy, user, withoutMembers } from './samples.js';

const CONTEXT: StrategyContext = {
  now: '2030-01-01T00:00:00Z' as Time,
  user: user('tess'),
  dryRun: false,
  lookup: () => undefined,
  list: () => [],
  warn: () => undefined,
};
const NOW = Date.parse(CONTEXT.now);

/** An object of a kind, and the fields of the violations that it must have; absent: it is valid. */
export interface ResourceSample {
  readonly object: ApiObject;
  /** The current object, for an update; absent: the object is created. */
  readonly old?: ApiObject;
  readonly fields?: readonly string[];
}

/** Defaults, preparation and validation of a write, in the order of the server. */
function write(strategy: Strategy, object: ApiObject, old: ApiObject | undefined) {
  const draft = structuredClone(object);
  const current = old && frozenCopy(old);
  strategy.applyDefaults(draft);
  if (current) strategy.prepareUpdate(draft, current, CONTEXT);
  else strategy.prepareCreate(draft, CONTEXT);
  strategy.applyDefaults(draft);
  const after = frozenCopy(draft);
  const violations = current
    ? strategy.validateUpdate(after, current, CONTEXT)
    : strategy.validateCreate(after, CONTEXT);
  return { after, violations };
}

function checkReads(strategy: Strategy, object: ApiObject): void {
  for (const [field, read] of strategy.selectableFields)
    assert.equal(typeof read(object), 'string', `the selectable field ${field} must be a text`);
  for (const { name, cell } of strategy.columns ?? []) {
    const value = showCell(cell(object), NOW);
    assert.ok(value === null || typeof value !== 'object', `the column ${name} must not be an object`);
    assert.notEqual(value, undefined, `the column ${name} must be null if there is no value`);
  }
  for (const claim of strategy.claims?.(object) ?? []) assert.equal(typeof claim, 'string', 'claims must be texts');
}

/** Tests a strategy with objects. `read` decodes an object as the server does. */
export function testStrategy(
  { it }: SuiteBuilder,
  make: () => Awaitable<Strategy>,
  samples: readonly ResourceSample[],
  read: (object: ApiObject) => ApiObject | Promise<ApiObject> = object => object,
): void {
  const loaded = async (): Promise<Strategy> => {
    const strategy = await make();
    await strategy.load?.();
    return strategy;
  };

  it('finds the expected violations, each time, and does not modify current objects', async () => {
    const strategy = await loaded();
    for (let i = 0; i < 2; i++)
      for (const { object, old, fields = [] } of samples) {
        const { violations } = write(strategy, await read(object), old && (await read(old)));
        for (const violation of violations) checkViolation(violation);
        assert.deepEqual(violations.map(({ field }) => field).sort(), fields.toSorted());
      }
  });

  it('sets no further default when it is called again', async () => {
    const strategy = await loaded();
    for (const { object } of samples) {
      const draft = structuredClone(await read(object));
      strategy.applyDefaults(draft);
      const again = structuredClone(draft);
      strategy.applyDefaults(again);
      assert.deepEqual(again, draft);
    }
  });

  it('leaves objects that are JSON', async () => {
    const strategy = await loaded();
    for (const { object, old } of samples) {
      const { after } = write(strategy, await read(object), old && (await read(old)));
      assert.deepEqual(JSON.parse(JSON.stringify(after)), after, 'must be JSON, without undefined members');
    }
  });

  it('reads cells, selectable fields and claims of frozen objects', async () => {
    const strategy = await loaded();
    for (const { object, old, fields } of samples)
      if (!fields?.length) checkReads(strategy, write(strategy, await read(object), old && (await read(old))).after);
  });

  it('does not fail for objects that lack members', async () => {
    const strategy = await loaded();
    for (const { object, old } of samples)
      for (const less of withoutMembers(object)) {
        const { after, violations } = write(strategy, await read(less), old && (await read(old)));
        if (violations.length === 0) checkReads(strategy, after);
      }
  });
}

/** A resource type under test. */
export interface ResourceTypeCase {
  /** Makes it; called for each test. */
  make(): Awaitable<ResourceType>;
  /** Objects of any of its versions. */
  readonly samples: readonly ResourceSample[];
}

/** The resource of the version of an object, or the first. */
const versionOf = (resources: readonly Resource[], apiVersion?: string): Resource =>
  resources.find(one => one.apiVersion === apiVersion) ?? resources[0]!;

/** Returns a type without its functions. */
const plain = (type: ResourceType): unknown => JSON.parse(JSON.stringify(type));

/**
 * Returns the tests that every resource type must pass.
 *
 * @example
 * const samples = [{ object: order }, { object: { ...order, spec: {} }, fields: ['spec.tea'] }];
 * for (const { name, run } of resourceTypeConformance({ make: () => orders, samples })) test(name, run);
 */
export function resourceTypeConformance({ make, samples }: ResourceTypeCase): readonly ConformanceTest[] {
  return suite(builder => {
    const { it } = builder;

    it('is the same in every thread', async () => assert.deepEqual(plain(await make()), plain(await make())));

    it('has names, versions and schemas that can be served', async () => {
      await checkTypes([await make()], namingOf('neutral'));
    });

    it('has samples of versions that it serves, without unknown fields', async () => {
      const resources = resourcesOf(await make());
      for (const { object } of samples) {
        const { apiVersion, custom } = versionOf(resources, object.apiVersion);
        const unknown: string[] = [];
        custom?.decode(object as unknown as { readonly [member: string]: Json }, unknown);
        assert.deepEqual([object.apiVersion, ...unknown], [apiVersion]);
      }
    });

    testStrategy(
      builder,
      async () => versionOf(resourcesOf(await make()), samples[0]?.object.apiVersion).strategy,
      samples,
      async object => {
        const { custom } = versionOf(resourcesOf(await make()), object.apiVersion);
        return custom!.decode(object as unknown as { readonly [member: string]: Json }, []);
      },
    );
  });
}

/** A source of resource types under test. */
export interface ResourceSourceCase {
  /** Makes one; called for each test. */
  make(): Awaitable<ResourceSource>;
  /** Objects, with the names of the types that they define: `orders.tea.example.com`; null: none. */
  readonly objects: readonly { readonly object: ApiObject; readonly defines: string | null }[];
}

/**
 * Returns the tests that every source of resource types must pass.
 *
 * @example
 * const objects = [{ object: menu, defines: 'orders.tea.example.com' }];
 * for (const { name, run } of resourceSourceConformance({ make: () => menus, objects })) test(name, run);
 */
export function resourceSourceConformance({ make, objects }: ResourceSourceCase): readonly ConformanceTest[] {
  const nameOf = (type: ResourceType | undefined): string | null => (type ? `${type.plural}.${type.group}` : null);
  return suite(({ it }) => {
    it('names the resource of its objects', async () => assert.match((await make()).storageName, /^[^/]+\/[^/]+$/));

    it('defines the expected types from frozen objects, the same in every thread', async () => {
      const [one, other] = [await make(), await make()];
      for (const { object, defines } of objects) {
        const type = one.define(frozenCopy(object));
        assert.equal(nameOf(type), defines);
        assert.deepEqual(type && plain(type), (t => t && plain(t))(other.define(frozenCopy(object))));
      }
    });

    it('defines types that can be served', async () => {
      const source = await make();
      const types = objects.flatMap(({ object }) => source.define(object) ?? []);
      for (const type of types) await checkTypes([type], namingOf('neutral'));
    });

    it('does not fail for objects that lack members', async () => {
      const source = await make();
      for (const { object } of objects) for (const less of withoutMembers(object)) source.define(frozenCopy(less));
    });
  });
}
