import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEnvironment } from '../../core/cel/environment.js';
import { CALL_BUDGET } from '../../core/cel/index.js';
import { DYN } from '../../core/cel/check/types.js';
import { DEFAULT_VERSION, librariesOf, validationOf } from '../../core/cel/versions.js';
import { DEFAULTS_BYTES, JSON_PATCH_OPERATIONS, ROW_CHARACTERS } from '../../core/limits.js';
import { compilePath } from '../../core/schema/custom/jsonPath.js';
import { applyJsonPatch } from '../../core/schema/patch/jsonPatch.js';
import { Api, listOf, rowsIn } from '../api/support.js';
import { MERGE } from '../support/mediaTypes.js';

/* Small inputs that expand to large ones. Sizes are checked, not times: unbounded growth runs out of memory. */

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const GROUP = 'growth.example.com';
const OPEN = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } as const;

const definition = (plural: string, spec: object, columns: readonly object[] = []) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { plural, kind: kindOf(plural) },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
        additionalPrinterColumns: columns,
      },
    ],
  },
});
const kindOf = (plural: string): string => plural[0]!.toUpperCase() + plural.slice(1, -1);
const object = (plural: string, name: string, spec: unknown) => ({
  apiVersion: `${GROUP}/v1`,
  kind: kindOf(plural),
  metadata: { name },
  spec,
});

/** A schema of lists of ten objects, nested to `depth`. Each list has the default. */
const nested = (depth: number): object => ({
  type: 'array',
  default: Array.from({ length: 10 }, () => ({})),
  items: { type: 'object', properties: depth > 0 ? { x: nested(depth - 1) } : {} },
});
const MULTIPLIED = { type: 'object', properties: { x: nested(7) } };
/** Each item of the list gets a default of a kilobyte. */
const LONG_ITEMS = {
  type: 'object',
  properties: {
    items: {
      type: 'array',
      items: { type: 'object', properties: { text: { type: 'string', default: 'x'.repeat(1000) } } },
    },
  },
};
const emptyItems = (count: number) => ({ items: Array.from({ length: count }, () => ({})) });

describe('objects that grow when they are read or written', () => {
  let api: Api;
  beforeAll(async () => {
    api = await Api.start();
  });
  afterAll(() => api.close());

  const pathOf = (plural: string): string => `/apis/${GROUP}/v1/namespaces/default/${plural}`;

  /** Creates or replaces a definition. Resolves with the path of its objects when they are served. */
  async function define(plural: string, spec: object, columns: readonly object[] = []): Promise<string> {
    const body = definition(plural, spec, columns);
    expect((await api.post(CRDS, body)).status).toBe(201);
    await api.until(async () => (await api.get(pathOf(plural))).status === 200);
    return pathOf(plural);
  }

  /** Replaces the schema of a definition. */
  async function redefine(plural: string, spec: object): Promise<void> {
    const patch = [{ op: 'replace', path: '/spec/versions/0/schema/openAPIV3Schema/properties/spec', value: spec }];
    const answer = await api.patch(`${CRDS}/${plural}.${GROUP}`, 'application/json-patch+json', patch);
    expect(answer.status).toBe(200);
  }

  const expectGrowth = (answer: { readonly status: number; readonly text: string }, field: string): void => {
    expect(answer.status).toBe(422);
    expect(answer.text).toContain(field);
    expect(answer.text).toContain(': Too long: the defaults of the definition add more than');
  };

  test('a definition whose defaults multiply in an object without members is refused with 422', async () => {
    const body = definition('multiples', { ...MULTIPLIED, default: {} });
    expect(JSON.stringify(body).length).toBeLessThan(2000);
    expectGrowth(await api.post(CRDS, body), 'spec.validation.openAPIV3Schema');
  });

  test('objects that defaults would make too large are refused with 422, in creates, patches and applies', async () => {
    const path = await define('growths', MULTIPLIED);
    const field = 'spec.x[0].x[0].x[0]';
    expectGrowth(await api.post(path, object('growths', 'a', {})), field);
    expectGrowth(
      await api.patch(`${path}/b?fieldManager=me`, 'application/apply-patch+yaml', object('growths', 'b', {})),
      field,
    );
    expect((await api.post(path, object('growths', 'c', { x: [] }))).status).toBe(201);
    expectGrowth(await api.patch(`${path}/c`, MERGE, { spec: { x: null } }), field);
    const remove = [{ op: 'remove', path: '/spec/x' }];
    expectGrowth(await api.patch(`${path}/c`, 'application/json-patch+json', remove), field);
    expectGrowth(await api.put(`${path}/c`, object('growths', 'c', {})), field);
    expect((await api.get(`${path}/c`)).status).toBe(200);
  });

  test('stored objects that new defaults make too large are refused when they are read, and others are read', async () => {
    const path = await define('reads', OPEN);
    expect((await api.post(path, object('reads', 'large', emptyItems(2000)))).status).toBe(201);
    expect((await api.post(path, object('reads', 'small', emptyItems(2)))).status).toBe(201);
    await redefine('reads', LONG_ITEMS);
    const failing = Math.floor(DEFAULTS_BYTES / (1000 + 2 + 16));
    expectGrowth(await api.get(`${path}/large`), `spec.items[${failing}].text`);
    expectGrowth(await api.get(path), `spec.items[${failing}].text`);
    const { status, body } = await api.get(`${path}/small`);
    expect([status, listOf(body['spec']!['items']).length]).toEqual([200, 2]);
  });

  test('a list of objects that grow together beyond what is read at once is refused; a shorter one is not', async () => {
    const path = await define('lists', OPEN);
    for (let i = 0; i < 40; i++)
      expect((await api.post(path, object('lists', `list-${i}`, emptyItems(1000)))).status).toBe(201);
    await redefine('lists', LONG_ITEMS);
    expectGrowth(await api.get(path), 'text');
    expect((await api.get(`${path}?limit=10`)).status).toBe(200);
  });

  test('the cells of a row have a total size limit, also if each of them repeats the object', async () => {
    const columns = Array.from({ length: 100 }, (_, i) => ({ name: `c${i}`, type: 'string', jsonPath: '.spec' }));
    const path = await define('tables', OPEN, columns);
    const text = 'x'.repeat(100_000);
    expect((await api.post(path, object('tables', 'wide', { text }))).status).toBe(201);
    const answer = await api.get(path, { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' });
    expect([answer.status, answer.text.length]).toEqual([200, expect.any(Number)]);
    expect(answer.text.length).toBeLessThan(2 * ROW_CHARACTERS);
    const { cells } = rowsIn(answer.body)[0]!;
    expect([cells.length, cells.filter(cell => cell !== null).length]).toEqual([101, 4]);
  });

  test('aliases of a body in YAML are bounded', async () => {
    const levels = Array.from(
      { length: 9 },
      (_, i) => `  k${i + 1}: &a${i + 1} [${new Array(10).fill(`*a${i}`).join(', ')}]`,
    );
    const body = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: aliases}\ndata:\n  k0: &a0 [x]\n${levels.join('\n')}\n`;
    const { status } = await api.call('POST', '/api/v1/namespaces/default/configmaps', {
      body,
      type: 'application/yaml',
    });
    expect(status).toBe(400);
  });
});

describe('inputs that expand', () => {
  test('copies of a JSON Patch are bounded', () => {
    const copies = Array.from({ length: 40 }, () => ({ op: 'copy', from: '/a', path: '/a/-' }));
    expect(() => applyJsonPatch({ a: ['x'] }, copies, JSON_PATCH_OPERATIONS)).toThrow('accumulated size increase');
  });

  test('the path of a column finds a bounded number of values, also with unions of wildcards', () => {
    const list = Array.from({ length: 1000 }, (_, i) => i);
    expect(compilePath(`.a[${new Array(1000).fill('*').join(',')}]`)({ a: list })).toHaveLength(1000);
    expect(compilePath('.a..[*]..[*]')({ a: [list, list] })).toHaveLength(1000);
    let visited = 0;
    const counting = new Proxy(list, { get: (of, key) => (visited++, Reflect.get(of, key)) });
    compilePath(`.a[${new Array(1000).fill('*').join(',')}]`)({ a: counting });
    expect(visited).toBeLessThan(10_000);
  });

  test.each([
    ['texts', "'0123456789'"],
    ['lists', '[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]'],
  ])('%s that an expression doubles repeatedly exceed its budget', (_what, seed) => {
    const double = (level: number): string =>
      level < 11 ? `[v${level} + v${level}].map(v${level + 1}, ${double(level + 1)})[0]` : `size(v${level})`;
    const environment = createEnvironment({
      libraries: librariesOf(DEFAULT_VERSION),
      validation: validationOf(DEFAULT_VERSION),
      variables: { self: DYN },
    });
    const { program } = environment.compile(`[${seed}].map(v0, ${double(0)})[0]`);
    // Each step is charged with the size of its result, before it is made.
    expect(program!.evaluate({ self: 0n }, { budget: CALL_BUDGET })).toMatchObject({ value: 20_480 });
    expect(program!.evaluate({ self: 0n }, { budget: 1000 }).error).toContain('actual cost limit exceeded');
  });
});
