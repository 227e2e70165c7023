import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { configMap, deployment, several } from './manifests.js';
import { type BuiltServer, hasKubectl, Kubectl, startMemoryServer } from './server.js';
import { CERTIFICATE_REQUEST } from '../access/data/certificateRequest.js';
import { eventually } from '../support/eventually.js';

const able = await hasKubectl();

describe.skipIf(!able)('kubectl', () => {
  let server: BuiltServer;
  let k: Kubectl;
  beforeAll(async () => {
    server = await startMemoryServer();
    k = new Kubectl(server, 'clients');
    await k.with({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'clients' } }, 'create');
  });
  afterAll(() => server?.close());

  test('create creates objects of several kinds from one YAML stream, and fails the second time [R015 R021]', async () => {
    expect((await k.with(several, 'create')).trim().split('\n')).toEqual([
      'service/web created',
      'secret/token created',
      'cronjob.batch/nightly created',
      'ingress.networking.k8s.io/front created',
    ]);
    const again = await k.try(['create', '-f', '-'], { input: several });
    expect(again.code).toBe(1);
    expect(again.err).toContain('services "web" already exists');
    await k.with(several, 'delete');
  });

  test('create by generator: namespace, configmap, secret, deployment, job, role, rolebinding, quota', async () => {
    const dry = async (...args: string[]): Promise<string> => (await k.run('create', ...args)).trim();
    expect(await dry('configmap', 'g', '--from-literal=a=b')).toBe('configmap/g created');
    expect(await dry('secret', 'generic', 'g', '--from-literal=a=b')).toBe('secret/g created');
    expect(await dry('deployment', 'g', '--image=nginx')).toBe('deployment.apps/g created');
    expect(await dry('job', 'g', '--image=busybox')).toBe('job.batch/g created');
    expect(await dry('role', 'g', '--verb=get', '--resource=pods')).toBe('role.rbac.authorization.k8s.io/g created');
    expect(await dry('rolebinding', 'g', '--role=g', '--user=alice')).toBe(
      'rolebinding.rbac.authorization.k8s.io/g created',
    );
    expect(await dry('quota', 'g', '--hard=pods=3')).toBe('resourcequota/g created');
  });

  test('get prints in every output format [R013 R015]', async () => {
    await k.with(deployment('formats', 3), 'create');
    const get = (format: string): Promise<string> => k.run('get', 'deployment', 'formats', '-o', format);
    expect(JSON.parse(await get('json'))).toMatchObject({
      kind: 'Deployment',
      spec: { replicas: 3, revisionHistoryLimit: 10 },
    });
    expect(await get('yaml')).toMatch(/^apiVersion: apps\/v1\nkind: Deployment\n/);
    expect(await get('name')).toBe('deployment.apps/formats\n');
    expect(await get('jsonpath={.spec.template.spec.containers[0].image}')).toBe('nginx:1.25');
    expect(await get('go-template={{.metadata.name}}/{{.spec.replicas}}')).toBe('formats/3');
    expect(await get('custom-columns=N:.metadata.name,R:.spec.replicas')).toMatch(/^N +R\nformats +3\n$/);
    expect(await get('wide')).toMatch(
      /NAME +READY +UP-TO-DATE +AVAILABLE +AGE +CONTAINERS +IMAGES +SELECTOR\nformats +0\/3 /,
    );
    expect(await k.run('get', 'deployment', 'formats')).toMatch(
      /^NAME +READY +UP-TO-DATE +AVAILABLE +AGE\nformats +0\/3 +0 +0 +\d+s\n$/,
    );
    expect(await k.run('get', 'deployments', '--show-labels', '-L', 'app')).toContain('app=formats');
    expect(await k.run('get', 'cm', '-A', '--sort-by=.metadata.name')).toContain('kube-root-ca.crt');
  });

  test('get by selectors, of missing objects, of a kind without objects', async () => {
    await k.with(configMap('red', {}, { labels: { color: 'red' } }), 'create');
    await k.with(configMap('blue', {}, { labels: { color: 'blue' } }), 'create');
    expect(await k.run('get', 'cm', '-l', 'color in (red,green)', '-o', 'name')).toBe('configmap/red\n');
    expect(await k.run('get', 'cm', '--field-selector=metadata.name=blue', '-o', 'name')).toBe('configmap/blue\n');
    expect((await k.try(['get', 'cm', 'none'])).err).toBe(
      'Error from server (NotFound): configmaps "none" not found\n',
    );
    expect((await k.try(['get', 'pods'])).err).toBe('No resources found in clients namespace.\n');
    expect((await k.try(['get', 'nothings'])).err).toContain(`the server doesn't have a resource type "nothings"`);
  });

  test('get -w shows changes', async () => {
    const watch = k.start('get', 'cm', '-w', '--field-selector=metadata.name=seen', '--output-watch-events');
    try {
      const more = k.start('get', 'secrets', '-w');
      await k.with(configMap('seen'), 'create');
      await eventually(() => watch.lines.length >= 2);
      await k.run('label', 'cm', 'seen', 'a=b');
      await k.run('delete', 'cm', 'seen');
      await eventually(() => watch.lines.length >= 4);
      expect(watch.lines.map(line => line.split(/\s+/)[0])).toEqual(['EVENT', 'ADDED', 'MODIFIED', 'DELETED']);
      await more.stop();
    } finally {
      await watch.stop();
    }
  });

  test('apply creates, changes, removes fields that the manifest no longer has, and changes nothing the second time', async () => {
    expect(await k.with(configMap('applied', { a: '1', b: '2' }), 'apply')).toBe('configmap/applied created\n');
    await k.run('annotate', 'cm', 'applied', 'by=another');
    expect(await k.with(configMap('applied', { a: '3' }), 'apply')).toBe('configmap/applied configured\n');
    expect(await k.json('get', 'cm', 'applied')).toMatchObject({
      data: { a: '3' },
      metadata: { annotations: { by: 'another' } },
    });
    expect(await k.run('get', 'cm', 'applied', '-o', 'jsonpath={.data}')).toBe('{"a":"3"}');
    expect(await k.with(configMap('applied', { a: '3' }), 'apply')).toBe('configmap/applied unchanged\n');
    await k.with(deployment('rolled', 1), 'apply');
    expect(await k.with(deployment('rolled', 2, 'nginx:1.26'), 'apply')).toBe('deployment.apps/rolled configured\n');
    expect(await k.json('get', 'deploy', 'rolled')).toMatchObject({
      metadata: { generation: 2 },
      spec: { replicas: 2 },
    });
  });

  test('apply --prune removes objects that are no longer in the set', async () => {
    const labelled = (name: string): object => configMap(name, { k: 'v' }, { labels: { set: 'pruned' } });
    const list = (...items: object[]): object => ({ apiVersion: 'v1', kind: 'List', items });
    const flags = ['apply', '--prune', '-l', 'set=pruned', '--prune-allowlist=core/v1/ConfigMap'];
    await k.with(list(labelled('p1'), labelled('p2')), ...flags);
    expect(await k.with(list(labelled('p1')), ...flags)).toBe('configmap/p1 unchanged\nconfigmap/p2 pruned\n');
  });

  test('invalid manifests are refused by kubectl and by the server', async () => {
    const unknown = await k.try(['create', '-f', '-'], { input: JSON.stringify({ ...configMap('bad'), spec: {} }) });
    expect(unknown.err).toContain('unknown field "spec"');
    const invalid = await k.try(['create', '-f', '-'], { input: JSON.stringify(configMap('BAD')) });
    expect(invalid.err).toContain('The ConfigMap "BAD" is invalid: metadata.name: Invalid value');
  });

  test('a body or patch that does not result in an object is refused with the cause', async () => {
    await k.with(configMap('whole'), 'create');
    const patched = await k.try(['patch', 'cm', 'whole', '-p', '{"metadata":{"labels":"invalid"}}']);
    expect(patched.err).toContain('cannot restore map from string');
    const raw = ['create', '--raw', '/api/v1/namespaces', '-f', '-'];
    const yaml = await k.try(raw, { input: 'apiVersion: v1\nkind: Pod\n' });
    expect(yaml.err).toContain('the object provided is unrecognized (must be of type Namespace)');
  });

  test('certificate approves and denies requests, also while impersonating', async () => {
    const request = {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: 'asked' },
      spec: { request: CERTIFICATE_REQUEST, signerName: 'example.com/signer', usages: ['client auth'] },
    };
    const state = (): Promise<string> => k.run('get', 'csr', 'asked', '-o', 'jsonpath={.status.conditions[*].type}');
    for (const [verb, type] of [
      ['approve', 'Approved'],
      ['deny', 'Denied'],
    ] as const) {
      await k.with(
        request,
        'create',
        '--as=zoe',
        '--as-group=group2',
        '--as-group=,,,one',
        '--as-group=system:masters',
      );
      expect((await k.json('get', 'csr', 'asked')).spec).toMatchObject({
        username: 'zoe',
        groups: ['group2', ',,,one', 'system:masters', 'system:authenticated'],
      });
      expect(await state()).toBe('');
      await k.run('certificate', verb, 'asked');
      expect(await state()).toBe(type);
      await k.run('delete', 'csr', 'asked');
    }
    expect((await k.try(['get', 'ns', '--as=zoe'])).err).toContain('User "zoe" cannot list resource "namespaces"');
  });

  test('describe shows an object of every family', async () => {
    await k.with(deployment('described'), 'create');
    expect(await k.run('describe', 'deployment', 'described')).toMatch(/^Name: +described\nNamespace: +clients\n/);
    expect(await k.run('describe', 'namespace', 'clients')).toMatch(/Status: +Active/);
    expect(await k.run('describe', 'clusterrole', 'view')).toContain('PolicyRule');
    expect(await k.run('describe', 'cm', 'kube-root-ca.crt')).toContain('ca.crt:');
  });

  test('label and annotate set, refuse to overwrite, overwrite and remove', async () => {
    await k.with(configMap('marked'), 'create');
    const metadata = async (): Promise<unknown> => (await k.json('get', 'cm', 'marked')).metadata;
    await k.run('label', 'cm', 'marked', 'a=1', 'b=2');
    expect((await k.try(['label', 'cm', 'marked', 'a=3'])).err).toContain('already has a value');
    await k.run('label', 'cm', 'marked', 'a=3', 'b-', '--overwrite');
    await k.run('annotate', 'cm', 'marked', 'note=some text');
    expect(await metadata()).toMatchObject({ labels: { a: '3' }, annotations: { note: 'some text' } });
    await k.run('annotate', 'cm', 'marked', 'note-');
    expect(await metadata()).not.toHaveProperty('annotations');
  });

  test('patch in its three types', async () => {
    await k.with(deployment('patched'), 'create');
    const patch = (type: string, body: unknown): Promise<string> =>
      k.run('patch', 'deployment', 'patched', '--type', type, '-p', JSON.stringify(body));
    const containers = [{ name: 'side', image: 'busybox' }];
    await patch('strategic', { spec: { template: { spec: { containers } } } });
    await patch('merge', { spec: { replicas: 4 } });
    await patch('json', [{ op: 'replace', path: '/spec/template/spec/containers/0/image', value: 'busybox:2' }]);
    const images = 'jsonpath={.spec.replicas} {.spec.template.spec.containers[*].image}';
    expect((await k.run('get', 'deploy', 'patched', '-o', images)).split(' ').sort()).toEqual([
      '4',
      'busybox:2',
      'nginx:1.25',
    ]);
    expect(await patch('merge', { spec: { replicas: 4 } })).toBe('deployment.apps/patched patched (no change)\n');
    await k.run(
      'patch',
      'deployment',
      'patched',
      '--subresource=status',
      '--type=merge',
      '-p',
      '{"status":{"replicas":4}}',
    );
    expect(await k.run('get', 'deploy', 'patched', '-o', 'jsonpath={.status.replicas}')).toBe('4');
  });

  test('edit writes the edited object', async () => {
    await k.with(configMap('edited', { k: 'before' }), 'create');
    const editor = k.file('editor.sh', `#!/bin/sh\nsed -i 's/k: before/k: after/' "$1"\n`);
    const { code, err } = await k.try(['edit', 'cm', 'edited'], { env: { KUBE_EDITOR: editor } });
    expect([code, err]).toEqual([0, '']);
    expect(await k.run('get', 'cm', 'edited', '-o', 'jsonpath={.data.k}')).toBe('after');
  });

  test('replace, replace with a stale version, replace --force', async () => {
    await k.with(configMap('replaced', { k: '1' }), 'create');
    const old = await k.json('get', 'cm', 'replaced');
    await k.with(configMap('replaced', { k: '2' }), 'replace');
    const stale = await k.try(['replace', '-f', '-'], { input: JSON.stringify(old) });
    expect(stale.err).toContain(
      'the object has been modified; please apply your changes to the latest version and try again',
    );
    await k.with(configMap('replaced', { k: '3' }), 'replace', '--force');
    expect(await k.json('get', 'cm', 'replaced')).toMatchObject({ data: { k: '3' } });
  });

  test('scale, set image, expose, run [R152x]', async () => {
    await k.with(deployment('scaled'), 'create');
    expect(await k.run('scale', 'deployment', 'scaled', '--replicas=5')).toBe('deployment.apps/scaled scaled\n');
    const wrong = await k.try(['scale', 'deployment', 'scaled', '--replicas=6', '--current-replicas=1']);
    expect(wrong.code).toBe(1);
    await k.run('set', 'image', 'deployment/scaled', 'web=nginx:2');
    expect(await k.run('get', 'deploy', 'scaled', '-o', 'jsonpath={.spec.replicas} {..image}')).toBe('5 nginx:2');
    expect(await k.run('expose', 'deployment', 'scaled', '--port=80')).toBe('service/scaled exposed\n');
    expect(await k.run('run', 'lone', '--image=busybox')).toBe('pod/lone created\n');
    expect(await k.run('get', 'pod', 'lone')).toMatch(/NAME +READY +STATUS +RESTARTS +AGE\nlone +0\/1 +Pending +0 +/);
  });

  test('delete waits for finalizers; --wait=false does not', async () => {
    await k.with(configMap('held', {}, { finalizers: ['example.com/hold'] }), 'create');
    await k.run('delete', 'cm', 'held', '--wait=false');
    const waiting = k.start('delete', 'cm', 'held', '--wait');
    await eventually(() => waiting.lines.length > 0);
    const wait = k.try(['wait', '--for=delete', 'cm/held', '--timeout=30s']);
    await k.run('patch', 'cm', 'held', '--type=merge', '-p', '{"metadata":{"finalizers":null}}');
    expect(await waiting.code).toBe(0);
    expect((await wait).code).toBe(0);
    expect((await k.try(['get', 'cm', 'held'])).code).toBe(1);
    expect((await k.try(['delete', 'cm', 'held'])).err).toContain('(NotFound)');
    await k.run('delete', 'cm', 'held', '--ignore-not-found');
  });

  test('delete --cascade: background and foreground delete dependents, orphan keeps them', async () => {
    for (const cascade of ['background', 'foreground', 'orphan']) {
      await k.with(configMap('owner'), 'create');
      const { uid } = (await k.json('get', 'cm', 'owner')).metadata as { uid: string };
      const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid, blockOwnerDeletion: true }];
      await k.with(configMap(`of-${cascade}`, {}, { ownerReferences }), 'create');
      await k.run('delete', 'cm', 'owner', `--cascade=${cascade}`);
      if (cascade === 'orphan') {
        expect((await k.json('get', 'cm', 'of-orphan')).metadata).not.toHaveProperty('ownerReferences');
      } else {
        expect((await k.try(['wait', '--for=delete', `cm/of-${cascade}`, '--timeout=30s'])).code).toBe(0);
      }
    }
  });

  test('delete by label and --all', async () => {
    for (const name of ['x1', 'x2']) await k.with(configMap(name, {}, { labels: { gone: 'yes' } }), 'create');
    expect(await k.run('delete', 'cm', '-l', 'gone=yes')).toBe('configmap "x1" deleted\nconfigmap "x2" deleted\n');
  });

  test('edit --subresource=status changes the status alone', async () => {
    await k.with(deployment('status-only', 3), 'create');
    const editor = k.file(
      'status.sh',
      `#!/bin/sh\nsed -i 's/  replicas: 3/  replicas: 9/; s/^status: {}/status:\\n  replicas: 7/' "$1"\n`,
    );
    const edit = ['edit', 'deployment', 'status-only', '--subresource=status'];
    expect(await k.try(edit, { env: { KUBE_EDITOR: editor } })).toMatchObject({ code: 0 });
    expect(await k.run('get', 'deployment', 'status-only', '-o', 'jsonpath={.spec.replicas} {.status.replicas}')).toBe(
      '3 7',
    );
  });

  test('diff --server-side shows what an apply would change, and changes nothing', async () => {
    const diff = (value: string) =>
      k.try(['diff', '--server-side', '-f', '-'], { input: JSON.stringify(configMap('compared', { k: value })) });
    expect((await diff('new')).out).toContain('+  k: new');
    expect((await k.try(['get', 'cm', 'compared'])).code).toBe(1);
    await k.try(['apply', '--server-side', '-f', '-'], { input: JSON.stringify(configMap('compared', { k: 'new' })) });
    expect(await diff('new')).toMatchObject({ code: 0, out: '' });
    expect(await diff('other')).toMatchObject({ code: 1, out: expect.stringContaining('-  k: new\n+  k: other') });
    expect(await k.run('get', 'cm', 'compared', '-o', 'jsonpath={.data.k}')).toBe('new');
  });

  test.each([
    ['client-side', []],
    ['server-side', ['--server-side']],
  ])('apply --prune with an apply set removes objects that are no longer in the set: %s', async (name, flags) => {
    const env = { KUBECTL_APPLYSET: 'true' };
    const set = (...names: string[]) =>
      k.try(['apply', ...flags, '--prune', `--applyset=${name}-set`, '-f', '-'], {
        input: JSON.stringify({
          apiVersion: 'v1',
          kind: 'List',
          items: names.map(one => configMap(`${name}-${one}`)),
        }),
        env,
      });
    expect(await set('a', 'b')).toMatchObject({ code: 0 });
    const parent = await k.json('get', 'secret', `${name}-set`);
    expect(parent.metadata).toMatchObject({
      annotations: { 'applyset.kubernetes.io/contains-group-kinds': 'ConfigMap' },
      labels: { 'applyset.kubernetes.io/id': expect.stringMatching(/^applyset-.*-v1$/) },
    });
    expect((await set('b', 'c')).out).toContain(`configmap/${name}-a pruned`);
    expect(await k.run('get', 'cm', '-l', 'applyset.kubernetes.io/part-of', '-o', 'name')).toContain(
      `configmap/${name}-b\nconfigmap/${name}-c\n`,
    );
    expect((await k.try(['get', 'cm', `${name}-a`])).code).toBe(1);
  });

  test('events are shown, also those for an object', async () => {
    await k.with(configMap('watched'), 'create');
    const event = (name: string, more: object) => ({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name },
      involvedObject: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'clients', name: 'watched' },
      reason: 'Tested',
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:00:00Z',
      type: 'Warning',
      ...more,
    });
    await k.with(event('one', { message: 'first' }), 'create');
    await k.with(event('two', { message: 'second', type: 'Normal' }), 'create');
    const shown = await k.run('events', '--for=configmap/watched', '--types=Warning');
    expect(shown).toMatch(/ConfigMap\/watched +first/);
    expect(shown).not.toContain('second');
  });

  test('several kinds are shown as a List that kubectl creates [R056]', async () => {
    await k.with(several, 'apply');
    const list = await k.json('get', 'services,secrets', '-l', 'app=several');
    expect([list.kind, list.apiVersion]).toEqual(['List', 'v1']);
    expect((list.items as { kind: string }[]).map(item => item.kind)).toEqual(['Service', 'Secret']);
    expect(await k.run('get', 'services,secrets', '-l', 'app=several', '-o', 'yaml')).toMatch(
      /^apiVersion: v1\nitems:[\s\S]*\nkind: List\n/,
    );
    await k.with(several, 'delete');
  });

  test('wait --for=create returns once the object exists', async () => {
    const wait = k.try(['wait', '--for=create', 'cm/expected', '--timeout=30s']);
    await k.with(configMap('expected'), 'create');
    expect(await wait).toMatchObject({ code: 0, out: 'configmap/expected condition met\n' });
    const never = await k.try(['wait', '--for=create', 'cm/unexpected', '--timeout=1s']);
    expect(never.code).toBe(1);
  });

  test('wide output adds the columns of each kind', async () => {
    await k.run('run', 'wide', '--image=busybox');
    expect(await k.run('get', 'pods', 'wide', '-o', 'wide')).toMatch(
      /^NAME +READY +STATUS +RESTARTS +AGE +IP +NODE +NOMINATED NODE +READINESS GATES\nwide +0\/1 +Pending +0 +\d+s +<none> +<none> +<none> +<none>\n$/,
    );
    await k.run('create', 'service', 'clusterip', 'wide', '--tcp=80');
    expect(await k.run('get', 'service', 'wide', '-o', 'wide')).toMatch(
      /^NAME +TYPE +CLUSTER-IP +EXTERNAL-IP +PORT\(S\) +AGE +SELECTOR\n/,
    );
    expect(await k.run('get', 'pods,services', '-o', 'name')).toContain('pod/wide\nservice/');
    await k.run('delete', 'pod/wide', 'service/wide');
  });

  test('wait --for a condition and a value', async () => {
    await k.with(deployment('awaited'), 'create');
    const condition = k.try(['wait', '--for=condition=Available', 'deployment/awaited', '--timeout=30s']);
    const value = k.try(['wait', '--for=jsonpath={.status.replicas}=1', 'deployment/awaited', '--timeout=30s']);
    const at = '2026-01-01T00:00:00Z';
    const conditions = [
      { type: 'Available', status: 'True', reason: 'x', message: 'x', lastUpdateTime: at, lastTransitionTime: at },
    ];
    const body = JSON.stringify({ status: { replicas: 1, conditions } });
    await k.run('patch', 'deployment', 'awaited', '--subresource=status', '--type=merge', '-p', body);
    expect((await condition).out).toBe('deployment.apps/awaited condition met\n');
    expect((await value).code).toBe(0);
  });

  test('explain, with --recursive [R106x]', async () => {
    expect(await k.run('explain', 'deployment.spec.replicas')).toMatch(
      /KIND: +Deployment[\s\S]*FIELD: replicas <integer>/,
    );
    const all = await k.run('explain', 'pod', '--recursive');
    expect(all).toMatch(/\n +containers\t<\[\]Container> -required-\n/);
    expect(all).toContain('topologySpreadConstraints');
    expect((await k.try(['explain', 'pod.spec.nothing'])).err).toContain('field "nothing" does not exist');
  });

  test('api-resources, api-versions, version, cluster-info', async () => {
    const resources = await k.run('api-resources');
    expect(resources).toMatch(/\npods +po +v1 +true +Pod\n/);
    expect(resources).toMatch(/\ndeployments +deploy +apps\/v1 +true +Deployment\n/);
    expect(await k.run('api-resources', '--namespaced=false', '-o', 'name')).toContain(
      'clusterroles.rbac.authorization.k8s.io',
    );
    expect(await k.run('api-resources', '--verbs=list', '--api-group=apps', '-o', 'wide')).toContain(
      'deletecollection',
    );
    expect((await k.run('api-versions')).split('\n')).toEqual(expect.arrayContaining(['apps/v1', 'batch/v1', 'v1']));
    expect(await k.run('version')).toMatch(/Server Version: v1\.32\./);
  });

  test('a namespace is deleted with its objects [R027 R117x]', async () => {
    await k.run('create', 'namespace', 'short-lived');
    const inside = new Kubectl(server, 'short-lived');
    await inside.with(several, 'create');
    await inside.with(deployment('web'), 'create');
    expect(await k.run('delete', 'namespace', 'short-lived')).toBe('namespace "short-lived" deleted\n');
    expect((await k.try(['get', 'namespace', 'short-lived'])).code).toBe(1);
  });
});
