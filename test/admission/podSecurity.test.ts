import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHECKS } from '../../plugins/admission/podSecurity/checks.js';
import { parseConfig } from '../../plugins/admission/podSecurity/config.js';
import { checkedPod, detailText, findingsOf } from '../../plugins/admission/podSecurity/evaluate.js';
import { warningsOfPods } from '../../plugins/admission/podSecurity/namespaces.js';
import { minorOf, policyLabels, policyOf, PRIVILEGED } from '../../plugins/admission/podSecurity/policy.js';
import { namingOf } from '../../core/naming.js';
import type { Pod } from '../../kinds/v1.js';
import { type Answer, Api, deployment } from '../api/support.js';
import { MERGE } from '../support/mediaTypes.js';
import { textOf, partly } from '../support/values.js';

const kubernetes = namingOf('kubernetes');
const labels = policyLabels(kubernetes);
const HARD = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };
/** A pod that the restricted level allows, with these members. */
const restricted = (context: object = {}, pod: object = {}, spec: object = {}) => ({
  securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' }, ...pod },
  containers: [{ name: 'c', image: 'i', securityContext: { ...HARD, ...context } }],
  ...spec,
});

/** The violations by a pod of a level in a version; '' if there are none. */
const verdict = (
  level: 'baseline' | 'restricted',
  version: string,
  spec: object,
  annotations: { [key: string]: string } = {},
  hasUserNamespaces = false,
): string =>
  detailText(
    findingsOf({ level, version }, checkedPod({ annotations }, spec as Pod['spec'], kubernetes, hasUserNamespaces)),
  );

describe('checks', () => {
  const seLinux = (seLinuxOptions: object) => restricted({}, { seLinuxOptions });
  const volume = (...types: string[]) =>
    restricted({}, {}, { volumes: types.map((type, i) => ({ name: `v${i}`, [type]: {} })) });
  const appArmor = 'container.apparmor.security.beta.kubernetes.io/c';
  const seccomp = 'seccomp.security.alpha.kubernetes.io/pod';

  test.each([
    ['baseline', 'latest', restricted(), ''],
    ['restricted', 'latest', restricted(), ''],
    [
      'baseline',
      'latest',
      restricted({}, {}, { hostNetwork: true, hostIPC: true }),
      'host namespaces (hostNetwork=true, hostIPC=true)',
    ],
    [
      'baseline',
      'latest',
      restricted({ capabilities: { add: ['NET_RAW', 'CHOWN', 'BPF'] } }),
      'non-default capabilities (container "c" must not include "BPF", "NET_RAW" in securityContext.capabilities.add)',
    ],
    ['baseline', 'latest', volume('hostPath', 'hostPath', 'nfs'), 'hostPath volumes (volumes "v0", "v1")'],
    [
      'restricted',
      'latest',
      volume('nfs', 'hostPath', 'secret', 'nfs'),
      'restricted volume types (volumes "v0", "v1", "v3" use restricted volume types "hostPath", "nfs")',
    ],
    [
      'restricted',
      'latest',
      volume('image'),
      'restricted volume types (volume "v0" uses restricted volume type "unknown")',
    ],
    [
      'baseline',
      'latest',
      {
        initContainers: [{ name: 'i', ports: [{ hostPort: 9 }] }],
        containers: [{ name: 'c', ports: [{ hostPort: 80 }, { hostPort: 0 }, {}] }],
        ephemeralContainers: [{ name: 'e', securityContext: { privileged: true } }],
      },
      'hostPort (containers "i", "c" use hostPorts 80, 9), privileged (container "e" must not set ' +
        'securityContext.privileged=true)',
    ],
    [
      'baseline',
      'latest',
      restricted({ procMount: 'Unmasked' }),
      'procMount (container "c" must not set securityContext.procMount to "Unmasked")',
    ],
    [
      'baseline',
      'latest',
      restricted({ windowsOptions: { hostProcess: true } }, { windowsOptions: { hostProcess: true } }),
      'hostProcess (pod and container "c" must not set securityContext.windowsOptions.hostProcess=true)',
    ],
    [
      'restricted',
      'latest',
      restricted({ runAsUser: 0, runAsNonRoot: false }),
      'runAsNonRoot != true (container "c" must not set securityContext.runAsNonRoot=false), runAsUser=0 (container ' +
        '"c" must not set runAsUser=0)',
    ],
    [
      'baseline',
      'latest',
      seLinux({ type: 'spc_t', user: 'u', role: 'r' }),
      'seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: type "spc_t"; user may not be set; role may ' +
        'not be set)',
    ],
    [
      'baseline',
      'latest',
      restricted({ seccompProfile: { type: 'Unconfined' } }, { seccompProfile: { type: 'Unconfined' } }),
      'seccompProfile (pod and container "c" must not set securityContext.seccompProfile.type to "Unconfined")',
    ],
  ] as const)('%s:%s', (level, version, spec, text) => expect(verdict(level, version, spec)).toBe(text));

  test('a check is not made in versions that do not have it; its forms change with versions', () => {
    const bare = { containers: [{ name: 'c' }] };
    const reasons = (version: string) =>
      findingsOf(
        { level: 'restricted', version },
        checkedPod({}, bare as unknown as Pod['spec'], kubernetes, false),
      ).map(({ reason }) => reason.split(' ')[0]);
    expect(reasons('v1.7')).toEqual(['runAsNonRoot']);
    expect(reasons('v1.8')).toEqual(['allowPrivilegeEscalation', 'runAsNonRoot']);
    expect(reasons('v1.19')).toEqual(['allowPrivilegeEscalation', 'runAsNonRoot', 'seccompProfile']);
    expect(reasons('v1.22')).toEqual(['allowPrivilegeEscalation', 'unrestricted', 'runAsNonRoot', 'seccompProfile']);
    expect(reasons('v1.99')).toEqual(reasons('latest'));
    expect(verdict('restricted', 'v1.22', restricted({ runAsUser: 0 }))).toBe('');
    expect(verdict('restricted', 'v1.23', restricted({ runAsUser: 0 }))).not.toBe('');
    expect(verdict('baseline', 'v1.30', seLinux({ type: 'container_engine_t' }))).not.toBe('');
    expect(verdict('baseline', 'v1.31', seLinux({ type: 'container_engine_t' }))).toBe('');
    const windows = { os: { name: 'windows' }, ...restricted({ allowPrivilegeEscalation: undefined }) };
    expect(verdict('restricted', 'v1.24', windows)).not.toBe('');
    expect(verdict('restricted', 'v1.25', windows)).toBe('');
  });

  test.each([
    ['kernel.shm_rmid_forced', 0],
    ['net.ipv4.ip_local_reserved_ports', 27],
    ['net.ipv4.tcp_fin_timeout', 29],
    ['net.ipv4.tcp_wmem', 32],
    ['kernel.msgmax', Infinity],
  ])('the sysctl %s is allowed from v1.%d on', (name, since) => {
    const spec = restricted({}, { sysctls: [{ name, value: '1' }] });
    for (let minor = 0; minor <= 33; minor++) {
      expect(verdict('baseline', `v1.${minor}`, spec)).toBe(minor >= since ? '' : `forbidden sysctls (${name})`);
    }
  });

  test('annotations of AppArmor count in all versions, those of seccomp before v1.19', () => {
    expect(verdict('baseline', 'latest', restricted(), { [appArmor]: 'unconfined' })).toBe(
      `forbidden AppArmor profile (annotation must not set AppArmor profile type to "${appArmor}="unconfined"")`,
    );
    const container = `container.${seccomp.replace('/pod', '/c')}`;
    const annotations = { [seccomp]: 'x', [container]: 'y' };
    expect(verdict('baseline', 'v1.18', restricted(), annotations)).toBe(
      `seccompProfile (forbidden annotations ${container}="y", ${seccomp}="x")`,
    );
    expect(verdict('baseline', 'v1.19', restricted(), annotations)).toBe('');
    for (const value of ['localhost/x', 'runtime/default', 'docker/default'])
      expect(verdict('baseline', 'v1.18', restricted(), { [seccomp]: value })).toBe('');
  });

  test('a user namespace relaxes checks where its gate is on', () => {
    const spec = restricted({ procMount: 'Unmasked', runAsUser: 0 }, { runAsNonRoot: false }, { hostUsers: false });
    expect(verdict('restricted', 'latest', spec, {}, true)).toBe('');
    expect(
      findingsOf({ level: 'restricted', version: 'latest' }, checkedPod({}, spec as never, kubernetes, false)),
    ).toHaveLength(3);
    expect(verdict('restricted', 'latest', { ...spec, hostUsers: true }, {}, true)).not.toBe('');
  });

  test('have forms in ascending versions, and replace only checks of the baseline level', () => {
    for (const { versions, replaces } of CHECKS) {
      const minors = versions.map(([since]) => since);
      expect(minors).toEqual([...minors].sort((a, b) => a - b));
      if (replaces) expect(CHECKS.find(({ id }) => id === replaces)?.level).toBe('baseline');
    }
  });
});

describe('labels', () => {
  const read = (given: { [label: string]: string }, defaults = PRIVILEGED) => {
    const entries = Object.entries(given).map(([key, value]) => [`pod-security.kubernetes.io/${key}`, value]);
    return policyOf(Object.fromEntries(entries), labels, defaults);
  };

  test('set levels and versions; an enforced level also warns', () => {
    const restrictedLevel = { level: 'restricted', version: 'v1.25' };
    expect(read({ enforce: 'restricted', 'enforce-version': 'v1.25' }).policy).toEqual({
      ...PRIVILEGED,
      enforce: restrictedLevel,
      warn: restrictedLevel,
    });
    expect(read({ enforce: 'restricted', 'enforce-version': 'v1.25', 'warn-version': 'v1.2' }).policy.warn).toEqual({
      level: 'restricted',
      version: 'v1.2',
    });
    expect(read({ enforce: 'restricted', warn: 'privileged' }).policy.warn.level).toBe('privileged');
    expect(read({ audit: 'baseline' }).policy).toEqual({
      ...PRIVILEGED,
      audit: { level: 'baseline', version: 'latest' },
    });
  });

  test('that are invalid mean the strictest level, and do not warn', () => {
    const { policy, violations } = read({ enforce: 'lax', audit: '', warn: 'x', 'enforce-version': '1.2' });
    expect(policy).toEqual({ ...PRIVILEGED, enforce: { level: 'restricted', version: 'latest' } });
    expect(violations.map(({ field }) => field.replace(/.*\//, ''))).toEqual([
      'enforce]',
      'enforce-version]',
      'audit]',
      'warn]',
    ]);
  });

  test.each([
    ['latest', Infinity],
    ['v1.0', 0],
    ['v1.32', 32],
    ['v1.01', undefined],
    ['v2.0', undefined],
    ['1.2', undefined],
    ['v1.99999999999999999999', undefined],
  ])('the version %j is %s', (version, minor) => expect(minorOf(version)).toBe(minor));
});

describe('configuration', () => {
  const kind = { apiVersion: 'pod-security.admission.config.k8s.io/v1', kind: 'PodSecurityConfiguration' };

  test('sets defaults and exemptions', () => {
    expect(parseConfig(undefined).defaults).toEqual(PRIVILEGED);
    const config = parseConfig({
      ...kind,
      defaults: { enforce: 'baseline', 'enforce-version': 'v1.20' },
      exemptions: { namespaces: ['infra'], usernames: ['root'] },
    });
    expect(config.defaults.enforce).toEqual({ level: 'baseline', version: 'v1.20' });
    expect(config.exemptions).toEqual({ namespaces: ['infra'], usernames: ['root'], runtimeClasses: [] });
    for (const apiVersion of ['v1beta1', 'v1alpha1'])
      for (const domain of ['k8s', 'orchestrator'])
        parseConfig({ ...kind, apiVersion: `pod-security.admission.config.${domain}.io/${apiVersion}` });
  });

  test.each([
    [[], 'configuration: must be an object'],
    [{}, 'apiVersion: must be one of'],
    [{ ...kind, apiVersion: 'pod-security.admission.config.k8s.io/v2' }, 'apiVersion: must be one of'],
    [{ ...kind, kind: 'X' }, 'kind: must be "PodSecurityConfiguration"'],
    [{ ...kind, default: {} }, 'default: unknown field'],
    [{ ...kind, defaults: { enforced: 'x' } }, 'defaults.enforced: unknown field'],
    [{ ...kind, defaults: { warn: 'x' } }, 'defaults.warn: Invalid value: "x": must be one of privileged, baseline,'],
    [{ ...kind, defaults: { 'warn-version': '1' } }, 'defaults.warn-version: Invalid value: "1": must be "latest"'],
    [{ ...kind, exemptions: { usernames: [''] } }, 'exemptions.usernames[0]: Invalid value'],
    [{ ...kind, exemptions: { usernames: ['a', 'a'] } }, 'exemptions.usernames[1]: Duplicate value: "a"'],
    [{ ...kind, exemptions: { namespaces: ['A'] } }, 'exemptions.namespaces[0]: Invalid value: "A"'],
    [{ ...kind, exemptions: { runtimeClasses: 'x' } }, 'exemptions.runtimeClasses: must be a list of strings'],
    [
      { ...kind, defaults: { enforce: 'x', 'warn-version': '1' }, exemptions: { usernames: [''] } },
      'configuration: [defaults.enforce: Invalid value: "x": must be one of privileged, baseline, restricted, ' +
        'defaults.warn-version: Invalid value: "1": must be "latest" or "v1.x"]',
    ],
    [
      { ...kind, exemptions: { usernames: ['', 'a', 'a', ''], namespaces: ['x', 'x'] } },
      'configuration: [exemptions.namespaces[1]: Duplicate value: "x", ' +
        'exemptions.usernames[0]: Invalid value: "": username must not be empty, ' +
        'exemptions.usernames[2]: Duplicate value: "a", ' +
        'exemptions.usernames[3]: Invalid value: "": username must not be empty]',
    ],
  ])('%j is refused', (config, message) => expect(() => parseConfig(config)).toThrow(message));
});

describe('the pods of a namespace that begins to enforce a level', () => {
  const pod = (name: string, spec: object, owner?: string): Pod =>
    partly<Pod>({
      metadata: { name, ...(owner ? { ownerReferences: [{ uid: owner, controller: true }] } : {}) },
      spec: { containers: [{ name: 'c' }], ...spec },
    });
  const warnings = (pods: readonly Pod[], total = pods.length) =>
    warningsOfPods('n', { level: 'baseline', version: 'latest' }, { pods, total }, ({ metadata, spec }) =>
      checkedPod(metadata, spec, kubernetes, false),
    );

  test('are reported by what they violate', () => {
    const host = { hostNetwork: true };
    expect(
      warnings([
        pod('d', host),
        pod('b', host),
        pod('c', host),
        pod('e', { hostPID: true, volumes: [{ name: 'v', hostPath: {} }] }),
        pod('a', {}),
      ]),
    ).toEqual([
      'existing pods in namespace "n" violate the new PodSecurity enforce level "baseline:latest"',
      'b (and 2 other pods): host namespaces',
      'e: host namespaces, hostPath volumes',
    ]);
    expect(warnings([pod('b', host), pod('c', host)])[1]).toBe('b (and 1 other pod): host namespaces');
    expect(warnings([pod('a', {})])).toEqual([]);
  });

  test('are checked up to 3000, one of each controller first', () => {
    const replicas = Array.from({ length: 3000 }, (_, i) => pod(`r${i}`, {}, 'owner'));
    expect(warnings([...replicas, pod('z', { hostPID: true }, 'other')])).toEqual([
      'new PodSecurity enforce level only checked against the first 3000 of 3001 existing pods',
      'existing pods in namespace "n" violate the new PodSecurity enforce level "baseline:latest"',
      'z: host namespaces',
    ]);
  });

  test('are reported as incomplete if they are too large to be read', () =>
    expect(warnings([pod('a', {}), pod('b', {})], 100_000)).toEqual([
      'new PodSecurity enforce level only checked against the first 2 of 100000 existing pods',
    ]));
});

describe.each(['kubernetes', 'neutral'] as const)('a server with %s names', naming => {
  const names = namingOf(naming);
  const label = (name: string) => names.label(`pod-security.orchestrator.io/${name}`);
  const warning = ({ headers }: Answer) => headers['warning'];
  const base = { containers: [{ name: 'c', image: 'i' }] };
  const labelled = (given: { [name: string]: string | null }) => ({
    metadata: { labels: Object.fromEntries(Object.entries(given).map(([name, value]) => [label(name), value])) },
  });
  let api: Api;
  beforeAll(async () => {
    api = await Api.start({ naming });
  });
  afterAll(() => api.close());

  const made = async (name: string, given: { [name: string]: string }): Promise<string> => {
    const { metadata } = labelled(given);
    expect((await api.post('/api/v1/namespaces', { metadata: { name, ...metadata } })).status).toBe(201);
    return `/api/v1/namespaces/${name}`;
  };

  test('refuses pods that violate the level of their namespace', async () => {
    const path = await made('strict', { enforce: 'baseline' });
    const refused = await api.post(`${path}/pods`, { metadata: { name: 'p' }, spec: { ...base, hostPID: true } });
    expect([refused.status, refused.body['message']]).toEqual([
      403,
      'pods "p" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostPID=true)',
    ]);
    expect(refused.body['details']).toEqual({ name: 'p', kind: 'pods' });
    await api.made(`${path}/pods`, { metadata: { name: 'p' }, spec: base });
    const ephemeral = [{ name: 'e', image: 'i', securityContext: { privileged: true } }];
    const debug = await api.patch(`${path}/pods/p/ephemeralcontainers`, MERGE, {
      spec: { ephemeralContainers: ephemeral },
    });
    expect([debug.status, debug.body['message']]).toEqual([
      403,
      'pods "p" is forbidden: violates PodSecurity "baseline:latest": privileged (container "e" must not set ' +
        'securityContext.privileged=true)',
    ]);
  });

  test('warns about templates and pods, but not about updates that change nothing relevant', async () => {
    const path = await made('warned', { warn: 'baseline', 'warn-version': 'v1.20' });
    const text = '299 - "would violate PodSecurity \\"baseline:v1.20\\": host namespaces (hostPID=true)"';
    const spec = { ...base, hostPID: true };
    const pod = await api.post(`${path}/pods`, { metadata: { name: 'p' }, spec });
    expect([pod.status, warning(pod)]).toEqual([201, text]);
    expect(warning(await api.patch(`${path}/pods/p`, MERGE, { metadata: { labels: { a: 'b' } } }))).toBeUndefined();
    const image = { spec: { containers: [{ name: 'c', image: 'other' }] } };
    expect(warning(await api.patch(`${path}/pods/p`, 'application/strategic-merge-patch+json', image))).toBe(text);
    const plain = deployment('d') as { spec: { template: { spec: object } } };
    const template = { ...plain.spec.template, spec: { ...plain.spec.template.spec, hostPID: true } };
    const d = await api.post('/apis/apps/v1/namespaces/warned/deployments', {
      ...plain,
      spec: { ...plain.spec, template },
    });
    expect([d.status, warning(d)]).toEqual([201, text]);
    const rc = await api.post(`${path}/replicationcontrollers`, {
      metadata: { name: 'rc' },
      spec: { selector: { a: 'b' }, template: { metadata: { labels: { a: 'b' } }, spec } },
    });
    expect([rc.status, warning(rc)]).toEqual([201, text]);
  });

  test('refuses invalid labels, and warns about pods that violate a new level', async () => {
    const path = await made('later', {});
    await api.made(`${path}/pods`, { metadata: { name: 'p' }, spec: { ...base, hostPID: true } });
    const invalid = await api.patch(path, MERGE, labelled({ enforce: 'lax' }));
    expect([invalid.status, invalid.body['message']]).toEqual([
      422,
      `Namespace "later" is invalid: metadata.labels[${label('enforce')}]: Invalid value: "lax": must be one of ` +
        'privileged, baseline, restricted',
    ]);
    expect(warning(await api.patch(path, MERGE, labelled({ enforce: 'baseline' })))).toEqual([
      '299 - "existing pods in namespace \\"later\\" violate the new PodSecurity enforce level \\"baseline:latest\\""',
      '299 - "p: host namespaces"',
    ]);
    expect(warning(await api.patch(path, MERGE, labelled({ enforce: 'baseline', audit: 'baseline' })))).toBeUndefined();
    const unknown = { metadata: { name: 'x', ...labelled({ warn: 'x' }).metadata } };
    expect((await api.post('/api/v1/namespaces', unknown)).status).toBe(422);
  });
});

test('exempt namespaces, users and runtime classes are not checked, and labels without effect cause a warning', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'capstan-pod-security-'));
  const exemptions = {
    namespaces: ['exempt'],
    usernames: ['system:serviceaccount:checked:free'],
    runtimeClasses: ['rc'],
  };
  const configuration = {
    apiVersion: 'pod-security.admission.config.k8s.io/v1',
    kind: 'PodSecurityConfiguration',
    defaults: { enforce: 'baseline', warn: 'restricted', 'warn-version': 'v1.7' },
    exemptions,
  };
  const auditLogPath = join(directory, 'audit.log');
  const [admission, policy] = [join(directory, 'admission.yaml'), join(directory, 'policy.yaml')];
  const plugins = [{ name: 'PodSecurity', configuration }];
  writeFileSync(
    admission,
    JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AdmissionConfiguration', plugins }),
  );
  const rules = [
    { level: 'Metadata', resources: [{ group: '', resources: ['pods'] }], omitStages: ['RequestReceived'] },
  ];
  writeFileSync(policy, JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules }));
  const api = await Api.start({ admissionControlConfigFile: admission, auditLogPath, auditPolicyFile: policy });
  try {
    const [enforce, audit] = ['pod-security.kubernetes.io/enforce', 'pod-security.kubernetes.io/audit'];
    const namespace = (name: string, labels: object) => api.post('/api/v1/namespaces', { metadata: { name, labels } });
    const exempt = await namespace('exempt', { [enforce]: 'restricted' });
    expect(exempt.headers['warning']).toBe(
      '299 - "namespace \\"exempt\\" is exempt from Pod Security, and the policy (enforce=restricted:latest) will be ignored"',
    );
    expect((await namespace('checked', { [audit]: 'baseline' })).headers['warning']).toBeUndefined();
    await api.made('/apis/node.k8s.io/v1/runtimeclasses', { metadata: { name: 'rc' }, handler: 'h' });
    const pod = (name: string, spec: object = {}) => ({
      metadata: { name },
      spec: { hostPID: true, containers: [{ name: 'c', image: 'i' }], ...spec },
    });
    const create = async (path: string, body: object, token?: string) =>
      (await api.post(`/api/v1/namespaces/${path}/pods`, body, token ? { token } : {})).status;
    expect(await create('exempt', pod('a'))).toBe(201);
    expect(await create('checked', pod('b'))).toBe(403);
    expect(await create('checked', pod('c', { runtimeClassName: 'rc' }))).toBe(201);
    const roles = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';
    await api.made(roles, {
      metadata: { name: 'free' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'ServiceAccount', name: 'free', namespace: 'checked' }],
    });
    await api.made('/api/v1/namespaces/checked/serviceaccounts', { metadata: { name: 'free' } });
    const granted = await api.post('/api/v1/namespaces/checked/serviceaccounts/free/token', { spec: {} });
    const token = textOf(granted.body['status']?.['token']);
    expect(await create('checked', pod('d'), token)).toBe(201);
    const annotations = (): { [name: string]: object } =>
      Object.fromEntries(
        readFileSync(auditLogPath, 'utf8')
          .split('\n')
          .filter(line => line.includes('"verb":"create"'))
          .map(line => JSON.parse(line) as { objectRef: { name?: string }; annotations: { [name: string]: string } })
          .map(({ objectRef, annotations: all }) => [
            objectRef.name,
            Object.fromEntries(
              Object.entries(all)
                .filter(([name]) => name.startsWith('pod-security'))
                .map(([name, value]) => [name.replace('pod-security.kubernetes.io/', ''), value]),
            ),
          ]),
      );
    await api.until(async () => annotations()['d'] !== undefined);
    expect(annotations()).toEqual({
      a: { exempt: 'namespace' },
      b: {
        'enforce-policy': 'baseline:latest',
        'audit-violations': 'would violate PodSecurity "baseline:latest": host namespaces (hostPID=true)',
      },
      c: { exempt: 'runtimeClass' },
      d: { exempt: 'user' },
    });
  } finally {
    await api.close();
    rmSync(directory, { recursive: true });
  }
});
