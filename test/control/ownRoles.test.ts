import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pkcs10 } from '../access/certificateRequests.js';
import { Api, type Loose } from '../api/support.js';

/* Controllers with `--use-service-account-credentials`: each has the permissions of the role of its account. */

const ACCOUNT = 'system:serviceaccount:kube-system:';
const DEFAULT = '/api/v1/namespaces/default';
const SYSTEM = '/api/v1/namespaces/kube-system';
const PUBLIC = '/api/v1/namespaces/kube-public';
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const CSRS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const POLICIES = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';

/** The annotation of audit events that holds the decision of the authorizers. */
const DECISION = 'authorization.k8s.io/decision';

const directory = mkdtempSync(join(tmpdir(), 'capstan-own-roles-'));
const auditLogPath = join(directory, 'audit.log');
const auditPolicyFile = join(directory, 'policy.yaml');
let api: Api;
beforeAll(async () => {
  const policy = {
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    omitStages: ['RequestReceived'],
    rules: [{ level: 'Metadata', userGroups: ['system:serviceaccounts:kube-system'] }],
  };
  writeFileSync(auditPolicyFile, JSON.stringify(policy));
  api = await Api.start({
    dataDir: join(directory, 'data'),
    authorizationMode: ['Node', 'RBAC'],
    useServiceAccountCredentials: true,
    enableBootstrapTokenAuth: true,
    auditLogPath,
    auditPolicyFile,
  });
});
afterAll(async () => {
  await api?.close();
  rmSync(directory, { recursive: true, force: true });
});

const encode = (data: Record<string, string>): object =>
  Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')]));
const until = (path: string, isSo: (object: Loose) => unknown): Promise<void> =>
  api.until(async () => {
    const { status, body } = await api.get(path);
    return status === 200 && Boolean(isSo(body));
  });
const untilGone = (path: string): Promise<void> => api.until(async () => (await api.get(path)).status === 404);

/** Requests of the accounts of controllers, as the audit log has them. */
const requests = (): Loose[] =>
  readFileSync(auditLogPath, 'utf8')
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as Loose)
    .filter(event => String(event.user?.username).startsWith(ACCOUNT));

/** The purpose of each controller, by the name of its account. */
const WORK: Readonly<Record<string, () => Promise<void>>> = {
  async 'namespace-controller'() {
    const path = await api.namespace('ended');
    await api.made(`${path}/configmaps`, { metadata: { name: 'left' } });
    await api.delete(path);
    await untilGone(path);
  },
  async 'service-account-controller'() {
    await until(`${await api.namespace('with-account')}/serviceaccounts/default`, () => true);
  },
  async 'root-ca-cert-publisher'() {
    await until(`${await api.namespace('with-ca')}/configmaps/kube-root-ca.crt`, ({ data }) => data?.['ca.crt']);
  },
  async 'generic-garbage-collector'() {
    const owner = await api.made(`${DEFAULT}/configmaps`, { metadata: { name: 'owner' } });
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata!.uid }];
    await api.made(`${DEFAULT}/configmaps`, { metadata: { name: 'owned', ownerReferences } });
    await api.delete(`${DEFAULT}/configmaps/owner`);
    await untilGone(`${DEFAULT}/configmaps/owned`);
  },
  async 'clusterrole-aggregation-controller'() {
    const labels = { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' };
    const rules = [{ apiGroups: ['example.com'], resources: ['teapots'], verbs: ['get'] }];
    await api.made(`${RBAC}/clusterroles`, { metadata: { name: 'teapots', labels }, rules });
    await until(`${RBAC}/clusterroles/view`, role => JSON.stringify(role).includes('teapots'));
  },
  async 'bootstrap-signer'() {
    const data = encode({
      'token-id': 'abcdef',
      'token-secret': '0123456789abcdef',
      'usage-bootstrap-signing': 'true',
    });
    const type = 'bootstrap.kubernetes.io/token';
    await api.made(`${SYSTEM}/secrets`, { metadata: { name: 'bootstrap-token-abcdef' }, type, data });
    await api.made(`${PUBLIC}/configmaps`, { metadata: { name: 'cluster-info' }, data: { kubeconfig: 'any' } });
    await until(`${PUBLIC}/configmaps/cluster-info`, info => info['data']?.['jws-kubeconfig-abcdef']);
  },
  async 'token-cleaner'() {
    const data = encode({
      'token-id': 'fedcba',
      'token-secret': '0123456789abcdef',
      expiration: '2020-01-01T00:00:00Z',
    });
    const type = 'bootstrap.kubernetes.io/token';
    await api.made(`${SYSTEM}/secrets`, { metadata: { name: 'bootstrap-token-fedcba' }, type, data });
    await untilGone(`${SYSTEM}/secrets/bootstrap-token-fedcba`);
  },
  async 'certificate-controller'() {
    const { request } = await pkcs10('CN=system:node:n1, O=system:nodes');
    const signerName = 'kubernetes.io/kube-apiserver-client-kubelet';
    const spec = { signerName, request, usages: ['client auth', 'digital signature'] };
    await api.made(CSRS, { metadata: { name: 'node' }, spec });
    await until(`${CSRS}/node`, ({ status }) => status?.['certificate']);
  },
  async 'pvc-protection-controller'() {
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
    const path = `${DEFAULT}/persistentvolumeclaims`;
    const made = await api.made(path, { metadata: { name: 'claim' }, spec });
    expect(made.metadata?.['finalizers']).toEqual(['kubernetes.io/pvc-protection']);
    await api.delete(`${path}/claim`);
    await untilGone(`${path}/claim`);
  },
  async 'pv-protection-controller'() {
    const spec = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/data' } };
    await api.made('/api/v1/persistentvolumes', { metadata: { name: 'volume' }, spec });
    await api.delete('/api/v1/persistentvolumes/volume');
    await untilGone('/api/v1/persistentvolumes/volume');
  },
  async 'validatingadmissionpolicy-status-controller'() {
    const resourceRules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['services'] }];
    const spec = { matchConstraints: { resourceRules }, validations: [{ expression: 'true' }] };
    await api.made(POLICIES, { metadata: { name: 'checked' }, spec });
    await until(`${POLICIES}/checked`, ({ status }) => status?.['observedGeneration']);
  },
};

test.each(Object.keys(WORK))('%s does its work with its own role [A157]', async account => {
  await WORK[account]!();
  await api.until(async () => requests().some(({ user }) => String(user!.username) === ACCOUNT + account));
});

test('no controller sends a request that its role does not allow, and none may do everything', () => {
  const decided = (decision: string): Loose[] =>
    requests().filter(event => String(event['annotations']?.[DECISION]) === decision);
  const forbidden = decided('forbid');
  expect(decided('allow')).not.toEqual([]);
  expect(forbidden.map(({ user, requestURI, verb }) => [user!.username, verb, requestURI])).toEqual([]);
  const own = requests().filter(({ user }) => String(user!.username).slice(ACCOUNT.length) in WORK);
  expect(own.filter(({ user }) => JSON.stringify(user!['groups']).includes('system:masters'))).toEqual([]);
});
