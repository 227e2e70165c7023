import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadSettings } from '../../core/command/config.js';
import { programOf } from '../../core/command/upstream/kubeApiserver.js';
import { checkFeatures } from '../../core/server/features.js';
import { DEFAULTS } from '../../core/server/settings.js';
import { startServer } from '../server/library.js';
import { eventually } from '../support/eventually.js';
import { certificates, etcdWanted, startEtcd } from '../storage/etcd.js';

/*
 * Command lines with which programs start the upstream server, as they are published: test environments, installers and
 * upstream's own tests. They start, serve and stop in this process. `DIR` is a directory of the test; without
 * `ETCD`, the store is in memory instead of an etcd.
 */

const folder = mkdtempSync(join(tmpdir(), 'capstan-starts-'));
const agent = new Agent({ connect: { rejectUnauthorized: false } });
let etcd: Awaited<ReturnType<typeof startEtcd>> | undefined;

const ADMIN = 'admin-token';
const WEBHOOK = { server: 'https://127.0.0.1:1/review', 'insecure-skip-tls-verify': true };
const KUBECONFIG = {
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [{ name: 'a', cluster: WEBHOOK }],
  contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
  users: [{ name: 'a', user: {} }],
  'current-context': 'a',
};

const FILES: { readonly [name: string]: string | object } = {
  'tokens.csv': `${ADMIN},admin,uid:admin,system:masters\n`,
  'audit.yaml': { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'Metadata' }] },
  'webhook.kubeconfig': KUBECONFIG,
  'abac.jsonl': '{"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":{"user":"admin"}}\n',
  'admission.yaml': {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AdmissionConfiguration',
    plugins: [
      {
        name: 'PodSecurity',
        configuration: {
          apiVersion: 'pod-security.admission.config.k8s.io/v1',
          kind: 'PodSecurityConfiguration',
          defaults: { enforce: 'baseline', 'enforce-version': 'latest' },
        },
      },
    ],
  },
  'authn.yaml': { apiVersion: 'apiserver.config.k8s.io/v1beta1', kind: 'AuthenticationConfiguration', jwt: [] },
  'authz.yaml': {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthorizationConfiguration',
    authorizers: [
      { type: 'Node', name: 'node' },
      { type: 'RBAC', name: 'rbac' },
    ],
  },
  'encryption.yaml': {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'EncryptionConfiguration',
    resources: [
      {
        resources: ['secrets'],
        providers: [
          { aescbc: { keys: [{ name: 'k1', secret: Buffer.alloc(32, 7).toString('base64') }] } },
          { identity: {} },
        ],
      },
    ],
  },
  'tracing.yaml': { apiVersion: 'apiserver.config.k8s.io/v1beta1', kind: 'TracingConfiguration' },
};

beforeAll(async () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  });
  for (const [name, content] of Object.entries({ ...FILES, 'sa.key': privateKey, 'sa.pub': publicKey }))
    writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
  await certificates(folder);
  mkdirSync(join(folder, 'logs'));
  if (etcdWanted) etcd = await startEtcd();
});
afterAll(async () => {
  await agent.destroy();
  await etcd?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const ACCOUNTS =
  '--service-account-issuer=https://kubernetes.default.svc --service-account-key-file=DIR/sa.pub ' +
  '--service-account-signing-key-file=DIR/sa.key';
const NETWORK = '--service-cluster-ip-range=10.96.0.0/12';
const TLS = '--tls-cert-file=DIR/server.crt --tls-private-key-file=DIR/server.key';
const PROXY =
  '--requestheader-client-ca-file=DIR/ca.crt --requestheader-allowed-names=front-proxy-client ' +
  '--requestheader-extra-headers-prefix=X-Remote-Extra- --requestheader-group-headers=X-Remote-Group ' +
  '--requestheader-username-headers=X-Remote-User --proxy-client-cert-file=DIR/client.crt ' +
  '--proxy-client-key-file=DIR/client.key';
const KUBELET =
  '--kubelet-client-certificate=DIR/client.crt --kubelet-client-key=DIR/client.key ' +
  '--kubelet-preferred-address-types=InternalIP,ExternalIP,Hostname';
/** The flags that upstream's test server always has. */
const TEST_SERVER = `--cert-dir=DIR/certs ${ACCOUNTS} ${NETWORK} --enable-bootstrap-token-auth=false`;

/** Flags by the program that starts the server with them. */
const STARTS: { readonly [program: string]: string } = {
  'controller-runtime: envtest':
    `--advertise-address=127.0.0.1 --allow-privileged=true --authorization-mode=RBAC --cert-dir=DIR/certs ` +
    `--client-ca-file=DIR/ca.crt --disable-admission-plugins=ServiceAccount ${ACCOUNTS} ` +
    '--service-cluster-ip-range=10.0.0.0/24',
  'controller-runtime: envtest, as described for users':
    '--cert-dir DIR/certs --service-cluster-ip-range 10.0.0.0/24 --disable-admission-plugins ServiceAccount ' +
    `${ACCOUNTS} --authorization-mode RBAC --allow-privileged`,
  'envtest with admission plugins turned on':
    `--cert-dir=DIR/certs ${ACCOUNTS} ${NETWORK} --authorization-mode=RBAC ` +
    '--enable-admission-plugins=OwnerReferencesPermissionEnforcement --disable-admission-plugins=ServiceAccount',
  'kubeadm: control plane':
    '--advertise-address=127.0.0.1 --allow-privileged=true --authorization-mode=Node,RBAC ' +
    '--client-ca-file=DIR/ca.crt --enable-admission-plugins=NodeRestriction --enable-bootstrap-token-auth=true ' +
    `${KUBELET} ${PROXY} ${ACCOUNTS} ${NETWORK} ${TLS}`,
  'kubeadm: with an audit log':
    `--authorization-mode=Node,RBAC --client-ca-file=DIR/ca.crt ${ACCOUNTS} ${NETWORK} ${TLS} ` +
    '--audit-policy-file=DIR/audit.yaml --audit-log-path=DIR/logs/kubeadm.log --audit-log-maxage=2',
  'kind: control plane':
    `--authorization-mode=Node,RBAC --client-ca-file=DIR/ca.crt ${ACCOUNTS} ${NETWORK} ${TLS} --runtime-config= ` +
    '--enable-admission-plugins=NodeRestriction --enable-bootstrap-token-auth=true',
  'kind: with gates and all APIs':
    `--authorization-mode=Node,RBAC --client-ca-file=DIR/ca.crt ${ACCOUNTS} ${NETWORK} ${TLS} ` +
    '--feature-gates=AllAlpha=true,AllBeta=true --runtime-config=api/all=true',
  'minikube: control plane':
    '--authorization-mode=Node,RBAC --client-ca-file=DIR/ca.crt --enable-admission-plugins=NamespaceLifecycle,' +
    'LimitRanger,ServiceAccount,DefaultStorageClass,DefaultTolerationSeconds,NodeRestriction,' +
    `MutatingAdmissionWebhook,ValidatingAdmissionWebhook,ResourceQuota ${ACCOUNTS} ${NETWORK} ${TLS} ${KUBELET}`,
  'kwok: a cluster of processes':
    '--etcd-prefix=/registry ETCD --allow-privileged=true --bind-address=127.0.0.1 --max-requests-inflight=0 ' +
    `--max-mutating-requests-inflight=0 --enable-priority-and-fairness=false ${ACCOUNTS} ${TLS} ` +
    '--authorization-mode=Node,RBAC --client-ca-file=DIR/ca.crt --cert-dir=DIR/certs ' +
    '--service-cluster-ip-range=10.96.0.0/12',
  'kwok: without authorization':
    `--admission-control= --storage-media-type=application/json --cert-dir=DIR/certs ${ACCOUNTS} ` +
    '--disable-admission-plugins=ServiceAccount --service-cluster-ip-range=10.0.0.0/24',
  'local-up-cluster':
    '--cert-dir=DIR/certs --egress-selector-config-file= --client-ca-file=DIR/ca.crt ' +
    `--kubelet-client-certificate=DIR/client.crt --kubelet-client-key=DIR/client.key ${ACCOUNTS} ` +
    '--service-account-lookup=true --enable-admission-plugins=NamespaceLifecycle,LimitRanger,ServiceAccount,' +
    'DefaultStorageClass,DefaultTolerationSeconds,Priority,MutatingAdmissionWebhook,ValidatingAdmissionWebhook,' +
    'ResourceQuota,NodeRestriction --disable-admission-plugins= --admission-control-config-file= ' +
    '--bind-address=127.0.0.1 --external-hostname=localhost --profiling=true --v=3 --vmodule= ' +
    `--service-cluster-ip-range=10.0.0.0/24 --feature-gates=AllAlpha=false ${PROXY} --cors-allowed-origins=//127.0.0.1`,
  'the hard way':
    '--allow-privileged=true --audit-log-maxage=30 --audit-log-maxbackup=3 --audit-log-maxsize=100 ' +
    '--audit-log-path=DIR/logs/hard.log --authorization-mode=Node,RBAC --bind-address=0.0.0.0 ' +
    '--client-ca-file=DIR/ca.crt --enable-admission-plugins=NamespaceLifecycle,NodeRestriction,LimitRanger,' +
    'ServiceAccount,DefaultStorageClass,ResourceQuota ETCD --event-ttl=1h ' +
    '--encryption-provider-config=DIR/encryption.yaml --kubelet-certificate-authority=DIR/ca.crt ' +
    `--kubelet-client-certificate=DIR/client.crt --kubelet-client-key=DIR/client.key --runtime-config=api/all=true ` +
    `${ACCOUNTS} --service-cluster-ip-range=10.32.0.0/24 --service-node-port-range=30000-32767 ${TLS} --v=2`,
  'gce: control plane':
    '--allow-privileged=true --anonymous-auth=true --authorization-mode=Node,RBAC --client-ca-file=DIR/ca.crt ' +
    `--token-auth-file=DIR/tokens.csv --storage-backend=memory ${ACCOUNTS} ${NETWORK} ${TLS} ` +
    '--enable-aggregator-routing=true --delete-collection-workers=1 --max-requests-inflight=400 --v=2 ' +
    '--livez-grace-period=60s --storage-media-type=application/vnd.kubernetes.protobuf --min-request-timeout=300',
  'a small distribution with a datastore of its own':
    '--allow-privileged=true --anonymous-auth=false --api-audiences=https://kubernetes.default.svc ' +
    '--authorization-mode=Node,RBAC --bind-address=127.0.0.1 --cert-dir=DIR/certs --client-ca-file=DIR/ca.crt ' +
    `--egress-selector-config-file= --enable-admission-plugins=NodeRestriction ${KUBELET} ${PROXY} ${ACCOUNTS} ` +
    '--profiling=false --service-cluster-ip-range=10.43.0.0/16 --service-node-port-range=30000-32767 ' +
    `--storage-backend=memory ${TLS} --tls-min-version=VersionTLS12`,
  'several networks': `${TEST_SERVER} --service-cluster-ip-range=10.0.0.0/16,2001:db8:1::/108`,
  'hosted control plane':
    '--enable-aggregator-routing=true --endpoint-reconciler-type=none --authorization-mode=Node,RBAC ' +
    `--audit-log-format=json --goaway-chance=0.001 --http2-max-streams-per-connection=2000 ${ACCOUNTS} ${TLS} ` +
    '--shutdown-delay-duration=0s --shutdown-send-retry-after=true --client-ca-file=DIR/ca.crt --v=2 ' +
    '--watch-cache-sizes=secrets#100,configmaps#100 --service-cluster-ip-range=172.30.0.0/16 ' +
    '--kubernetes-service-node-port=0 --logging-format=json --service-account-max-token-expiration=24h',
  'tests: the plain test server': TEST_SERVER,
  'tests: without any plugin of admission': `${TEST_SERVER} --disable-admission-plugins=ServiceAccount,TaintNodesByCondition,Priority,StorageObjectInUseProtection`,
  'tests: RBAC': `${TEST_SERVER} --authorization-mode=RBAC --token-auth-file=DIR/tokens.csv`,
  'tests: the node authorizer':
    `${TEST_SERVER} --authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction ` +
    '--token-auth-file=DIR/tokens.csv --disable-admission-plugins=ServiceAccount,TaintNodesByCondition',
  'tests: ABAC':
    `${TEST_SERVER} --authorization-mode=ABAC --authorization-policy-file=DIR/abac.jsonl ` +
    '--token-auth-file=DIR/tokens.csv',
  'tests: a webhook that authorizes':
    `${TEST_SERVER} --authorization-mode=RBAC,Webhook --authorization-webhook-config-file=DIR/webhook.kubeconfig ` +
    '--authorization-webhook-version=v1 --authorization-webhook-cache-authorized-ttl=0 ' +
    '--authorization-webhook-cache-unauthorized-ttl=0',
  'tests: a file of authorizers': `${TEST_SERVER} --authorization-config=DIR/authz.yaml`,
  'tests: a webhook that authenticates':
    `${TEST_SERVER} --authentication-token-webhook-config-file=DIR/webhook.kubeconfig ` +
    '--authentication-token-webhook-version=v1 --authentication-token-webhook-cache-ttl=1s --authorization-mode=RBAC',
  'tests: a file of issuers': `${TEST_SERVER} --authentication-config=DIR/authn.yaml --authorization-mode=RBAC`,
  'tests: an OpenID Connect provider':
    `${TEST_SERVER} --oidc-issuer-url=https://127.0.0.1:1 --oidc-client-id=tea --oidc-ca-file=DIR/ca.crt ` +
    '--oidc-username-claim=email --oidc-username-prefix=- --oidc-groups-claim=groups --oidc-groups-prefix=oidc: ' +
    '--oidc-required-claim=hd=example.com --oidc-signing-algs=RS256,ES256 --authorization-mode=RBAC',
  'tests: bootstrap tokens': `${TEST_SERVER} --enable-bootstrap-token-auth --authorization-mode=RBAC`,
  'tests: no anonymous requests': `${TEST_SERVER} --anonymous-auth=false --authorization-mode=RBAC`,
  'tests: an authenticating proxy': `${TEST_SERVER} ${PROXY} --authorization-mode=RBAC`,
  'tests: the uid of an authenticating proxy':
    `${TEST_SERVER} ${PROXY} --requestheader-uid-headers=X-Remote-Uid --authorization-mode=RBAC ` +
    '--feature-gates=RemoteRequestHeaderUID=true',
  'tests: pod security':
    `${TEST_SERVER} --enable-admission-plugins=PodSecurity --admission-control-config-file=DIR/admission.yaml ` +
    '--disable-admission-plugins=ServiceAccount --allow-privileged=true',
  'tests: an audit log':
    `${TEST_SERVER} --audit-policy-file=DIR/audit.yaml --audit-log-path=DIR/logs/audit.log --audit-log-version ` +
    'audit.k8s.io/v1 --audit-log-mode blocking',
  'tests: an audit webhook':
    `${TEST_SERVER} --audit-policy-file=DIR/audit.yaml --audit-webhook-config-file=DIR/webhook.kubeconfig ` +
    '--audit-webhook-mode=batch --audit-webhook-initial-backoff=1s --audit-webhook-batch-max-size=5',
  'tests: encrypted secrets':
    `${TEST_SERVER} ETCD --encryption-provider-config=DIR/encryption.yaml ` +
    '--encryption-provider-config-automatic-reload=true',
  'tests: an etcd with a prefix': `${TEST_SERVER} ETCD --etcd-prefix=/tests/prefix --storage-media-type=application/json`,
  'tests: storage versions':
    `${TEST_SERVER} --feature-gates=APIServerIdentity=true,StorageVersionAPI=true ` +
    '--runtime-config=internal.apiserver.k8s.io/v1alpha1=true',
  'tests: migration of storage versions':
    `${TEST_SERVER} --feature-gates=StorageVersionMigrator=true,InformerResourceVersion=true ` +
    '--runtime-config=storagemigration.k8s.io/v1alpha1=true',
  'tests: APIs turned on and off': `${TEST_SERVER} --runtime-config=api/all=false,v1=true,apps/v1=true,rbac.authorization.k8s.io/v1=true`,
  'tests: all APIs': `${TEST_SERVER} --runtime-config=api/all=true`,
  'tests: an emulated release':
    `${TEST_SERVER} --emulated-version=kube=1.31 --feature-gates=MultiCIDRServiceAllocator=true ` +
    '--runtime-config=networking.k8s.io/v1beta1=true',
  'tests: CBOR': `${TEST_SERVER} --feature-gates=CBORServingAndStorage=true`,
  'tests: dynamic resource allocation': `${TEST_SERVER} --feature-gates=DynamicResourceAllocation=true --runtime-config=resource.k8s.io/v1beta1=true`,
  'tests: cells that are read after a failure': `${TEST_SERVER} --feature-gates=AllowUnsafeMalformedObjectDeletion=true --watch-cache=false`,
  'tests: tracing': `${TEST_SERVER} --tracing-config-file=DIR/tracing.yaml`,
  'tests: a slow end': `${TEST_SERVER} --shutdown-delay-duration=1ms --shutdown-watch-termination-grace-period=1s`,
  'tests: metrics':
    `${TEST_SERVER} --show-hidden-metrics-for-version=1.31 --disabled-metrics=apiserver_request_total ` +
    '--allow-metric-labels=a,b=c',
};

/**
 * Programs whose command lines are always tested: those that differ most, since a start takes a second of CPU time.
 * `CAPSTAN_STARTS=all` tests all of them.
 */
const ALWAYS: readonly string[] = [
  'kind: with gates and all APIs',
  'local-up-cluster',
  'the hard way',
  'tests: an emulated release',
];

const possible = Object.entries(STARTS).filter(([, flags]) => etcdWanted || !flags.includes('ETCD'));
const starts = possible.filter(([program]) => process.env['CAPSTAN_STARTS'] === 'all' || ALWAYS.includes(program));

/** The settings of a command line, with a free port. */
function settingsOf(flags: string, i: number) {
  const usesEtcd = flags.includes('ETCD');
  const store = usesEtcd || flags.includes('--storage-backend') ? '' : ' --storage-backend=memory';
  const port = ' --secure-port=6443 --bind-address=127.0.0.1';
  const certs = flags.includes('--cert-dir') ? '' : ' --cert-dir=DIR/certs';
  const text = (flags + store + certs + port)
    .replaceAll('DIR/certs', join(folder, `certs-${i}`))
    .replaceAll('DIR', folder)
    .replaceAll('ETCD', `--etcd-servers=${etcd?.url ?? ''}`);
  const { args, rules } = programOf(text.split(' ').filter(Boolean));
  return { ...loadSettings(args, undefined, rules), port: 0 };
}

test('the settings of all of them are accepted', async () => {
  expect(Object.keys(STARTS).length).toBeGreaterThanOrEqual(40);
  for (const [i, [program, flags]] of possible.entries())
    expect(() => checkFeatures({ ...DEFAULTS, ...settingsOf(flags, i) }), program).not.toThrow();
});

test.each(starts.map(([program, flags], i) => ({ program, flags, i })))(
  'kube-apiserver starts, serves and stops: $program',
  async ({ flags, i }) => {
    const server = await startServer(settingsOf(flags, i));
    try {
      const ask = async (path: string) => {
        const headers = { authorization: `Bearer ${server.token}` };
        const { statusCode, body } = await request(server.url + path, { dispatcher: agent, headers });
        await body.dump();
        return statusCode;
      };
      await eventually(async () => (await ask('/readyz')) === 200);
      expect(await ask('/api/v1/namespaces')).toBe(200);
    } finally {
      await server.close();
    }
  },
);
