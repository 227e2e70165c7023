import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Api, type Loose } from '../api/support.js';

const APPLY = 'application/apply-patch+yaml';
const GROUP = 'cups.example.com';

/** The schema of a list and a map with these markers; '' omits a marker. */
const schemaOf = (list: string, map: string) => ({
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        list: { type: 'array', items: { type: 'string' }, ...(list ? { 'x-kubernetes-list-type': list } : {}) },
        map: {
          type: 'object',
          additionalProperties: { type: 'string' },
          ...(map ? { 'x-kubernetes-map-type': map } : {}),
        },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        day: { type: 'string', format: 'date' },
        bytes: { type: 'string', format: 'byte' },
        port: { 'x-kubernetes-int-or-string': true },
      },
    },
  },
});

describe.each(['kubernetes', 'neutral'] as const)('apply to custom resources, %s names', naming => {
  let api: Api;
  const crds = `/apis/apiextensions.${naming === 'neutral' ? 'orchestrator' : 'k8s'}.io/v1/customresourcedefinitions`;
  const crd = `${crds}/cups.${GROUP}`;
  const cups = `/apis/${GROUP}/v1/namespaces/default/cups`;

  beforeAll(async () => {
    api = await Api.start({ naming });
    await api.made(crds, {
      metadata: { name: `cups.${GROUP}` },
      spec: {
        group: GROUP,
        scope: 'Namespaced',
        names: { plural: 'cups', kind: 'Cup' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schemaOf('', '') } }],
      },
    });
    await api.until(async () => (await api.get(cups)).status === 200);
  });
  afterAll(() => api?.close());

  const apply = (manager: string, name: string, spec: object) =>
    api.patch(`${cups}/${name}?fieldManager=${manager}`, APPLY, {
      apiVersion: `${GROUP}/v1`,
      kind: 'Cup',
      metadata: { name },
      spec,
    });
  const owned = (body: Loose, manager: string): unknown =>
    (body['metadata']!['managedFields'] as unknown as { manager: string; fieldsV1: unknown }[]).find(
      entry => entry.manager === manager,
    )?.fieldsV1;
  const mark = async (list: string, map: string): Promise<void> => {
    const change = [{ op: 'replace', path: '/spec/versions/0/schema/openAPIV3Schema', value: schemaOf(list, map) }];
    expect((await api.patch(crd, 'application/json-patch+json', change)).status).toBe(200);
  };

  it('refuses nulls that the schema does not allow, although other writes drop them', async () => {
    const refused = await apply('one', 'nulls', { list: null });
    expect([refused.status, refused.body['message']]).toEqual([
      422,
      expect.stringContaining('spec.list in body must be of type array: "null"'),
    ]);
    const made = await api.made(cups, {
      apiVersion: `${GROUP}/v1`,
      kind: 'Cup',
      metadata: { name: 'n' },
      spec: { list: null },
    });
    expect(made['spec']).toEqual({});
  });

  it('owns members without schema separately, and lists as a whole [R096, R097]', async () => {
    await mark('', '');
    const { status, body } = await apply('one', 'plain', { list: ['x'], free: { a: { b: 1 } } });
    expect(status).toBe(201);
    expect(owned(body, 'one')).toEqual({ 'f:spec': { 'f:list': {}, 'f:free': { 'f:a': { '.': {}, 'f:b': {} } } } });
    expect((await apply('two', 'plain', { list: ['y'] })).status).toBe(409);
    expect((await apply('two', 'plain', { free: { a: { c: 2 } } })).status).toBe(200);
  });

  it('leaves the type of strings with a format, and of int-or-string values, to validation', async () => {
    expect((await apply('one', 'formats', { day: '2030-01-02', bytes: 'aGk=', port: 1 })).status).toBe(201);
    const causes = async (spec: object) => {
      const { status, body } = await apply('one', 'formats', spec);
      const found = body['details']?.['causes'] as { field: string }[] | undefined;
      return [status, found?.map(({ field }) => field)];
    };
    expect(await causes({ day: 5 })).toEqual([422, ['spec.day']]);
    expect(await causes({ port: { a: 1 } })).toEqual([422, ['spec.port']]);
    expect(await causes({ bytes: 5 })).toEqual([422, undefined]);
    expect(await causes({ free: 5 })).toEqual([422, undefined]);
    const { status, body } = await apply('two', 'formats', { day: 5, port: {} });
    expect([status, body['message']]).toEqual([409, expect.stringContaining('2 conflicts')]);
  });

  it('makes owners of elements owners of the whole if a list or map becomes atomic [R098]', async () => {
    await mark('set', 'granular');
    expect((await apply('one', 'shrink', { list: ['x'], map: { x: '1' } })).status).toBe(201);
    expect((await apply('two', 'shrink', { list: ['y'], map: { y: '2' } })).status).toBe(200);
    await mark('atomic', 'atomic');
    expect((await apply('three', 'shrink', { list: ['z'], map: { z: '3' } })).status).toBe(409);
  });

  it('allows later changes if a list or map becomes granular [R099]', async () => {
    await mark('atomic', 'atomic');
    expect((await apply('one', 'grow', { list: ['x'], map: { x: '1' } })).status).toBe(201);
    await mark('set', 'granular');
    expect((await apply('two', 'grow', { list: ['x', 'y'], map: { x: '2', y: '2' } })).status).toBe(200);
  });
});
