import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { X509Certificate } from 'node:crypto';
import { describe, test } from 'vitest';
import { type ApiObject, authenticator, authorizer, type Decision, mutator, validator } from '../../core/api/index.js';
import {
  authenticatorConformance,
  authorizerConformance,
  change,
  type ConformanceTest,
  fakeHost,
  mutatorConformance,
  partsOf,
  target,
  user,
  validatorConformance,
} from '../../core/testing/index.js';
import namespaceLifecycle from '../../plugins/admission/namespace-lifecycle.js';
import taintNewNodes from '../../plugins/admission/taint-new-nodes.js';
import clientCertificate from '../../plugins/authn/client-certificate.js';
import staticToken from '../../plugins/authn/static-token.js';
import { alwaysAllow, alwaysDeny } from '../../plugins/authz/always.js';
import rbac from '../../plugins/authz/rbac/plugin.js';
import systemMasters from '../../plugins/authz/system-masters.js';
import { CERTIFICATES } from '../access/data/certificates.js';

/* The built-in plugins pass the conformance suites that `capstan/testing` exports. */

function conforms(name: string, suite: readonly ConformanceTest[]): void {
  describe(name, () => {
    for (const { name, run } of suite) test(name, run);
  });
}

const tokens = join(mkdtempSync(join(tmpdir(), 'capstan-tokens-')), 'tokens.csv');
writeFileSync(tokens, 'good-token,ann,1,"a,b"\n');
conforms(
  'static tokens',
  authenticatorConformance({
    make: async () => (await partsOf(staticToken, { file: tokens }, authenticator, fakeHost('request').host))[0]!,
    good: { request: { headers: { authorization: 'Bearer good-token' } }, name: 'ann', groups: ['a', 'b'] },
    bad: [{ headers: { authorization: 'Bearer bad-token' } }],
  }),
);

const certificate = new X509Certificate(CERTIFICATES.plain);
conforms(
  'client certificates',
  authenticatorConformance({
    make: async () => {
      const fake = fakeHost('request');
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
      make: async () => (await partsOf(plugin, null, authorizer, fakeHost('request').host))[0]!,
      decisions: decisions(is),
    }),
  );
conforms(
  'system-masters',
  authorizerConformance({
    make: async () => (await partsOf(systemMasters, null, authorizer, fakeHost('request').host))[0]!,
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
      const fake = fakeHost('request');
      fake.put(`${GROUP}/roles`, { apiVersion: `${GROUP}/v1`, ...role, rules } as ApiObject);
      fake.put(`${GROUP}/rolebindings`, { apiVersion: `${GROUP}/v1`, kind: 'RoleBinding', ...binding } as ApiObject);
      return (await partsOf(rbac, null, authorizer, fake.host))[0]!;
    },
    decisions: [...decisions('allow'), { user: user('bob'), target: list, is: 'noOpinion' }],
  }),
);

const node = (spec: object): ApiObject =>
  ({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' }, spec }) as ApiObject;
const taints = [{ key: 'node.orchestrator.io/not-ready', effect: 'NoSchedule' }];
const newNode = change({ kind: 'Node', target: target({ verb: 'create', resource: 'nodes', namespace: '' }) });
conforms(
  'taint-new-nodes',
  mutatorConformance({
    make: async () => (await partsOf(taintNewNodes, undefined, mutator, fakeHost('request').host))[0]!,
    drafts: [
      { change: newNode, draft: node({}), after: node({ taints }) },
      { change: newNode, draft: node({ taints }), after: node({ taints }) },
    ],
  }),
);

const map: ApiObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default' } };
const lifecycle = async () => {
  const fake = fakeHost('request');
  fake.put('core/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } });
  return fake.host;
};
conforms(
  'namespace-lifecycle, the mutator',
  mutatorConformance({
    make: async () => (await partsOf(namespaceLifecycle, null, mutator, await lifecycle()))[0]!,
    drafts: [
      { change: change(), draft: map, after: map },
      { change: change({ target: target({ verb: 'create', namespace: 'absent' }) }), draft: map },
    ],
  }),
);
const deletion = (name: string) =>
  change({ operation: 'DELETE', target: target({ verb: 'delete', resource: 'namespaces', namespace: '', name }) });
conforms(
  'namespace-lifecycle, the validator',
  validatorConformance({
    make: async () => (await partsOf(namespaceLifecycle, null, validator, await lifecycle()))[0]!,
    objects: [
      { change: deletion('shop'), after: undefined, fields: [] },
      { change: deletion('default'), after: undefined },
    ],
  }),
);
