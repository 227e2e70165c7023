import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { convertCommand } from '../../core/command/manifests/convert.js';
import { namingOf } from '../../core/naming.js';
import { REMOVED_VERSIONS } from '../../core/schema/table/removed.js';
import bases from '../kinds/rules/bases.json' with { type: 'json' };
import type { Loose } from '../api/support.js';
import { Captured } from './server.js';

const folder = mkdtempSync(join(tmpdir(), 'capstan-convert-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Converts a file with this text. */
async function convert(text: string, ...flags: readonly string[]) {
  const file = join(folder, 'manifest.yaml');
  writeFileSync(file, text);
  const io = new Captured();
  const code = await convertCommand([`--filename=${file}`, ...flags], io);
  const errors = io.errors.map(line => line.replace(`${file}: `, ''));
  return { code, text: io.lines.join('\n'), errors };
}

async function converted(object: object, ...flags: readonly string[]): Promise<Loose> {
  const { code, text, errors } = await convert(JSON.stringify(object), ...flags);
  expect(errors).toEqual([]);
  expect(code).toBe(0);
  return JSON.parse(text) as Loose;
}

const refusal = async (object: object, ...flags: readonly string[]): Promise<string> => {
  const { code, text, errors } = await convert(JSON.stringify(object), ...flags);
  expect([code, text]).toEqual([1, '']);
  return errors.join('\n');
};

const metadata = { name: 'a' };
const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'a', image: 'a' }] } };

describe('a manifest', () => {
  it('keeps comments, order and style, also of members that get other names', async () => {
    const manifest = (apiVersion: string, others: readonly string[], orders: readonly string[]): string[] => [
      '# The entrance of the shop.',
      `apiVersion: ${apiVersion} # old`,
      'kind: Ingress',
      'metadata:',
      '  name: "shop"',
      'spec:',
      '  # Everything else.',
      ...others,
      '  rules:',
      '  - host: shop.example.com # the name',
      '    http:',
      '      paths:',
      '      # Orders only.',
      '      - path: /orders',
      '        backend:',
      ...orders,
      '---',
      '# Unchanged.',
      'apiVersion: v1',
      'kind: ConfigMap',
      'metadata: { name: prices }',
    ];
    const before = manifest(
      'extensions/v1beta1',
      ['  backend:', '    serviceName: web', '    servicePort: 80'],
      ['          serviceName: orders', '          servicePort: http'],
    );
    const { code, text } = await convert(`${before.join('\n')}\n`);
    expect(code).toBe(0);
    const web = ['  defaultBackend:', '    service:', '      name: web', '      port:', '        number: 80'];
    const orders = ['service:', '  name: orders', '  port:', '    name: http'].map(line => `          ${line}`);
    expect(text.split('\n')).toEqual(
      manifest('networking.k8s.io/v1', web, [...orders, '        pathType: ImplementationSpecific']),
    );
  });

  it('has merge keys expanded where merged maps are changed', async () => {
    const backend = '&web\n    serviceName: web\n    servicePort: 80';
    const paths = '[{ path: /a, backend: { <<: *web, servicePort: 81 } }]';
    const { text } = await convert(
      'apiVersion: networking.k8s.io/v1beta1\nkind: Ingress\nmetadata: { name: a }\n' +
        `spec:\n  backend: ${backend}\n  rules:\n  - http: { paths: ${paths} }\n`,
    );
    const path = { path: '/a', pathType: 'ImplementationSpecific' };
    expect((parse(text) as Loose)['spec']).toEqual({
      defaultBackend: { service: { name: 'web', port: { number: 80 } } },
      rules: [{ http: { paths: [{ ...path, backend: { service: { name: 'web', port: { number: 81 } } } }] } }],
    });
  });

  it('without old versions remains unchanged', async () => {
    const text = 'apiVersion: apps/v1\nkind:   Deployment\nmetadata: {name:   web}\n---\n\napiVersion: a.b/v1\nkind: C';
    expect((await convert(text)).text).toBe(text);
  });

  it('may be JSON, a list, or several files, and becomes YAML or JSON', async () => {
    const cronJob = { apiVersion: 'batch/v1beta1', kind: 'CronJob', metadata };
    const jobTemplate = { spec: { template: { spec: { ...template.spec, restartPolicy: 'Never' } } } };
    const spec = { schedule: '* * * * *', jobTemplate };
    const list = { apiVersion: 'v1', kind: 'List', items: [{ ...cronJob, spec }] };
    const { items } = (await converted(list)) as unknown as { items: Loose[] };
    expect(items).toEqual([{ ...cronJob, apiVersion: 'batch/v1', spec }]);
    const yaml = (await convert(JSON.stringify({ ...cronJob, spec }), '-o', 'yaml')).text;
    expect(yaml).toMatch(/^apiVersion: batch\/v1\nkind: CronJob\nmetadata:\n {2}name: a\n/);
    const other = join(folder, 'other.yaml');
    writeFileSync(other, 'apiVersion: v1\nkind: Secret\nmetadata: { name: b }\n');
    const both = (await convert(yaml, other, '-o', 'yaml')).text;
    expect(parseAllDocuments(both).map(document => (document.toJS() as Loose)['kind'])).toEqual(['CronJob', 'Secret']);
    expect(parse((await convert(yaml, '-o', 'json')).text)).toEqual(parse(yaml));
  });

  it('has the naming of its groups, or the given one', async () => {
    const ingress = { apiVersion: 'extensions/v1beta1', kind: 'Ingress', metadata, spec: {} };
    Object.assign(ingress.spec, { backend: { serviceName: 'a', servicePort: 1 } });
    expect((await converted(ingress, '--naming=neutral'))['apiVersion']).toBe('networking.orchestrator.io/v1');
    const neutral = { apiVersion: 'scheduling.orchestrator.io/v1beta1', kind: 'PriorityClass', metadata, value: 1 };
    expect((await converted(neutral))['apiVersion']).toBe('scheduling.orchestrator.io/v1');
  });

  it.each([
    [{ kind: 'Pod' }, 'document 1: apiVersion: is required, as is kind: add them'],
    [{ apiVersion: 'apps/v9', kind: 'Deployment' }, 'apiVersion: apps/v9 has no kind Deployment: correct the names'],
    [
      { apiVersion: 'policy/v1beta1', kind: 'PodSecurityPolicy', metadata },
      'kind: PodSecurityPolicy of policy/v1beta1 is gone',
    ],
    [
      { apiVersion: 'networking.k8s.io/v1beta1', kind: 'Ingress', metadata, spec: { paths: [] } },
      'spec.paths: is an unknown field in networking.k8s.io/v1: remove it',
    ],
    [
      { apiVersion: 'apps/v1beta2', kind: 'StatefulSet', metadata, spec: { replicas: 'many', template } },
      'document: json: cannot unmarshal string into Go struct field',
    ],
    [
      {
        apiVersion: 'admissionregistration.k8s.io/v1beta1',
        kind: 'ValidatingWebhookConfiguration',
        metadata,
        webhooks: [{ name: 'a.b.c' }],
      },
      'webhooks[0].sideEffects: must be None or NoneOnDryRun in v1, not absent: say what a.b.c does',
    ],
    [
      { apiVersion: 'certificates.k8s.io/v1beta1', kind: 'CertificateSigningRequest', metadata, spec: {} },
      'spec.signerName: is required in v1: name the signer of the certificate',
    ],
    [
      {
        apiVersion: 'discovery.k8s.io/v1beta1',
        kind: 'EndpointSlice',
        metadata,
        addressType: 'IPv4',
        endpoints: [{ addresses: ['10.0.0.1'], topology: { rack: 'r1' } }],
      },
      'endpoints[0].topology[rack]: has no place in v1, which knows nodeName and zone: remove it',
    ],
    [{ apiVersion: 'apps/v1beta2', kind: 'Deployment', metadata, spec: { template } }, 'spec.selector'],
  ])('that cannot be converted is refused with its position: %j', async (object, message) => {
    expect(await refusal(object)).toContain(message);
  });

  it('is refused as a whole, with the document and the field in the message', async () => {
    const text = 'apiVersion: v1\nkind: Secret\n---\napiVersion: policy/v1beta1\nkind: PodSecurityPolicy\n---\n- 1\n';
    const { errors, text: printed } = await convert(text);
    expect(errors).toEqual([
      expect.stringMatching(/^document 2: kind: PodSecurityPolicy .* is gone since 1.25: remove the document$/),
      'document 3: must be an object: remove it',
    ]);
    expect(printed).toBe('');
    await expect(convert('a: [')).rejects.toThrow(/document 1: Flow sequence .* at line 1, column 5/);
  });

  const levels = [1, 2, 3, 4, 5, 6, 7, 8, 9];
  it.each([
    ['['.repeat(100_000), 'document 1: is nested more than 512 levels deep: flatten it'],
    ['- '.repeat(100_000), 'document 1: is nested more than 512 levels deep: flatten it'],
    ['"'.repeat(100_000), 'document 1: Unexpected double-quoted-scalar at node end at line 1, column 3'],
    ['a: 1\n---\nb: 1\nb: 2\n', 'document 2: Map keys must be unique at line 4, column 1'],
    [
      `a0: &a0 [x]\n${levels.map(i => `a${i}: &a${i} [${`*a${i - 1},`.repeat(9)}]\n`).join('')}`,
      'document 1: cannot be read: Excessive alias count',
    ],
    [' '.repeat(16_000_001), 'manifest.yaml has more than 16.0 MB: split it into several files'],
  ])('is refused in time if it is hostile: %#', async (text, message) => {
    await expect(convert(text)).rejects.toThrow(message);
  });

  it('may have maps of many members, and members with the names of prototypes', async () => {
    const data = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}`, 'x']));
    const text = `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\ndata: ${JSON.stringify(data)}`;
    expect((await convert(text)).text).toBe(text);
    const labels = '{ "__proto__": a, constructor: b }';
    const old =
      'apiVersion: scheduling.k8s.io/v1beta1\nkind: PriorityClass\n' +
      `metadata:\n  name: a\n  labels: ${labels}\nvalue: 1`;
    expect((await convert(old)).text).toContain(`  labels: ${labels}\n`);
  });
});

describe('--output-version', () => {
  const autoscaler = (apiVersion: string, spec: object) => ({
    apiVersion,
    kind: 'HorizontalPodAutoscaler',
    metadata,
    spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' }, ...spec },
  });

  it('converts as a server does', async () => {
    const cpu = { type: 'Utilization', averageUtilization: 70 };
    const newer = autoscaler('autoscaling/v2', {
      metrics: [{ type: 'Resource', resource: { name: 'cpu', target: cpu } }],
    });
    const older = autoscaler('autoscaling/v1', { targetCPUUtilizationPercentage: 70 });
    expect(await converted(newer, '--output-version=autoscaling/v1')).toEqual(older);
    expect(await converted(older, '--output-version=autoscaling/v2')).toEqual(newer);
  });

  it.each([
    ['autoscaling/v2beta2', 'autoscaling/v2beta2 was removed in 1.26: omit --output-version, or name another version'],
    ['apps/v1', 'apps/v1 is not a version of HorizontalPodAutoscaler'],
  ])('is refused for %s', async (version, message) => {
    expect(await refusal(autoscaler('autoscaling/v2', {}), `--output-version=${version}`)).toContain(message);
  });

  it('is refused for a custom kind', async () => {
    const custom = { apiVersion: 'tea.example.com/v1', kind: 'Order', metadata };
    expect(await refusal(custom, '--output-version=tea.example.com/v2')).toContain('is not built in');
  });
});

describe('removed versions [R562]', () => {
  const naming = namingOf('kubernetes');
  /** Kinds whose removed versions had another form. The tests below convert them. */
  const OTHERS =
    /^(MutatingWebhook|ValidatingWebhook|CustomResource|Horizontal|EndpointSlice|Event|CertificateSigning)/;
  const plain = REMOVED_VERSIONS.filter(({ kind, replacement }) => replacement !== undefined && !OTHERS.test(kind));

  it('of kinds with the same form are replaced without other changes', async () => {
    for (const { apiVersion, kind, replacement } of plain) {
      const to = naming.apiVersion(replacement!);
      const base = (bases as unknown as { object: Loose }[]).find(
        ({ object }) => String(object['kind']) === kind,
      )?.object;
      if (!base || String(base['apiVersion']) !== to || kind === 'Ingress') continue;
      const name = kind === 'APIService' ? 'v1.g.example.com' : 'a';
      const old = { ...base, apiVersion: naming.apiVersion(apiVersion), metadata: { name } };
      expect((await converted(old))['apiVersion'], `${apiVersion} ${kind}`).toBe(to);
    }
  });

  it('add the selector and the defaults that workloads had', async () => {
    const workload = (apiVersion: string, kind: string) =>
      converted({ apiVersion, kind, metadata, spec: { template } });
    const selector = { matchLabels: { app: 'a' } };
    expect((await workload('extensions/v1beta1', 'Deployment'))['spec']).toEqual({
      template,
      selector,
      revisionHistoryLimit: 2 ** 31 - 1,
      progressDeadlineSeconds: 2 ** 31 - 1,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 1 } },
    });
    expect((await workload('apps/v1beta1', 'Deployment'))['spec']).toEqual({
      template,
      selector,
      revisionHistoryLimit: 2,
    });
    const updateStrategy = { type: 'OnDelete' };
    expect((await workload('extensions/v1beta1', 'DaemonSet'))['spec']).toEqual({ template, selector, updateStrategy });
    expect((await workload('apps/v1beta1', 'StatefulSet'))['spec']).toEqual({ template, selector, updateStrategy });
    expect((await workload('extensions/v1beta1', 'ReplicaSet'))['spec']).toEqual({ template, selector });
  });

  it('lose members that have no effect any more', async () => {
    const selector = { matchLabels: { app: 'a' } };
    const spec = { template, rollbackTo: { revision: 1 }, templateGeneration: 3 };
    const old = (kind: string, apiVersion: string, member: keyof typeof spec) =>
      converted({ apiVersion, kind, metadata, spec: { template, selector, [member]: spec[member] } });
    expect((await old('Deployment', 'apps/v1beta1', 'rollbackTo'))['spec']).not.toHaveProperty('rollbackTo');
    expect((await old('DaemonSet', 'apps/v1beta2', 'templateGeneration'))['spec']).not.toHaveProperty(
      'templateGeneration',
    );
  });

  it('keep the meaning of an empty selector and of zero shares', async () => {
    const budget = { apiVersion: 'policy/v1beta1', kind: 'PodDisruptionBudget', metadata };
    expect((await converted({ ...budget, spec: { selector: {}, minAvailable: 1 } }))['spec']).toEqual({
      minAvailable: 1,
    });
    const limited = { limitResponse: { type: 'Reject' }, lendablePercent: 0 };
    const level = (version: string, more: object, annotations?: object) =>
      converted({
        apiVersion: `flowcontrol.apiserver.k8s.io/${version}`,
        kind: 'PriorityLevelConfiguration',
        metadata: { ...metadata, ...(annotations && { annotations }) },
        spec: { type: 'Limited', limited: { ...limited, ...more } },
      });
    const shares = { ...limited, nominalConcurrencyShares: 30 };
    expect((await level('v1beta2', { assuredConcurrencyShares: 30 }))['spec']!['limited']).toEqual(shares);
    expect((await level('v1beta3', { nominalConcurrencyShares: 0 }))['spec']!['limited']).toEqual(shares);
    const kept = await level(
      'v1beta3',
      { nominalConcurrencyShares: 0 },
      {
        'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares': '',
      },
    );
    expect(kept).toMatchObject({ metadata, spec: { limited: { nominalConcurrencyShares: 0 } } });
  });

  it('of autoscalers have metrics in the new form', async () => {
    const scaleTargetRef = { kind: 'Deployment', name: 'a', apiVersion: 'apps/v1' };
    const metrics = [
      { type: 'Resource', resource: { name: 'cpu', targetAverageUtilization: 60 } },
      { type: 'Pods', pods: { metricName: 'requests', targetAverageValue: '10' } },
    ];
    const spec = { maxReplicas: 2, scaleTargetRef };
    const old = { apiVersion: 'autoscaling/v2beta1', kind: 'HorizontalPodAutoscaler', metadata };
    expect((await converted({ ...old, spec: { ...spec, metrics } }))['spec']).toEqual({
      ...spec,
      metrics: [
        { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } } },
        { type: 'Pods', pods: { metric: { name: 'requests' }, target: { type: 'AverageValue', averageValue: '10' } } },
      ],
    });
    expect((await converted({ ...old, apiVersion: 'autoscaling/v2beta2', spec }))['apiVersion']).toBe('autoscaling/v2');
  });

  it('of webhooks get their former defaults as explicit members', async () => {
    const webhook = { name: 'a.b.c', sideEffects: 'None', clientConfig: { url: 'https://a.b/c' } };
    for (const kind of ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'])
      expect(
        (await converted({ apiVersion: 'admissionregistration.k8s.io/v1beta1', kind, metadata, webhooks: [webhook] }))[
          'webhooks'
        ],
      ).toEqual([
        {
          ...webhook,
          failurePolicy: 'Ignore',
          matchPolicy: 'Exact',
          timeoutSeconds: 30,
          admissionReviewVersions: ['v1beta1'],
        },
      ]);
  });

  it('of definitions get all members moved into their versions', async () => {
    const schema = { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object' } } } };
    const clientConfig = { url: 'https://a.b/c' };
    const old = {
      apiVersion: 'apiextensions.k8s.io/v1beta1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'orders.tea.example.com' },
      spec: {
        group: 'tea.example.com',
        version: 'v1',
        names: { plural: 'orders', singular: 'order', kind: 'Order', listKind: 'OrderList' },
        validation: schema,
        subresources: { status: {} },
        additionalPrinterColumns: [{ name: 'Cups', type: 'integer', JSONPath: '.spec.cups' }],
        conversion: { strategy: 'Webhook', webhookClientConfig: clientConfig, conversionReviewVersions: ['v1'] },
      },
    };
    const { group, names } = old.spec;
    expect((await converted(old))['spec']).toEqual({
      group,
      names,
      scope: 'Namespaced',
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { ...schema.openAPIV3Schema, 'x-kubernetes-preserve-unknown-fields': true } },
          subresources: { status: {} },
          additionalPrinterColumns: [{ name: 'Cups', type: 'integer', jsonPath: '.spec.cups' }],
        },
      ],
      conversion: { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } },
    });
  });

  it('of endpoint slices, certificate requests, reviews and events get their new members', async () => {
    const slice = {
      apiVersion: 'discovery.k8s.io/v1beta1',
      kind: 'EndpointSlice',
      metadata,
      addressType: 'IPv4',
      endpoints: [
        {
          addresses: ['10.0.0.1'],
          topology: { 'kubernetes.io/hostname': 'n1', 'topology.kubernetes.io/zone': 'z1' },
        },
      ],
    };
    expect((await converted(slice))['endpoints']).toEqual([{ addresses: ['10.0.0.1'], nodeName: 'n1', zone: 'z1' }]);
    const event = {
      apiVersion: 'events.k8s.io/v1beta1',
      kind: 'Event',
      metadata: { name: 'a', namespace: 'default' },
      regarding: { kind: 'Pod', name: 'a', namespace: 'default' },
      type: 'Normal',
      action: 'Pull',
      reason: 'Pulled',
      deprecatedSource: { component: 'agent', host: 'n1' },
      deprecatedFirstTimestamp: '2020-01-02T03:04:05Z',
      deprecatedLastTimestamp: '2020-01-02T03:05:05Z',
      deprecatedCount: 2,
    };
    expect(await converted(event)).toMatchObject({
      reportingController: 'agent',
      reportingInstance: 'n1',
      eventTime: '2020-01-02T03:04:05.000000Z',
      series: { count: 2, lastObservedTime: '2020-01-02T03:05:05.000000Z' },
    });
    const review = { apiVersion: 'authorization.k8s.io/v1beta1', kind: 'SubjectAccessReview' };
    const resourceAttributes = { verb: 'get', resource: 'pods' };
    expect((await converted({ ...review, spec: { group: ['a'], resourceAttributes } }))['spec']).toEqual({
      groups: ['a'],
      resourceAttributes,
    });
  });

  it('that are deprecated are replaced by the preferred ones', async () => {
    const policy = { apiVersion: 'admissionregistration.k8s.io/v1beta1', kind: 'ValidatingAdmissionPolicyBinding' };
    const spec = { policyName: 'a', validationActions: ['Deny'] };
    expect((await converted({ ...policy, metadata, spec }))['apiVersion']).toBe('admissionregistration.k8s.io/v1');
  });
});
