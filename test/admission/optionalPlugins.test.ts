import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadSettings } from '../../core/command/config.js';
import { CallCounters } from '../../core/plugin/calls/callCounters.js';
import { loadPlugins } from '../../core/plugin/load/load.js';
import { Closers } from '../../core/plugin/closers.js';
import { admissionPlugins } from '../../core/server/admission/plugins.js';
import type { ThreadData } from '../../core/threads/data.js';
import podNodeSelector from '../../plugins/admission/optional/podNodeSelector.js';
import podTolerationRestriction from '../../plugins/admission/optional/podTolerationRestriction.js';
import { type Answer, Api } from '../api/support.js';
import { MERGE } from '../support/mediaTypes.js';
import { partly, textOf } from '../support/values.js';

/* The admission plugins that are off by default, and their configuration. */

const directory = mkdtempSync(join(tmpdir(), 'capstan-admission-'));
afterAll(() => rmSync(directory, { recursive: true }));

/** Writes a file of this test and returns its path. */
function file(name: string, content: object | string): string {
  const path = join(directory, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

const hooks = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'WebhookAdmissionConfiguration' };
const configuration = (...plugins: object[]) => ({
  apiVersion: 'apiserver.config.k8s.io/v1',
  kind: 'AdmissionConfiguration',
  plugins,
});

describe('the configuration of admission plugins', () => {
  const read = (content: object | string) =>
    admissionPlugins(
      loadSettings([
        '--enable-admission-plugins=PodNodeSelector',
        `--admission-control-config-file=${file('admission.yaml', content)}`,
      ]),
    ).before;

  test('is inline or in a separate file, for each enabled plugin', () => {
    file('selectors.yaml', 'podNodeSelectorPluginConfig: {shop: "a=b"}\n');
    const specs = read(
      configuration(
        { name: 'PodNodeSelector', path: 'selectors.yaml' },
        { name: 'PodSecurity', configuration: { kind: 'x' } },
        { name: 'EventRateLimit', configuration: {} },
      ),
    );
    const configOf = (part: string) => specs.find(({ use }) => use.includes(part))?.config;
    expect(configOf('podNodeSelector')).toEqual({ podNodeSelectorPluginConfig: { shop: 'a=b' } });
    expect(configOf('podSecurity')).toEqual({ kind: 'x' });
    expect(configOf('priority')).toBeUndefined();
  });

  test.each([
    ['[', 'cannot read'],
    ['text', 'must hold an object'],
    [{ kind: 'Pod' }, 'kind must be AdmissionConfiguration'],
    [{ ...configuration(), apiVersion: 'v1' }, 'apiVersion must be one of'],
    [{ ...configuration(), plugin: [] }, 'plugin is an unknown field: use one of apiVersion, kind, plugins'],
    [{ ...configuration(), plugins: {} }, 'plugins must be a list'],
    [configuration('x' as never), 'plugins[0] must be an object'],
    [configuration({ name: 'Nothing' }), 'plugins[0].name is "Nothing", which is no admission plugin'],
    [configuration({ name: 'Priority' }, { name: 'PodSecurity', file: 'x' }), 'plugins[1].file is an unknown field'],
    [configuration({ name: 'PodSecurity', configuration: 'x' }), 'plugins[0].configuration must be an object'],
    [configuration({ name: 'PodSecurity', path: 'absent.yaml' }), 'cannot read'],
    [configuration({ name: 'PodSecurity', path: 'x', configuration: {} }), 'either path or configuration'],
    [
      configuration({ name: 'PodSecurity', configuration: {} }, { name: 'PodSecurity' }),
      'plugins[1].name is "PodSecurity" a second time',
    ],
    [
      configuration({ name: 'ValidatingAdmissionWebhook', configuration: { ...hooks, kubeconfig: 'x' } }),
      'the configuration of ValidatingAdmissionWebhook: kubeconfig is an unknown field',
    ],
    [
      configuration({ name: 'MutatingAdmissionWebhook', configuration: { kubeConfigFile: '/x' } }),
      'kind must be one of WebhookAdmissionConfiguration, WebhookAdmission',
    ],
    [
      configuration({ name: 'MutatingAdmissionWebhook', configuration: { kind: 'WebhookAdmissions' } }),
      'kind must be one of WebhookAdmissionConfiguration, WebhookAdmission',
    ],
    [
      configuration({ name: 'MutatingAdmissionWebhook', configuration: { ...hooks, kind: 'WebhookAdmission' } }),
      'the configuration of MutatingAdmissionWebhook: apiVersion must be one of apiserver.config.k8s.io/v1alpha1,',
    ],
    [
      { ...configuration(), apiVersion: 'apiserver.config.k8s.io/v1alpha1' },
      'apiVersion must be one of apiserver.config.k8s.io/v1, apiserver.config.orchestrator.io/v1, apiserver.k8s.io/v1a',
    ],
    ['kind: AdmissionConfiguration\nkind: Pod\n', 'line 2: key "kind" already set in map'],
  ])('%j is refused', (content, message) => {
    expect(() => read(content)).toThrow('--admission-control-config-file: ');
    expect(() => read(content)).toThrow(message);
  });

  test('for webhooks may be in a separate file, which its errors name', () => {
    const where = configuration({ name: 'MutatingAdmissionWebhook', path: 'hooks.yaml' });
    const own = file('hooks.yaml', { ...hooks, users: 'x' });
    expect(() => read(where)).toThrow(`${own}: the configuration of MutatingAdmissionWebhook: users is an unknown`);
    const kubeConfigFile = join(directory, 'hooks.kubeconfig');
    for (const kind of [hooks, { apiVersion: 'apiserver.config.k8s.io/v1alpha1', kind: 'WebhookAdmission' }]) {
      file('hooks.yaml', { ...kind, kubeConfigFile });
      const flag = `--admission-control-config-file=${file('admission.yaml', where)}`;
      const configs = admissionPlugins(loadSettings([flag])).behind.map(({ config }) => config);
      expect(configs).toContainEqual(expect.objectContaining({ kubeConfigFile }));
    }
  });

  test.each(['', 'relative.yaml', 5])('for webhooks must have an absolute path, not %j', kubeConfigFile => {
    const content = configuration({ name: 'ValidatingAdmissionWebhook', configuration: { ...hooks, kubeConfigFile } });
    expect(() => read(content)).toThrow(
      `kubeConfigFile must be an absolute file path, not ${JSON.stringify(kubeConfigFile)}`,
    );
  });

  test('may have the API group of old releases', () => {
    const former = { ...configuration(), apiVersion: 'apiserver.k8s.io/v1alpha1' };
    expect(() => read(former)).not.toThrow();
  });

  test.each([
    ['admission.yaml', { configuration: { selectors: {} } }],
    ['own.yaml', { path: 'own.yaml' }],
  ])('is named in the errors of a plugin about it: %s', async (name, where) => {
    file('own.yaml', { selectors: {} });
    const spec = read(configuration({ name: 'PodNodeSelector', ...where })).find(({ use }) => use.includes('Selector'));
    const data = partly<ThreadData>({
      naming: 'neutral',
      plugins: [spec!],
      calls: CallCounters.memory(1),
      verbosity: 0,
      inspection: new SharedArrayBuffer(4),
    });
    await expect(loadPlugins(data, 'pool', { closers: new Closers() })).rejects.toThrow(
      `--admission-control-config-file: ${join(directory, name)}: the configuration of PodNodeSelector: selectors: unk`,
    );
  });

  test.each([
    [{ selectors: {} }, 'selectors: unknown field'],
    [{ podNodeSelectorPluginConfig: { n: 'a' } }, 'podNodeSelectorPluginConfig.n: invalid selector: [a]'],
    [{ podNodeSelectorPluginConfig: { n: 1 } }, 'podNodeSelectorPluginConfig.n: must be a string'],
    [{ podNodeSelectorPluginConfig: { n: 'a b=c' } }, 'podNodeSelectorPluginConfig.n: <nil>: Invalid value: "a b"'],
  ])('of PodNodeSelector, %j is refused', (config, message) =>
    expect(() => podNodeSelector.parse(config)).toThrow(message),
  );

  const kind = { apiVersion: 'podtolerationrestriction.admission.k8s.io/v1alpha1', kind: 'Configuration' };
  test.each([
    [{ kind: 'Configuration' }, 'apiVersion: must be one of'],
    [{ ...kind, defaults: [] }, 'defaults: unknown field'],
    [{ ...kind, default: {} }, 'default: must be a list of tolerations'],
    [{ ...kind, default: [{ operator: 'In' }] }, 'default[0]: must have the operator Equal or Exists'],
    [
      { ...kind, default: [{ key: 'a' }, { value: 'x' }] },
      'default[1]: must have the operator Exists if it has no key',
    ],
    [{ ...kind, whitelist: [{ key: 'a', effect: 'x' }] }, 'whitelist[0]: must have the effect'],
    [{ ...kind, whitelist: [{ key: 'a', tolerationSeconds: 1 }] }, 'whitelist[0]: must have the effect NoExecute'],
    [{ ...kind, whitelist: [{ keys: 'a' }] }, 'whitelist[0]: has the unknown field keys'],
    [{ ...kind, default: [{ key: 'a b' }] }, 'default[0]: has an invalid key "a b": name part must consist of'],
    [{ ...kind, default: [{ key: 'a', value: '-' }] }, 'default[0]: has an invalid value "-": a valid label must be'],
    [
      { ...kind, default: [{ key: 'a', operator: 'Exists', value: 'x' }] },
      'default[0]: must have no value if it has the operator Exists',
    ],
  ])('of PodTolerationRestriction, %j is refused', (config, message) =>
    expect(() => podTolerationRestriction.parse(config)).toThrow(message),
  );
});

describe('a server with all of them', () => {
  let api: Api;
  beforeAll(async () => {
    const selectors = { clusterDefaultNodeSelector: 'disk=ssd', strict: 'env=test,tier=a' };
    const exists = (key: string) => ({ key, operator: 'Exists' });
    const taints = ['not-ready', 'unreachable', 'memory-pressure'].map(name => exists(`node.kubernetes.io/${name}`));
    api = await Api.start({
      enableAdmissionPlugins: [
        'AlwaysPullImages',
        'NamespaceExists',
        'DenyServiceExternalIPs',
        'ExtendedResourceToleration',
        'LimitPodHardAntiAffinityTopology',
        'OwnerReferencesPermissionEnforcement',
        'PodNodeSelector',
        'PodTolerationRestriction',
      ],
      admissionControlConfigFile: file(
        'all.yaml',
        configuration(
          { name: 'PodNodeSelector', configuration: { podNodeSelectorPluginConfig: selectors } },
          {
            name: 'PodTolerationRestriction',
            configuration: { ...kind, default: [exists('own')], whitelist: [exists('own'), ...taints] },
          },
        ),
      ),
    });
  });
  afterAll(() => api.close());
  const kind = { apiVersion: 'podtolerationrestriction.admission.k8s.io/v1alpha1', kind: 'Configuration' };

  const made = async (name: string, annotations: { [name: string]: string } = {}): Promise<string> => {
    const entries = Object.entries(annotations).map(([key, value]) => [`scheduler.alpha.kubernetes.io/${key}`, value]);
    const metadata = { name, annotations: Object.fromEntries(entries) };
    expect((await api.post('/api/v1/namespaces', { metadata })).status).toBe(201);
    return `/api/v1/namespaces/${name}`;
  };
  /** Creates a pod without storing it. */
  const tryCreate = (path: string, spec: object = {}, container: object = {}): Promise<Answer> =>
    api.post(`${path}/pods?dryRun=All`, {
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'c', image: 'i', ...container }], ...spec },
    });
  const refusal = ({ status, body }: Answer) => [status, body['reason'], body['message']];
  const specOf = async (answer: Promise<Answer>) => {
    const { status, body } = await answer;
    expect([status, body['message']]).toEqual([201, undefined]);
    return body['spec'] as unknown as {
      nodeSelector?: object;
      tolerations: { key: string; value?: string; effect?: string }[];
      containers: { imagePullPolicy: string }[];
    };
  };
  const ANY = { tolerationsWhitelist: '', defaultTolerations: '[]' };

  test('images are always pulled, unless an update has no new image', async () => {
    const path = await made('pulled', ANY);
    expect((await specOf(tryCreate(path, {}, { imagePullPolicy: 'Never' }))).containers[0]?.imagePullPolicy).toBe(
      'Always',
    );
  });

  test('pods get the node selector of their namespace or of the cluster', async () => {
    const [own, strict, broken] = [
      await made('own', { 'node-selector': 'x=y, z=w', ...ANY }),
      await made('strict', ANY),
      await made('broken', { 'node-selector': 'x=y=z', ...ANY }),
    ];
    const shared = await made('shared', ANY);
    expect((await specOf(tryCreate(own))).nodeSelector).toEqual({ x: 'y', z: 'w' });
    expect((await specOf(tryCreate(shared, { nodeSelector: { a: 'b' } }))).nodeSelector).toEqual({
      disk: 'ssd',
      a: 'b',
    });
    const conflict = 'pod node label selector conflicts with its namespace node label selector';
    expect(refusal(await tryCreate(own, { nodeSelector: { x: 'n' } }))).toEqual([
      403,
      'Forbidden',
      `pods "p" is forbidden: ${conflict}`,
    ]);
    const unnamed = { metadata: { generateName: 'g-' }, spec: { containers: [], nodeSelector: { x: 'n' } } };
    expect(refusal(await api.post(`${own}/pods`, unnamed))[2]).toBe(`pods is forbidden: ${conflict}`);
    expect(refusal(await tryCreate(strict))[2]).toBe(
      'pods "p" is forbidden: pod node label selector labels conflict with its namespace whitelist',
    );
    expect(refusal(await tryCreate(broken))).toEqual([500, undefined, 'invalid selector: [x y z]']);
  });

  test('pods get the tolerations of their namespace or of the cluster, and other tolerations are refused', async () => {
    const what = 'pod tolerations (possibly merged with namespace default tolerations) conflict with its';
    const keys = async (answer: Promise<Answer>) => (await specOf(answer)).tolerations.map(({ key }) => key);
    const of = 'node.kubernetes.io/';
    const cluster = await made('cluster');
    expect(await keys(tryCreate(cluster))).toEqual(
      [`${of}not-ready`, `${of}unreachable`, 'own'].sort((a, b) => Number(a === 'own') - Number(b === 'own')),
    );
    const burst = { resources: { requests: { cpu: '1' } } };
    expect(await keys(tryCreate(cluster, {}, burst))).toContain(`${of}memory-pressure`);
    const other = { tolerations: [{ key: 'other', operator: 'Exists' }] };
    expect(refusal(await tryCreate(cluster, other))).toEqual([500, undefined, `${what} cluster whitelist`]);
    const tolerant = await made('tolerant', {
      defaultTolerations: '[{"key":"other","operator":"Equal","value":"v"}]',
      tolerationsWhitelist: '[{"key":"other","operator":"Exists"},{"operator":"Exists","effect":"NoExecute"}]',
    });
    expect((await specOf(tryCreate(tolerant))).tolerations.at(-1)).toEqual({
      key: 'other',
      operator: 'Equal',
      value: 'v',
    });
    expect((await specOf(tryCreate(tolerant, other))).tolerations[0]).toEqual(other.tolerations[0]);
    expect((await specOf(tryCreate(tolerant, other))).tolerations).toHaveLength(3);
    expect(refusal(await tryCreate(tolerant, {}, burst))[2]).toBe(`${what} namespace whitelist`);
    expect(refusal(await tryCreate(await made('odd', { defaultTolerations: 'x' })))[0]).toBe(500);
    expect(refusal(await tryCreate(await made('wrong', { tolerationsWhitelist: '{}' })))[2]).toContain(
      'must be a list',
    );
  });

  test('pods that request extended resources tolerate the taints of their nodes', async () => {
    const path = await made('devices', ANY);
    const limits = { 'example.com/b': '1', 'example.com/a': '1' };
    expect((await specOf(tryCreate(path, {}, { resources: { limits } }))).tolerations.slice(2)).toEqual(
      ['example.com/a', 'example.com/b'].map(key => ({ key, operator: 'Exists', effect: 'NoSchedule' })),
    );
    const own = [{ key: 'example.com/a', operator: 'Exists', effect: 'NoSchedule' }];
    const same = { resources: { limits: { 'example.com/a': '1' } } };
    expect((await specOf(tryCreate(path, { tolerations: own }, same))).tolerations).toHaveLength(3);
  });

  test('pods may have required anti-affinity for their node only', async () => {
    const path = await made('apart', ANY);
    const apart = (topologyKey: string) => ({
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey, labelSelector: { matchLabels: { a: 'b' } } }],
        },
      },
    });
    await specOf(tryCreate(path, apart('kubernetes.io/hostname')));
    expect(refusal(await tryCreate(path, apart('zone')))).toEqual([
      403,
      'Forbidden',
      'pods "p" is forbidden: affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey zone but only key ' +
        'kubernetes.io/hostname is allowed',
    ]);
  });

  test('new external IPs of services are refused', async () => {
    const path = await made('outside');
    const service = (externalIPs: string[]) => ({
      metadata: { name: 's' },
      spec: { ports: [{ port: 1 }], externalIPs },
    });
    const message = 'services "s" is forbidden: Use of external IPs is denied by admission control';
    expect(refusal(await api.post(`${path}/services`, service(['1.2.3.4'])))).toEqual([403, 'Forbidden', message]);
    await api.made(`${path}/services`, service([]));
    expect(refusal(await api.patch(`${path}/services/s`, MERGE, service(['1.2.3.4'])))[2]).toBe(message);
    expect((await api.patch(`${path}/services/s`, MERGE, { metadata: { labels: { a: 'b' } } })).status).toBe(200);
  });

  test('reviews in namespaces that do not exist are answered with 404', async () => {
    const path = '/apis/authorization.k8s.io/v1/namespaces/none/localsubjectaccessreviews';
    const spec = { user: 'x', resourceAttributes: { namespace: 'none', verb: 'get', resource: 'pods' } };
    expect(refusal(await api.post(path, { metadata: { namespace: 'none' }, spec }))).toEqual([
      404,
      'NotFound',
      'namespaces "none" not found',
    ]);
  });

  test('setting owners needs the permission to delete the object, and to write finalizers of owners that it blocks', async () => {
    const path = await made('owned');
    const group = { apiGroup: 'rbac.authorization.k8s.io' };
    const rule = { apiGroups: [''], resources: ['configmaps'], verbs: ['create', 'patch'] };
    const roles = '/apis/rbac.authorization.k8s.io/v1';
    await api.made(`${roles}/clusterroles`, { metadata: { name: 'writer' }, rules: [rule] });
    await api.made(`${roles}/clusterrolebindings`, {
      metadata: { name: 'writer' },
      roleRef: { ...group, kind: 'ClusterRole', name: 'writer' },
      subjects: [{ kind: 'ServiceAccount', name: 'writer', namespace: 'owned' }],
    });
    await api.made(`${path}/serviceaccounts`, { metadata: { name: 'writer' } });
    const granted = await api.post(`${path}/serviceaccounts/writer/token`, { spec: {} });
    const token = textOf(granted.body['status']?.['token']);
    // The owner exists, since the garbage collector deletes objects of owners that do not.
    const { metadata } = (await api.post(`${path}/configmaps`, { metadata: { name: 'd' } })).body;
    const { uid } = metadata as unknown as { uid: string };
    const owner = (rest: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', name: 'd', uid, ...rest });
    const map = (name: string, ...ownerReferences: object[]) => ({ metadata: { name, ownerReferences } });
    const create = (body: object) => api.post(`${path}/configmaps`, body, { token });
    const forbidden = 'configmaps "a" is forbidden: cannot set';
    const blocked = map('a', owner({ blockOwnerDeletion: true }));
    expect(refusal(await create(blocked))[2]).toBe(
      `${forbidden} blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>`,
    );
    expect(refusal(await create(map('a', owner({ kind: 'None', blockOwnerDeletion: true }))))[2]).toBe(
      `${forbidden} blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion v1 Kind None: ` +
        'no matches for kind "None" in version "v1"',
    );
    expect((await create(map('a', owner({})))).status).toBe(201);
    const changed = map('a', owner({ controller: true }));
    expect(refusal(await api.patch(`${path}/configmaps/a`, MERGE, changed, { token }))[2]).toBe(
      `${forbidden} an ownerRef on a resource you can't delete: , <nil>`,
    );
    const data = { data: { a: 'b' } };
    expect((await api.patch(`${path}/configmaps/a`, MERGE, data, { token })).status).toBe(200);
    expect((await api.post(`${path}/configmaps`, map('b', owner({ blockOwnerDeletion: true })))).status).toBe(201);
  });

  test('pods use only the secrets that their account lists, if the account demands it', async () => {
    const path = await made('secrets', ANY);
    const annotations = { 'kubernetes.io/enforce-mountable-secrets': 'true' };
    await api.made(`${path}/serviceaccounts`, {
      metadata: { name: 'a', annotations },
      secrets: [{ name: 'yes' }],
      imagePullSecrets: [{ name: 'pull' }],
    });
    const serviceAccountName = 'a';
    const volume = (secretName: string) => ({ serviceAccountName, volumes: [{ name: 'v', secret: { secretName } }] });
    const env = (name: string) => ({ env: [{ name: 'E', valueFrom: { secretKeyRef: { name, key: 'k' } } }] });
    const envFrom = { envFrom: [{ secretRef: { name: 'no' } }] };
    await specOf(tryCreate(path, volume('yes'), env('yes')));
    const why = 'is not allowed because service account a does not reference that secret';
    const of = 'pods "p" is forbidden:';
    const message = async (answer: Promise<Answer>) => refusal(await answer)[2];
    expect(await message(tryCreate(path, volume('no')))).toBe(`${of} volume with secret.secretName="no" ${why}`);
    expect(await message(tryCreate(path, { serviceAccountName }, env('no')))).toBe(
      `${of} container c with envVar E referencing secret.secretName="no" ${why}`,
    );
    const initContainers = [{ name: 'i', image: 'i', ...envFrom }];
    expect(await message(tryCreate(path, { serviceAccountName, initContainers }))).toBe(
      `${of} init container i with envFrom referencing secret.secretName="no" ${why}`,
    );
    const imagePullSecrets = [{ name: 'pull' }, { name: 'no' }];
    expect(await message(tryCreate(path, { serviceAccountName, imagePullSecrets }))).toBe(
      `${of} imagePullSecrets[1].name="no" ${why.replace('secret', 'imagePullSecret')}`,
    );
    await specOf(tryCreate(path, { ...volume('no'), serviceAccountName: 'default' }));
    await api.made(`${path}/pods`, {
      metadata: { name: 'stays' },
      spec: { serviceAccountName, containers: [{ name: 'c', image: 'i' }] },
    });
    const ephemeralContainers = [{ name: 'e', image: 'i', ...envFrom }];
    const debug = api.patch(`${path}/pods/stays/ephemeralcontainers`, MERGE, { spec: { ephemeralContainers } });
    expect(refusal(await debug)).toEqual([
      500,
      undefined,
      `ephemeral container e with envFrom referencing secret.secretName="no" ${why}`,
    ]);
  });
});
