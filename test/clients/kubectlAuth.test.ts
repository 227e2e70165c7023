import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BuiltServer, hasKubectl, Kubectl, startMemoryServer } from './server.js';

const NAMESPACE = 'team';
const able = await hasKubectl();

describe.skipIf(!able)('kubectl', () => {
  let server: BuiltServer;
  let k: Kubectl;
  beforeAll(async () => {
    server = await startMemoryServer();
    k = new Kubectl(server, NAMESPACE);
    await k.run('create', 'namespace', NAMESPACE);
  });
  afterAll(() => server?.close());

  const can = async (...args: string[]): Promise<string> => (await k.try(['auth', 'can-i', ...args])).out.trim();

  test('create creates roles and bindings, which auth can-i reflects, also for other users and with --list [A367 A432 A433 A434]', async () => {
    const created = async (...args: string[]): Promise<string> => (await k.run('create', ...args)).trim();
    expect(await can('list', 'pods', '--as=ann')).toBe('no');
    expect(await created('role', 'reader', '--verb=get,list', '--resource=pods,deployments.apps')).toContain('created');
    expect(await created('rolebinding', 'reader', '--role=reader', '--user=ann')).toContain('created');
    expect(await created('clusterrole', 'scraper', '--verb=get', '--non-resource-url=/metrics')).toContain('created');
    expect(await created('clusterrolebinding', 'scraper', '--clusterrole=scraper', '--group=ops')).toContain('created');
    expect(await can('list', 'pods', '--as=ann')).toBe('yes');
    expect(await can('delete', 'pods', '--as=ann')).toBe('no');
    expect(await can('list', 'pods')).toBe('yes');
    expect(await can('list', 'pods', '--as=system:serviceaccount:team:robot')).toBe('no');
    expect(await can('get', '/metrics', '--as=bob', '--as-group=ops')).toBe('yes');
    const rules = await can('--list', '--as=ann');
    expect(rules).toMatch(/^pods +\[\] +\[\] +\[get list\]$/m);
    expect(rules).toMatch(/^deployments\.apps +\[\] +\[\] +\[get list\]$/m);
    expect(rules).toMatch(/^selfsubjectaccessreviews\.authorization\.k8s\.io +\[\] +\[\] +\[create\]$/m);
  });

  test('auth whoami names the user and its groups, also of the token of an account [A197 A207]', async () => {
    expect(await k.run('auth', 'whoami')).toMatch(/^Username +kube-admin\nGroups +\[system:masters/m);
    await k.run('create', 'serviceaccount', 'robot');
    const token = (await k.run('create', 'token', 'robot', '--duration=10m')).trim();
    const name = `system:serviceaccount:${NAMESPACE}:robot`;
    const bare = ['--kubeconfig=/dev/null', `--server=${await serverUrl()}`, '--insecure-skip-tls-verify'];
    expect((await k.try(['auth', 'whoami', `--token=${token}`, ...bare])).out).toContain(name);
    expect((await k.try(['get', 'pods', `--token=${token}`, ...bare])).err).toContain(
      `User "${name}" cannot list resource "pods" in API group "" in the namespace "${NAMESPACE}"`,
    );
  });

  test('runs the exec plugin of a kubeconfig that capstan kubeconfig wrote, and passes the cluster to it [A050 A056 A289x]', async () => {
    await k.run('create', 'serviceaccount', 'plugged');
    const token = (await k.run('create', 'token', 'plugged', '--duration=10m')).trim();
    const credential = { apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status: { token } };
    const plugin = k.file(
      'plugin.sh',
      `#!/bin/sh\necho "$KUBERNETES_EXEC_INFO" > ${server.dir}/info\ncat <<END\n${JSON.stringify(credential)}\nEND\n`,
    );
    const file = join(server.dir, 'exec.kubeconfig');
    const exec = [`--exec-command=${plugin}`, '--exec-provide-cluster-info', '--naming=kubernetes'];
    const flags = ['kubeconfig', `--kubeconfig=${server.kubeconfig}`, ...exec, `--output=${file}`];
    execFileSync(process.execPath, ['dist/core/command/main.js', ...flags]);
    const { out } = await k.try(['auth', 'whoami'], { env: { KUBECONFIG: file } });
    expect(out).toContain(`system:serviceaccount:${NAMESPACE}:plugged`);
    const info = JSON.parse(readFileSync(join(server.dir, 'info'), 'utf8')) as { spec: { cluster: object } };
    expect(info.spec.cluster).toMatchObject({ server: await serverUrl() });
  });

  test('auth reconcile creates, extends and, if requested, reduces roles [A368 A369 A370]', async () => {
    const verbsOf = async (): Promise<string> => k.run('get', 'role', 'kept', '-o', 'jsonpath={.rules[*].verbs}');
    const reconcile = (verbs: string[], ...flags: string[]): Promise<string> =>
      k.with(
        {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'Role',
          metadata: { name: 'kept', namespace: NAMESPACE },
          rules: [{ apiGroups: [''], resources: ['pods'], verbs }],
        },
        'auth',
        'reconcile',
        ...flags,
      );
    expect(await reconcile(['get'])).toContain('role.rbac.authorization.k8s.io/kept reconciled');
    await reconcile(['list']);
    expect(await verbsOf()).toBe('["get"] ["list"]');
    await reconcile(['list'], '--remove-extra-permissions');
    expect(await verbsOf()).toBe('["list"]');
  });

  const serverUrl = (): Promise<string> =>
    k.run('config', 'view', '--minify', '-o', 'jsonpath={.clusters[0].cluster.server}');
});
