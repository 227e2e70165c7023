import { decoded } from '../kinds/helpers.js';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type ApiObject,
  authenticator,
  healthCheck,
  type HealthCheck,
  httpDocuments,
  httpSite,
  metrics,
  resourceSource,
  service,
  tokenIssuer,
} from '../../core/api/index.js';
import {
  authenticatorConformance,
  fakeHost,
  healthCheckConformance,
  httpDocumentsConformance,
  httpSiteConformance,
  metricsConformance,
  partsOf,
  resourceSourceConformance,
  serviceConformance,
  tokenIssuerConformance,
} from '../../core/testing/index.js';
import serviceAccount from '../../plugins/authn/serviceAccount/index.js';
import tokenWebhook from '../../plugins/authn/webhook/index.js';
import abac from '../../plugins/authz/abac/index.js';
import configured from '../../plugins/authz/configured/index.js';
import { TOKEN_METRICS } from '../../plugins/authn/serviceAccount/metrics.js';
import basicHealth, { logCheck } from '../../plugins/health/basic.js';
import consolePlugin from '../../plugins/console/index.js';
import kinds from '../../plugins/kinds/index.js';
import { afterAll } from 'vitest';
import { conforms } from './conforms.js';
import { partly } from '../support/values.js';

/* The built-in health checks, tokens, documents and kinds pass the conformance suites of `capstan/testing`. */

const unwritable = {
  debug: (): never => {
    throw new Error('the disk is full');
  },
} as never;
for (const [i, makeUnhealthy] of [undefined, () => logCheck(unwritable)].entries())
  conforms(
    `basic-health, check ${i}`,
    healthCheckConformance({
      make: async () => (await partsOf(basicHealth, null, healthCheck, fakeHost('front').host))[i] as HealthCheck,
      ...(makeUnhealthy ? { makeUnhealthy } : {}),
    }),
  );

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const signingKeyFile = join(mkdtempSync(join(tmpdir(), 'capstan-key-')), 'key.pem');
writeFileSync(signingKeyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }));
const config = {
  issuers: ['https://issuer.example'],
  audiences: ['https://issuer.example'],
  keyFiles: [signingKeyFile],
  signingKeyFile,
  maxSeconds: 3600,
  extend: false,
  lookup: true,
  host: 'issuer.example',
};
const robot: ApiObject = {
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name: 'robot', namespace: 'default', uid: 'uid-robot' },
};
const hostWithRobot = () => {
  const fake = fakeHost('pool');
  fake.put('core/serviceaccounts', robot);
  return fake;
};
const makeAuthenticator = async () => (await partsOf(serviceAccount, config, authenticator, hostWithRobot().host))[0]!;
const make = async () => (await partsOf(serviceAccount, config, tokenIssuer, hostWithRobot().host))[0]!;

conforms(
  'the issuer of service account tokens',
  tokenIssuerConformance({ make, makeAuthenticator, now: hostWithRobot().now }),
);

const issuedAt = hostWithRobot().now / 1000;
const issuer = await make();
const issue = (account: ApiObject, seconds: number): Promise<string> =>
  issuer.issue({
    account,
    audiences: config.audiences,
    issuedAt: issuedAt + seconds - 60,
    expiresAt: issuedAt + seconds,
  });
const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
const [good, late, unknown] = [
  await issue(robot, 60),
  await issue(robot, -60),
  await issue({ ...robot, metadata: { ...robot.metadata, uid: 'another' } }, 60),
];
conforms(
  'service account tokens',
  authenticatorConformance({
    make: makeAuthenticator,
    good: {
      request: bearer(good),
      name: 'system:serviceaccount:default:robot',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:default'],
    },
    bad: [bearer(late), bearer(unknown)],
  }),
);

conforms(
  'the counters of tokens',
  metricsConformance({
    make: async () => (await partsOf(serviceAccount, config, metrics, fakeHost('front').host)).flat(),
    names: TOKEN_METRICS.map(({ name }) => name),
  }),
);

conforms(
  'the documents of the issuer',
  httpDocumentsConformance({
    make: async () => (await partsOf(serviceAccount, config, httpDocuments, fakeHost('front').host)).flat(),
    paths: ['/.well-known/openid-configuration', '/openid/v1/jwks'],
  }),
);

const consoleConfig = { adminTokens: '/dev/null' };
conforms(
  'the console',
  httpSiteConformance({
    make: async () => (await partsOf(consolePlugin, consoleConfig, httpSite, fakeHost('front').host))[0]!,
    path: '/console',
    pages: ['/console/icon.svg', '/console/'],
  }),
);

conforms(
  'the sessions of the console',
  serviceConformance({
    make: async () => (await partsOf(consolePlugin, consoleConfig, service, fakeHost('front').host))[0]!,
    questions: [{ question: ['unknown'], answer: null }],
  }),
);

const names = { kind: 'Order', plural: 'orders', singular: 'order', listKind: 'OrderList' };
const definition = partly<ApiObject>({
  apiVersion: 'apiextensions.orchestrator.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'orders.tea.example.com', generation: 2, resourceVersion: '7' },
  spec: {
    group: 'tea.example.com',
    scope: 'Namespaced',
    names,
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object' } },
        additionalPrinterColumns: [{ name: 'Cups', type: 'integer', jsonPath: '.spec.cups' }],
      },
      {
        name: 'v1beta1',
        served: true,
        storage: false,
        deprecated: true,
        schema: { openAPIV3Schema: { type: 'object' } },
      },
    ],
  },
  status: { acceptedNames: names, conditions: [{ type: 'Established', status: 'True' }] },
});
conforms(
  'definitions of custom resources',
  resourceSourceConformance({
    make: async () => {
      const source = (await partsOf(kinds, null, resourceSource, fakeHost('pool').host))[0]!;
      // Decoded, as in a server.
      return { ...source, define: object => source.define(decoded(source.storageName, object)) };
    },
    objects: [
      { object: definition, defines: 'orders.tea.example.com' },
      { object: { ...definition, status: {} } as ApiObject, defines: null },
    ],
  }),
);

const folder = mkdtempSync(join(tmpdir(), 'capstan-services-'));
const fronts: ReturnType<typeof fakeHost<'front'>>[] = [];
afterAll(async () => {
  for (const fake of fronts) await fake.close();
});
const front = () => {
  const fake = fakeHost('front');
  fronts.push(fake);
  return fake.host;
};
const policies = join(folder, 'policies');
writeFileSync(policies, '{"user":"bob","namespace":"a"}');
conforms(
  'the service of policies',
  serviceConformance({
    make: async () => (await partsOf(abac, { file: policies }, service, front()))[0]!,
    state: [
      {
        user: 'bob',
        group: '',
        apiGroup: '*',
        namespace: 'a',
        resource: '*',
        nonResourcePath: '',
        readonly: false,
        line: 1,
      },
    ],
  }),
);

const authorizers = join(folder, 'authorizers');
const apiVersion = 'apiserver.config.orchestrator.io/v1';
const rbac = { type: 'RBAC', name: 'rbac' };
writeFileSync(authorizers, JSON.stringify({ apiVersion, kind: 'AuthorizationConfiguration', authorizers: [rbac] }));
conforms(
  'the service of an authorization file',
  serviceConformance({
    make: async () => (await partsOf(configured, { file: authorizers, types: ['RBAC'] }, service, front()))[0]!,
    state: [rbac],
  }),
);

const answer = { value: { is: 'allow' }, until: Date.UTC(2031, 0) };
conforms(
  'the service of shared answers',
  serviceConformance({
    make: async () => (await partsOf(tokenWebhook, { file: 'x' }, service, front()))[0]!,
    questions: [
      { question: { is: 'get', key: 'a' }, answer: { is: 'find' } },
      { question: { is: 'get', key: 'b' }, answer: { is: 'find' } },
      { question: { is: 'found', key: 'a', answer }, answer: { is: 'failed', message: '' } },
      { question: { is: 'get', key: 'a' }, answer: { is: 'found', answer } },
    ],
  }),
);
