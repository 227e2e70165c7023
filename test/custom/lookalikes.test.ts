import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Answer, Api } from '../api/support.js';
import { lookalikes } from './lookalikes/index.js';
import { serve, WAYS } from './ways.js';
import { MERGE } from '../support/mediaTypes.js';
import { listOf, causesIn, rowsIn } from '../api/support.js';

/* Definitions with the features of widely used ones. The expectations were compared with upstream. */

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

async function conditionsOf(api: Api, name: string): Promise<readonly string[]> {
  const { status } = (await api.get(`${CRDS}/${name}`)).body as unknown as {
    status: { conditions: readonly { type: string; status: string }[] | null };
  };
  return (status.conditions ?? []).map(({ type, status }) => `${type}=${status}`);
}

const causesOf = ({ body }: Answer): string[] => causesIn(body).map(({ field, message }) => `${field}: ${message}`);

test('definitions of reserved groups show their approval, others do not', async () => {
  const api = await serve('a definition', lookalikes());
  const approved = 'KubernetesAPIApprovalPolicyConformant=True';
  for (const { metadata, spec } of lookalikes())
    expect([spec.group, (await conditionsOf(api, metadata.name)).includes(approved)]).toEqual([
      spec.group,
      spec.group.endsWith('.k8s.io'),
    ]);
  await api.close();
});

describe.each(WAYS)('the kinds of widely used definitions, given by %s', way => {
  let api: Api;
  beforeAll(async () => {
    api = await serve(way, lookalikes());
  });
  afterAll(() => api?.close());

  test('every kind is in the OpenAPI document of its group version, and in the common one', async () => {
    const all = (await api.get('/openapi/v2')).text;
    for (const { spec } of lookalikes())
      for (const { name } of spec.versions) {
        const type = `${spec.group.split('.').reverse().join('.')}.${name}.${spec.names.kind}`;
        expect((await api.get(`/openapi/v3/apis/${spec.group}/${name}`)).text).toContain(`"${type}":`);
        expect(all).toContain(`"${type}":`);
      }
  });

  describe('gateways', () => {
    const GROUP = 'gateway.networking.k8s.io';
    const classes = `/apis/${GROUP}/v1/gatewayclasses`;
    const at = (plural: string, version = 'v1') => `/apis/${GROUP}/${version}/namespaces/default/${plural}`;
    const thing = (kind: string, name: string, spec: object): object => ({
      apiVersion: `${GROUP}/v1`,
      kind,
      metadata: { name },
      spec,
    });

    test('have the default status from the start, and again when it is removed', async () => {
      const waiting = [{ type: 'Accepted', status: 'Unknown', reason: 'Pending' }];
      const made = await api.made(classes, thing('GatewayClass', 'a', { controllerName: 'example.com/a' }));
      expect(made['status']!['conditions']).toMatchObject(waiting);
      expect((await api.get(`${classes}/a`)).body['status']!['conditions']).toMatchObject(waiting);
      expect((await api.patch(`${classes}/a/status`, MERGE, { status: { conditions: [] } })).status).toBe(200);
      const { body } = await api.patch(`${classes}/a/status`, MERGE, { status: null });
      expect(body['status']!['conditions']).toMatchObject(waiting);
      const changed = await api.patch(`${classes}/a`, MERGE, { spec: { controllerName: 'example.com/b' } });
      expect(causesOf(changed)).toEqual(['spec.controllerName: Invalid value: "string": Value is immutable']);
    });

    test('have defaults in lists of lists, in each version', async () => {
      const made = await api.made(
        at('httproutes'),
        thing('HTTPRoute', 'a', { rules: [{ backendRefs: [{ name: 's', port: 80 }] }] }),
      );
      const spec = {
        rules: [
          {
            matches: [{ path: { type: 'PathPrefix', value: '/' } }],
            backendRefs: [{ group: '', kind: 'Service', name: 's', port: 80, weight: 1 }],
          },
        ],
      };
      expect(made['spec']).toEqual(spec);
      expect((await api.get(`${at('httproutes', 'v1beta1')}/a`)).body).toMatchObject({
        apiVersion: `${GROUP}/v1beta1`,
        spec,
      });
    });

    test('are refused by their rules', async () => {
      const filters = [
        { type: 'URLRewrite' },
        { type: 'RequestRedirect', requestRedirect: { path: { type: 'ReplaceFullPath' } } },
      ];
      const matches = [{ path: { type: 'Exact', value: '/a//b' } }];
      const route = thing('HTTPRoute', 'b', { rules: [{ matches, filters, backendRefs: [{ name: 's' }] }] });
      expect(causesOf(await api.post(at('httproutes'), route)).sort()).toEqual([
        'spec.rules[0].backendRefs[0]: Invalid value: "object": Must have port for Service reference',
        'spec.rules[0].filters: Invalid value: "array": May specify either requestRedirect or urlRewrite, but not both',
        'spec.rules[0].filters[0]: Invalid value: "object": filter.urlRewrite must be specified for URLRewrite filter.type',
        'spec.rules[0].filters[1].requestRedirect.path: Invalid value: "object": ' +
          "replaceFullPath must be specified when type is set to 'ReplaceFullPath'",
        'spec.rules[0].matches[0].path: Invalid value: "object": ' +
          "must not contain '//' when type one of ['Exact', 'PathPrefix']",
        'spec.rules[0]: Invalid value: "object": RequestRedirect filter must not be used together with backendRefs',
      ]);
      const listeners = [
        { name: 'a', port: 80, protocol: 'HTTP', tls: { options: { a: 'b' } } },
        { name: 'a', port: 80, protocol: 'HTTP' },
      ];
      const gateway = thing('Gateway', 'b', { gatewayClassName: 'a', listeners });
      expect(causesOf(await api.post(at('gateways'), gateway)).sort()).toEqual([
        'spec.listeners: Invalid value: "array": Combination of port, protocol and hostname must be unique for each listener',
        'spec.listeners: Invalid value: "array": Listener name must be unique within the Gateway',
        'spec.listeners: Invalid value: "array": ' + "tls must not be specified for protocols ['HTTP', 'TCP', 'UDP']",
        'spec.listeners[1]: Duplicate value: map[string]interface {}{"name":"a"}',
      ]);
    });
  });

  describe('compositions', () => {
    const path = '/apis/apiextensions.crossplane.io/v1/compositions';
    const composition = (input: object): object => ({
      apiVersion: 'apiextensions.crossplane.io/v1',
      kind: 'Composition',
      metadata: { name: 'a' },
      spec: {
        compositeTypeRef: { apiVersion: 'v1', kind: 'X' },
        pipeline: [{ step: 'one', functionRef: { name: 'f' }, input }],
      },
    });

    test('keep everything in embedded objects but unknown metadata', async () => {
      const input = { apiVersion: 'v1', kind: 'In', metadata: { labels: { a: 'b' }, junk: 1 }, deep: [{ a: null }] };
      const answer = await api.post(path, composition(input));
      expect(answer.headers['warning']).toBe('299 - "unknown field \\"spec.pipeline[0].input.metadata.junk\\""');
      expect(listOf(answer.body['spec']!['pipeline'])[0]!['input']).toEqual({
        ...input,
        metadata: { labels: { a: 'b' } },
      });
      const patched = await api.patch(`${path}/a`, MERGE, {
        spec: {
          pipeline: [{ step: 'one', functionRef: { name: 'f' }, input: { ...input, deep: [{ a: null, b: 1 }] } }],
        },
      });
      // A merge patch removes nulls, in lists too.
      expect(listOf(patched.body['spec']!['pipeline'])[0]!['input']).toMatchObject({
        deep: [{ b: 1 }],
      });
    });

    test('name the embedded object that cannot be read', async () => {
      const read = async (input: object) => (await api.post(path, composition(input))).body['message'];
      const prefix = 'Composition in version "v1" cannot be handled as a Composition: spec.pipeline[0].input';
      expect(await read({ apiVersion: 5, kind: 'A' })).toBe(`${prefix}.apiVersion: Invalid value: 5: must be a string`);
      expect(await read({ apiVersion: 'v1', kind: 'A', metadata: { labels: { a: 5 } } })).toBe(
        `${prefix}.metadata: Invalid value: map[string]interface {}{"labels":map[string]interface {}{"a":5}}: ` +
          'json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string',
      );
    });
  });

  test('issuers and certificates are created, shown in Tables and found by their fields', async () => {
    const GROUP = 'cert-manager.io';
    const path = `/apis/${GROUP}/v1/namespaces/default/certificates`;
    const certificate = { apiVersion: `${GROUP}/v1`, kind: 'Certificate', metadata: { name: 'a' } };
    await api.made(path, {
      ...certificate,
      spec: { secretName: 's', issuerRef: { name: 'i' }, dnsNames: ['a.example'] },
    });
    const condition = {
      type: 'Ready',
      status: 'True',
      reason: 'A',
      message: 'up',
      lastTransitionTime: '2024-01-02T03:04:05Z',
    };
    expect((await api.patch(`${path}/a/status`, MERGE, { status: { conditions: [condition] } })).status).toBe(200);
    const wrong = await api.patch(`${path}/a/status`, MERGE, {
      status: { conditions: [{ ...condition, reason: '/' }] },
    });
    expect(causesOf(wrong)).toEqual([
      'status.conditions[0].reason: Invalid value: "/": conditions[0].reason in body should match ' +
        "'^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$'",
    ]);
    const accept = 'application/json;as=Table;g=meta.k8s.io;v=v1';
    const table = await api.get(`${path}?fieldSelector=spec.secretName%3Ds`, { accept });
    const rows = rowsIn(table.body);
    expect(rows.map(({ cells }) => cells.slice(0, 5))).toEqual([['a', 'True', 's', 'i', 'up']]);
  });
});
