import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { X509Certificate } from 'node:crypto';
import { type ApiObject, authenticator, authorizer, type Decision } from '../../core/api/index.js';
import {
  authenticatorConformance,
  authorizerConformance,
  fakeHost,
  partsOf,
  target,
  user,
} from '../../core/testing/index.js';
import clientCertificate from '../../plugins/authn/clientCertificate.js';
import bootstrapToken from '../../plugins/authn/bootstrapToken.js';
import staticToken from '../../plugins/authn/staticToken.js';
import { alwaysAllow, alwaysDeny } from '../../plugins/authz/always.js';
import node from '../../plugins/authz/node/plugin.js';
import rbac from '../../plugins/authz/rbac/plugin.js';
import systemMasters from '../../plugins/authz/systemMasters.js';
import { CERTIFICATES } from '../access/data/certificates.js';
import { conforms } from './conforms.js';
import { partly } from '../support/values.js';

/* The built-in authenticators and authorizers pass the conformance suites that `capstan/testing` exports. */

const tokens = join(mkdtempSync(join(tmpdir(), 'capstan-tokens-')), 'tokens.csv');
writeFileSync(tokens, 'good-token,ann,1,"a,b"\n');
conforms(
  'static tokens',
  authenticatorConformance({
    make: async () => (await partsOf(staticToken, { file: tokens }, authenticator, fakeHost('pool').host))[0]!,
    good: { request: { headers: { authorization: 'Bearer good-token' } }, name: 'ann', groups: ['a', 'b'] },
    bad: [{ headers: { authorization: 'Bearer bad-token' } }],
  }),
);

const encoded = (data: Record<string, string>) =>
  Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]));
const bootstrapSecret = partly<ApiObject>({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'bootstrap-token-abcdef', namespace: 'orchestrator-system' },
  type: 'bootstrap.orchestrator.io/token',
  data: encoded({
    'token-id': 'abcdef',
    'token-secret': '0123456789abcdef',
    'usage-bootstrap-authentication': 'true',
  }),
});
conforms(
  'bootstrap tokens',
  authenticatorConformance({
    make: async () => {
      const fake = fakeHost('pool');
      fake.put('core/secrets', bootstrapSecret);
      return (await partsOf(bootstrapToken, null, authenticator, fake.host))[0]!;
    },
    good: {
      request: { headers: { authorization: 'Bearer abcdef.0123456789abcdef' } },
      name: 'system:bootstrap:abcdef',
      groups: ['system:bootstrappers'],
    },
    bad: [
      { headers: { authorization: 'Bearer abcdef.0123456789abcdee' } },
      { headers: { authorization: 'Bearer fedcba.0123456789abcdef' } },
    ],
  }),
);

const certificate = new X509Certificate(CERTIFICATES.plain);
conforms(
  'client certificates',
  authenticatorConformance({
    make: async () => {
      const fake = fakeHost('pool');
      fake.now = Date.parse(certificate.validFrom) + 60_000;
      return (await partsOf(clientCertificate, null, authenticator, fake.host))[0]!;
    },
    good: { request: { certificate: CERTIFICATES.plain }, name: 'jane', groups: ['dev', 'qa, and more'] },
  }),
);

const list = target({ verb: 'list', name: '' });
const decisions = (is: Decision['is']) => [{ user: user('ann'), target: list, is }];
for (const [plugin, is] of [
  [alwaysAllow, 'allow'],
  [alwaysDeny, 'noOpinion'],
] as const)
  conforms(
    plugin.name,
    authorizerConformance({
      make: async () => (await partsOf(plugin, null, authorizer, fakeHost('pool').host))[0]!,
      decisions: decisions(is),
    }),
  );
conforms(
  'system-masters',
  authorizerConformance({
    make: async () => (await partsOf(systemMasters, null, authorizer, fakeHost('pool').host))[0]!,
    decisions: [...decisions('noOpinion'), { user: user('root', 'system:masters'), target: list, is: 'allow' }],
  }),
);

const GROUP = 'rbac.authorization.orchestrator.io';
const role = { kind: 'Role', metadata: { name: 'r', namespace: 'default' } };
const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }];
const binding = {
  metadata: { name: 'b', namespace: 'default' },
  roleRef: { apiGroup: GROUP, kind: 'Role', name: 'r' },
  subjects: [{ kind: 'User', apiGroup: GROUP, name: 'ann' }],
};
conforms(
  'rbac',
  authorizerConformance({
    make: async () => {
      const fake = fakeHost('pool');
      fake.put(`${GROUP}/roles`, { apiVersion: `${GROUP}/v1`, ...role, rules } as ApiObject);
      fake.put(`${GROUP}/rolebindings`, { apiVersion: `${GROUP}/v1`, kind: 'RoleBinding', ...binding } as ApiObject);
      return (await partsOf(rbac, null, authorizer, fake.host))[0]!;
    },
    decisions: [...decisions('allow'), { user: user('bob'), target: list, is: 'noOpinion' }],
  }),
);

const secret = target({ group: '', resource: 'secrets', name: 's' });
const agent = (name: string) => user(`system:node:${name}`, 'system:nodes');
const spec = { nodeName: 'n1', volumes: [{ name: 'v', secret: { secretName: 's' } }] };
conforms(
  'node',
  authorizerConformance({
    make: async () => {
      const fake = fakeHost('pool');
      const metadata = { name: 'p', namespace: 'default' };
      fake.put('core/pods', { apiVersion: 'v1', kind: 'Pod', metadata, spec } as ApiObject);
      return (await partsOf(node, null, authorizer, fake.host))[0]!;
    },
    decisions: [
      { user: agent('n1'), target: secret, is: 'allow' },
      { user: agent('n2'), target: secret, is: 'noOpinion' },
      { user: user('ann'), target: secret, is: 'noOpinion' },
    ],
  }),
);
