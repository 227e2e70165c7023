import { expect, test } from 'vitest';
import { requireLinearTime } from '../support/linear.js';
import { create, contextWith, object, strategyOf, update } from './helpers.js';

/* Bodies as large as the server accepts. */
requireLinearTime();

const MANY = 30_000;
const numbered = <T>(of: (i: number) => T): T[] => Array.from({ length: MANY }, (_, i) => of(i));
const container = { name: 'c', image: 'i' };
const podOf = (spec: object) => create('core/pods', object('Pod', { spec: { containers: [container], ...spec } }));

test.each<[string, object, readonly object[]]>([
  [
    'tolerations',
    { tolerations: numbered(i => ({ key: `k${i}`, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 1 })) },
    [],
  ],
  ['containers', { containers: numbered(i => ({ name: `c${i}`, image: 'i' })) }, []],
  ['init containers', { initContainers: numbered(i => ({ name: `c${i}`, image: 'i' })) }, []],
])('very many %s of a pod are compared in linear time', (_, spec, wrong) => {
  const { made } = podOf(spec);
  const { violations } = update('core/pods', made, draft => {
    (draft.spec as { tolerations?: object[] }).tolerations?.reverse();
  });
  expect(violations).toEqual(wrong);
});

test('very many match and mismatch label keys are compared in linear time', () => {
  const term = {
    topologyKey: 'k',
    labelSelector: {},
    matchLabelKeys: numbered(i => `a${i}`),
    mismatchLabelKeys: numbered(i => `b${i}`),
  };
  const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
  expect(podOf({ affinity }).violations).toEqual([]);
});

test('very many topology spread constraints of a pod are compared in linear time', () => {
  const constraint = { maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule', labelSelector: {} };
  const spec = { topologySpreadConstraints: numbered(i => ({ ...constraint, topologyKey: `k${i}` })) };
  expect(podOf(spec).violations).toEqual([]);
});

test.each([
  ['different', (i: number) => `f${i}`, 0],
  ['equal', () => 'f', 200],
  ['nested', (i: number) => (i === MANY - 1 ? 'f' : `f/${i}`), 200],
  ['deep', (i: number) => `${i}${'/a'.repeat(10)}`, 0],
])('very many %s paths of files of a volume are compared in linear time', (_, path, count) => {
  const items = numbered(i => ({ key: `k${i}`, path: path(i) }));
  const pod = object('Pod', {
    spec: { containers: [container], volumes: [{ name: 'v', configMap: { name: 'c', items } }] },
  });
  const warnings: string[] = [];
  create('core/pods', pod, { ...contextWith(), warn: text => void warnings.push(text) });
  expect(warnings.filter(text => text.includes('overlapping paths')).length).toBeLessThanOrEqual(count);
  expect(warnings.some(text => text.includes('overlapping paths'))).toBe(count > 0);
});

test.each([
  ['equal', () => ({ containerPort: 1 }), true],
  [
    'of different addresses',
    (i: number) => ({ containerPort: 1, hostPort: 1, hostIP: `10.0.${i >> 8}.${i & 255}` }),
    false,
  ],
  ['of different ports of the host', (i: number) => ({ containerPort: 1, hostPort: i + 1 }), false],
])('very many ports of a container, %s, are compared in linear time', (_, port, warns) => {
  const pod = object('Pod', { spec: { containers: [{ ...container, ports: numbered(port) }] } });
  const warnings: string[] = [];
  create('core/pods', pod, { ...contextWith(), warn: text => void warnings.push(text) });
  expect(warnings.length > 0).toBe(warns);
  expect(warnings.length).toBeLessThan(2 * MANY);
});

test('very many tolerations of a runtime class are compared in linear time', () => {
  const tolerations = numbered(i => ({ key: `k${i}`, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 1 }));
  const runtimeClass = object('RuntimeClass', { handler: 'a', scheduling: { tolerations } }, 'node.k8s.io/v1');
  expect(create('node.orchestrator.io/runtimeclasses', runtimeClass).violations).toEqual([]);
});

test('very many resources of a limit range are compared in linear time', () => {
  const min = Object.fromEntries(numbered(i => [`example.com/r${i}`, '1']));
  const limits = object('LimitRange', { spec: { limits: [{ type: 'Container', min, max: min }] } });
  expect(create('core/limitranges', limits).violations).toEqual([]);
});

test('very many unknown scopes of a quota are refused in linear time, although each violation shows all of them', () => {
  const quota = object('ResourceQuota', { spec: { scopes: numbered(i => `s${i}`) } });
  expect(create('core/resourcequotas', quota).violations).toHaveLength(MANY);
});

test('very many unreadable versions of a server are refused in linear time, although each violation shows all of them', () => {
  const versions = { encodingVersion: 'v0', decodableVersions: numbered(i => `v${i}`) };
  const server = { apiServerID: 'a', ...versions, servedVersions: numbered(i => `w${i}`) };
  const status = { storageVersions: [server], commonEncodingVersion: 'v0' };
  const written = object('StorageVersion', { spec: {}, status }, 'internal.apiserver.k8s.io/v1alpha1');
  const { validateStatus } = strategyOf('internal.apiserver.orchestrator.io/storageversions');
  expect(validateStatus(written, written, contextWith())).toHaveLength(MANY);
});

test('very many statuses of containers are compared in linear time', () => {
  const spec = { containers: [container], restartPolicy: 'Never' };
  const state = (of: object): object => numbered(i => ({ name: i % 2 ? 'c' : `c${i}`, state: of }));
  const old = object('Pod', { spec, status: { containerStatuses: state({ terminated: { exitCode: 0 } }) } });
  const pod = object('Pod', { spec, status: { containerStatuses: state({ running: {} }) } });
  expect(strategyOf('core/pods').validateStatus(pod, old, contextWith())).toHaveLength(MANY);
});

test('very many values of a topology are compared in linear time', () => {
  const topology = { matchLabelExpressions: [{ key: 'k', values: numbered(i => `v${i}`) }] };
  const storageClass = object('StorageClass', { provisioner: 'a', allowedTopologies: [topology] }, 'storage.k8s.io/v1');
  expect(create('storage.orchestrator.io/storageclasses', storageClass).violations).toEqual([]);
});

test('very many versions of a definition, each with violations, are refused in linear time', () => {
  const spec = {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'xs', kind: 'X' },
    versions: numbered(i => ({ name: `v${i}`, served: true, storage: i === 0 })),
  };
  const definition = {
    ...object('CustomResourceDefinition', { spec }, 'apiextensions.k8s.io/v1'),
    metadata: { name: 'xs.example.com' },
  };
  const { violations } = create('apiextensions.orchestrator.io/customresourcedefinitions', definition);
  expect(violations.filter(({ field }) => field.endsWith('.schema.openAPIV3Schema'))).toHaveLength(MANY);
});

test('very many versions of conversion reviews are compared in linear time', () => {
  const webhook = { conversionReviewVersions: numbered(i => `v${i}`), clientConfig: { url: 'https://a.example' } };
  const spec = {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'xs', kind: 'X' },
    conversion: { strategy: 'Webhook', webhook },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  };
  const definition = {
    ...object('CustomResourceDefinition', { spec }, 'apiextensions.k8s.io/v1'),
    metadata: { name: 'xs.example.com' },
  };
  expect(create('apiextensions.orchestrator.io/customresourcedefinitions', definition).violations).toEqual([]);
});

test.each([
  ['beginnings', '-----BEGIN CERTIFICATE-----\n'.repeat(MANY)],
  ['ends of others', '-----BEGIN CERTIFICATE-----\n-----END KEY-----\n'.repeat(MANY)],
])('a key pair of very many %s of PEM blocks is parsed in linear time', (_, pem) => {
  const data = Object.fromEntries(
    ['tls.crt', 'tls.key'].map(key => [key, Buffer.from(pem.slice(0, 500_000)).toString('base64')]),
  );
  const warnings: string[] = [];
  const rules = { ...contextWith(), warn: (text: string) => void warnings.push(text) };
  create('core/secrets', object('Secret', { type: 'kubernetes.io/tls', data }), rules);
  expect(warnings).toEqual(['tls: failed to find any PEM data in certificate input']);
});
