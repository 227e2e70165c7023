import { describe, expect, it } from 'vitest';
import { defineResource } from '../../core/api/resource/defineResource.js';
import type { CustomStrategy, StructuralSchema } from '../../core/api/resource.js';
import type { ApiObject } from '../../core/model/object.js';
import { invalid } from '../../core/model/refusal.js';
import { namingOf } from '../../core/naming.js';
import { checkJson, checkTypes } from '../../core/plugin/load/checkTypes.js';
import { resourcesOf } from '../../core/schema/custom/kind.js';
import type { Resource } from '../../core/schema/resource.js';
import { contextWith } from '../kinds/helpers.js';

const NAMES = { group: 'tea.example.com', kind: 'Order', plural: 'orders', scope: 'Namespaced' } as const;
const spec = (properties: StructuralSchema['properties']): StructuralSchema => ({
  type: 'object',
  properties: { spec: { type: 'object', properties } },
});
const TEA = spec({ tea: { type: 'string', enum: ['assam', 'sencha'] } });

const resourceOf = (strategy: CustomStrategy, schema = TEA): Resource =>
  resourcesOf(defineResource({ ...NAMES, schema, strategy }))[0]!;

const order = (members: object, apiVersion = 'tea.example.com/v1'): ApiObject => ({
  apiVersion,
  kind: 'Order',
  metadata: { name: 'x' },
  spec: members,
});

describe('the strategy of a custom type', () => {
  it('checks the names of embedded objects that have one as path segments', () => {
    const embedded = {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
    };
    const { strategy } = resourceOf({}, spec({ inner: embedded as StructuralSchema }));
    const inner = (metadata: object): object => ({ inner: { apiVersion: 'v1', kind: 'Pod', metadata } });
    const fieldsOf = (metadata: object): string[] =>
      strategy
        .validateCreate(order(inner(metadata)), contextWith())
        .map(({ field, message }) => `${field}: ${message}`);
    expect(fieldsOf({ name: '..' })).toEqual([`spec.inner.metadata.name: Invalid value: "..": may not be '..'`]);
    expect(fieldsOf({ namespace: 'A_' })[0]).toContain('spec.inner.metadata.namespace: Invalid value');
    expect(fieldsOf({})).toEqual([]);
  });

  it('describes a column without a description by its path, as upstream does', () => {
    const schema = { ...NAMES, schema: TEA, columns: [{ name: 'A', type: 'string', jsonPath: '.spec.tea' }] } as const;
    expect(
      resourcesOf(defineResource(schema))[0]!.strategy.columns?.find(({ name }) => name === 'A')?.description,
    ).toBe('Custom resource definition column (in JSONPath format): .spec.tea');
  });

  it('adds its violations to those of the schema, which come first', () => {
    const { strategy } = resourceOf({
      validateCreate: object => [invalid('spec.tea', object.spec, 'is sold out')],
      validateUpdate: (_object, old) => [invalid('spec', old.spec, 'was served')],
      validateStatus: () => [invalid('status', 1, 'is not yours')],
    });
    const fields = (found: readonly { field: string }[]) => found.map(({ field }) => field);
    const context = contextWith();
    expect(fields(strategy.validateCreate(order({ tea: 'assam' }), context))).toEqual(['spec.tea']);
    expect(fields(strategy.validateUpdate(order({}), order({}), context))).toEqual(['spec']);
    expect(fields(strategy.validateStatus(order({}), order({}), context))).toEqual(['status']);
  });

  it('is not called for objects that violate the schema', () => {
    const { strategy } = resourceOf({
      validateCreate: () => {
        throw new Error('asked about an object of another shape');
      },
    });
    expect(strategy.validateCreate(order({ tea: 'milk' }), contextWith())).toMatchObject([{ field: 'spec.tea' }]);
  });

  it('prepares a write of the status after the metadata was restored', () => {
    const { strategy } = resourceOf({
      prepareStatus: object => {
        object.metadata.annotations = { seen: String(object.metadata.labels?.['a']) };
      },
    });
    const written = { ...order({}), metadata: { name: 'x', labels: { a: 'new' } } };
    strategy.prepareStatus(written, { ...order({}), metadata: { name: 'x', labels: { a: 'old' } } }, contextWith());
    expect(written.metadata).toEqual({ name: 'x', labels: { a: 'old' }, annotations: { seen: 'old' } });
  });

  it('validates only the status in a write of the status, with paths that begin at it', () => {
    const short = { type: 'string', maxLength: 2, pattern: '^a' };
    const schema: StructuralSchema = {
      type: 'object',
      required: ['spec'],
      properties: { spec: { type: 'object' }, status: { type: 'object', required: ['b'], properties: { a: short } } },
    };
    const { strategy } = resourceOf({}, schema);
    const written = { ...order({}), spec: undefined, status: { a: 1 } };
    const found = strategy.validateStatus(written, order({}), contextWith());
    expect(found.map(({ field, message }) => `${field}: ${message}`)).toEqual([
      'status.b: Required value',
      'status.a: Invalid value: "integer": a in body must be of type string: "integer"',
    ]);
  });

  it('does not report duplicates in an update of an object that already had some', () => {
    const tags: StructuralSchema = { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } };
    const { strategy } = resourceOf({}, spec({ tags }));
    const fields = (...parameters: Parameters<typeof strategy.validateUpdate>) =>
      strategy.validateUpdate(...parameters).map(({ field }) => field);
    const twice = order({ tags: ['a', 'a'] });
    expect(fields(twice, order({ tags: ['a'] }), contextWith())).toEqual(['spec.tags[1]']);
    expect(fields(order({ tags: ['b', 'b'] }), twice, contextWith())).toEqual([]);
  });

  it('sets the default of the status, which a create removes, again', () => {
    const status: StructuralSchema = {
      type: 'object',
      default: {},
      properties: { phase: { type: 'string', default: 'New' } },
    };
    const type = defineResource({
      ...NAMES,
      schema: { type: 'object', properties: { status } },
      subresources: { status: {} },
    });
    const created = order({});
    resourcesOf(type)[0]!.strategy.prepareCreate(created, contextWith());
    expect(created.status).toEqual({ phase: 'New' });
  });

  it('validates names of embedded objects, but not in a write of the status', () => {
    const embedded: StructuralSchema = {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
    };
    const { strategy } = resourceOf({}, { type: 'object', properties: { spec: embedded, status: embedded } });
    const wrong = { apiVersion: '', kind: 'A_b' };
    const found = strategy.validateCreate({ ...order(wrong) }, contextWith());
    expect(found.map(({ field, message }) => `${field}: ${message}`)).toEqual([
      'spec.apiVersion: Invalid value: "": must not be empty',
      expect.stringMatching(/^spec.kind: Invalid value: "A_b": may have mixed case, but should otherwise match/),
    ]);
    expect(strategy.validateStatus({ ...order({}), status: wrong }, order({}), contextWith())).toEqual([]);
  });

  it('replaces the columns of the schema and adds selectable fields to those of the schema', () => {
    const schema = { ...TEA };
    const type = defineResource({
      ...NAMES,
      schema,
      selectableFields: ['.spec.tea'],
      strategy: { allowUnconditionalUpdate: true, selectableFields: new Map([['strong', () => 'yes']]), columns: [] },
    });
    const { strategy } = resourcesOf(type)[0]!;
    expect(strategy.allowUnconditionalUpdate).toBe(true);
    expect([...strategy.selectableFields.keys()]).toEqual(['spec.tea', 'strong']);
    expect(strategy.columns).toEqual([]);
    expect(strategy.hasGeneration).toBe(true);
  });

  it('waits until modules of the strategy and the schema are loaded', async () => {
    let loaded = false;
    const patterned = spec({ tea: { type: 'string', pattern: '^a' } });
    const { strategy } = resourceOf({ load: async () => void (loaded = true) }, patterned);
    await strategy.load!();
    expect(loaded).toBe(true);
    expect(strategy.validateCreate(order({ tea: 'b' }), contextWith())).toMatchObject([{ field: 'spec.tea' }]);
  });
});

describe('versions that are converted in code', () => {
  const type = defineResource({
    ...NAMES,
    versions: [
      { name: 'v2', schema: spec({ cups: { type: 'integer', default: 1 } }), storage: true },
      { name: 'v1', schema: spec({ amount: { type: 'string' }, note: { type: 'string', default: 'none' } }) },
    ],
    strategy: {
      convert: (object, apiVersion) => {
        const { cups, amount } = object.spec as { cups?: number; amount?: string };
        return {
          ...object,
          apiVersion,
          spec: apiVersion.endsWith('/v2')
            ? { cups: Number(amount), foreign: 1 }
            : { amount: String(cups), foreign: 1 },
        };
      },
    },
  });
  const [v2, v1] = resourcesOf(type) as [Resource, Resource];

  it('shows a stored object in another version, according to its schema', () => {
    const stored = order({ cups: 3 }, 'tea.example.com/v2');
    expect(v1.custom!.read(stored)).toEqual(order({ amount: '3', note: 'none' }));
    expect(v2.custom!.read(stored)).toEqual(stored);
    expect(stored.spec).toEqual({ cups: 3 });
  });

  it('stores objects written in another version', () => {
    expect(v1.strategy.convert!(order({ amount: '4', note: 'hot' }), v1.storageApiVersion)).toEqual(
      order({ cups: 4 }, 'tea.example.com/v2'),
    );
  });
});

describe('a type that cannot be served', () => {
  const findings = async (...types: Parameters<typeof checkTypes>[0]): Promise<string> => {
    try {
      await checkTypes(types, namingOf('kubernetes'));
      return '';
    } catch (error) {
      return (error as Error).message;
    }
  };
  const typeWith = (strategy: object) => defineResource({ ...NAMES, strategy });

  it('must not repeat its definition in its strategy', async () => {
    expect(await findings(typeWith({ hasStatus: true, scale: {} }))).toBe(
      'resources[orders.tea.example.com]: strategy.hasStatus: Forbidden: give subresources.status to the versions ' +
        'that have a status; strategy.scale: Forbidden: give subresources.scale to the versions that can be scaled',
    );
    expect(await findings(typeWith({ subresources: new Map([['status', () => order({})]]) }))).toContain(
      'strategy.subresources: Forbidden: status is given by the subresources of the versions',
    );
    expect(await findings(typeWith({ subresources: new Map([['A/b', () => order({})]]) }))).toContain(
      'strategy.subresources: Invalid value: "A/b"',
    );
  });

  it('must not have the name of another type or a built-in kind', async () => {
    const plain = defineResource(NAMES);
    expect(await findings(plain, defineResource({ ...NAMES, kind: 'Wish' }))).toBe(
      'resources[orders.tea.example.com]: names: Forbidden: tea.example.com/orders is the name of another type',
    );
    expect(await findings(defineResource({ ...NAMES, group: 'networking.k8s.io', plural: 'ingresses' }))).toContain(
      'networking.k8s.io/ingresses is the name of another type',
    );
    expect(await findings(plain)).toBe('');
  });

  it.each([
    [
      { selectableFields: ['.spec.nope'] },
      'versions[v1].selectableFields[0]: Invalid value: ".spec.nope": is an invalid path: does not refer to a valid field',
    ],
    [
      { selectableFields: ['spec.cups'] },
      'versions[v1].selectableFields[0]: Invalid value: "spec.cups": is an invalid',
    ],
    [
      { selectableFields: ['.spec'] },
      'versions[v1].selectableFields[0]: Invalid value: ".spec": must point to a field of',
    ],
    [{ columns: [{ name: 'A', type: 'text', jsonPath: '.spec.cups' }] }, 'versions[v1].columns[0].type: Invalid value'],
    [
      { columns: [{ name: 'A', type: 'integer', jsonPath: 'spec.cups' }] },
      'must be a simple json path starting with .',
    ],
    [
      { subresources: { scale: { specReplicasPath: '.cups', statusReplicasPath: '.status.cups' } } },
      'versions[v1].subresources.scale.specReplicasPath: Invalid value: ".cups": should be a json path under .spec',
    ],
  ])('must not select, show or scale fields that do not exist (%#)', async (members, message) => {
    const schema = {
      type: 'object',
      properties: { spec: { type: 'object', properties: { cups: { type: 'integer' } } } },
    } as const;
    expect(await findings(defineResource({ ...NAMES, schema, ...members }))).toContain(message);
    const valid = {
      selectableFields: ['.spec.cups'],
      columns: [{ name: 'A', type: 'integer', jsonPath: '.spec.cups' }],
    };
    expect(await findings(defineResource({ ...NAMES, schema, ...valid }))).toBe('');
  });

  it('must not have functions if it is sent as JSON', () => {
    expect(() => checkJson([typeWith({})])).toThrow(
      'resources[orders.tea.example.com].strategy: functions cannot be sent to other threads: contribute the type with ' +
        'resourceType.of(() => type) in a plugin',
    );
  });
});
