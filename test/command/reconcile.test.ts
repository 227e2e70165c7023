import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { authCommand } from '../../core/command/subcommands/auth.js';
import { Api } from '../api/support.js';
import { MERGE } from '../support/mediaTypes.js';

const apiGroup = 'rbac.authorization.k8s.io';
const ROLES = `/apis/${apiGroup}/v1/namespaces/team/roles`;
const BINDINGS = `/apis/${apiGroup}/v1/clusterrolebindings`;
const FILE = `
apiVersion: ${apiGroup}/v1
kind: Role
metadata: { name: reader, namespace: team, labels: { a: b } }
rules:
- { apiGroups: [""], resources: [pods], verbs: [get, list] }
---
apiVersion: ${apiGroup}/v1
kind: ClusterRoleBinding
metadata: { name: viewers }
roleRef: { apiGroup: ${apiGroup}, kind: ClusterRole, name: view }
subjects:
- { kind: User, apiGroup: ${apiGroup}, name: ann }
---
{ apiVersion: v1, kind: ConfigMap, metadata: { name: other } }
`;

const directory = mkdtempSync(join(tmpdir(), 'capstan-reconcile-'));
const file = join(directory, 'roles.yaml');
const kubeconfig = join(directory, 'kubeconfig');
let api: Api;
beforeAll(async () => {
  api = await Api.start();
  writeFileSync(file, FILE);
  writeFileSync(kubeconfig, api.server.kubeconfig);
});
afterAll(async () => {
  await api.close();
  rmSync(directory, { recursive: true });
});

async function reconcile(...flags: string[]): Promise<string[]> {
  const lines: string[] = [];
  const io = { out: (line: string) => void lines.push(line), err: (line: string) => void lines.push(line) };
  expect(await authCommand(['reconcile', '-f', file, `--kubeconfig=${kubeconfig}`, ...flags], io)).toBe(0);
  return lines;
}
const verbsOf = async () => {
  const { body } = await api.get(`${ROLES}/reader`);
  return (body.rules as unknown as { verbs: string[] }[]).map(({ verbs }) => verbs.join());
};
const subjectsOf = async () =>
  ((await api.get(`${BINDINGS}/viewers`)).body.subjects as unknown as { name: string }[]).map(({ name }) => name);

test('auth reconcile creates missing objects with their namespace, and skips other kinds [A368]', async () => {
  expect(await reconcile('--dry-run')).toContain(`role.${apiGroup}/reader reconciled (dry run)`);
  expect((await api.get(`${ROLES}/reader`)).status).toBe(404);
  const lines = await reconcile();
  expect(lines).toContain(`role.${apiGroup}/reader reconciled`);
  expect(lines).toContain('skipping ConfigMap other: neither a role nor a binding');
  expect(await verbsOf()).toEqual(['get,list']);
  expect(await reconcile()).toContain(`clusterrolebinding.${apiGroup}/viewers unchanged`);
});

test('auth reconcile adds missing permissions and subjects, and removes extra ones if requested [A369] [A370] [A371]', async () => {
  const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'delete'] }];
  await api.call('PUT', `${ROLES}/reader`, { body: { metadata: { name: 'reader' }, rules } });
  const body = { subjects: [{ kind: 'User', apiGroup, name: 'bob' }] };
  await api.call('PATCH', `${BINDINGS}/viewers`, { body, type: MERGE });
  await reconcile();
  expect([await verbsOf(), await subjectsOf()]).toEqual([
    ['get,delete', 'list'],
    ['bob', 'ann'],
  ]);
  expect((await api.get(`${ROLES}/reader`)).body.metadata?.labels).toEqual({ a: 'b' });
  await reconcile('--remove-extra-permissions');
  expect([await verbsOf(), await subjectsOf()]).toEqual([['get,list'], ['bob', 'ann']]);
  await reconcile('--remove-extra-subjects');
  expect(await subjectsOf()).toEqual(['ann']);
});

test('auth reconcile recreates a binding whose role has changed', async () => {
  await api.delete(`${BINDINGS}/viewers`);
  const roleRef = { apiGroup, kind: 'ClusterRole', name: 'edit' };
  await api.made(BINDINGS, { metadata: { name: 'viewers' }, roleRef, subjects: [] });
  await reconcile();
  expect((await api.get(`${BINDINGS}/viewers`)).body.roleRef?.name).toBe('view');
  expect(await subjectsOf()).toEqual(['ann']);
});
