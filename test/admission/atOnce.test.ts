import { afterAll, beforeAll, expect, test } from 'vitest';
import { Api } from '../api/support.js';
import { Hooks, install } from './hooks.js';
import { MERGE } from '../support/mediaTypes.js';

/* A change of objects that policies and webhooks depend on is effective for the next request on every connection, in
 * many repetitions. */

const GROUP = '/apis/admissionregistration.k8s.io/v1';
const SECRETS = '/api/v1/namespaces/shop/secrets';
const MAPS = '/api/v1/namespaces/shop/configmaps';
const SHOP = '/api/v1/namespaces/shop';
const ROUNDS = 15;
const WRITERS = 6;
const [ALLOWED, DENIED] = [new Set([201]), new Set([422])];

let api: Api;
let hooks: Hooks;
beforeAll(async () => {
  hooks = await Hooks.start();
  api = await Api.start();
  await api.made('/api/v1/namespaces', { metadata: { name: 'shop' } });
});
afterAll(async () => {
  await api.close();
  await hooks.close();
});

const matchConstraints = (labels?: object): object => ({
  resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['secrets'] }],
  ...(labels ? { namespaceSelector: { matchLabels: labels } } : {}),
});
const policyOf = (name: string, spec: object): object => ({
  metadata: { name },
  spec: { matchConstraints: matchConstraints(), validations: [{ expression: 'false' }], ...spec },
});
const bindingOf = (name: string, spec: object = {}): object => ({
  metadata: { name },
  spec: { policyName: name, validationActions: ['Deny'], ...spec },
});

async function make(name: string, policy: object, binding: object = {}): Promise<void> {
  await api.made(`${GROUP}/validatingadmissionpolicies`, policyOf(name, policy));
  await api.made(`${GROUP}/validatingadmissionpolicybindings`, bindingOf(name, binding));
}
async function remove(name: string): Promise<void> {
  await api.delete(`${GROUP}/validatingadmissionpolicybindings/${name}`);
  await api.delete(`${GROUP}/validatingadmissionpolicies/${name}`);
}

/** The codes of creates that are sent together, each on a new connection. */
const codes = async (): Promise<Set<number>> => {
  const create = async () => (await api.post(`${SECRETS}?dryRun=All`, { metadata: { name: 'secret' } })).status;
  return new Set(await Promise.all(Array.from({ length: WRITERS }, create)));
};

test('changes of bindings and policies take effect with the next request', async () => {
  await api.made(`${GROUP}/validatingadmissionpolicies`, policyOf('bound', {}));
  for (let i = 0; i < ROUNDS; i++) {
    await api.made(`${GROUP}/validatingadmissionpolicybindings`, bindingOf('bound'));
    expect(await codes()).toEqual(DENIED);
    await api.delete(`${GROUP}/validatingadmissionpolicybindings/bound`);
    expect(await codes()).toEqual(ALLOWED);
  }
  await api.made(`${GROUP}/validatingadmissionpolicybindings`, bindingOf('bound'));
  for (let i = 0; i < ROUNDS; i++)
    for (const [expression, expected] of [
      ['true', ALLOWED],
      ['false', DENIED],
    ] as const) {
      await api.patch(`${GROUP}/validatingadmissionpolicies/bound`, MERGE, { spec: { validations: [{ expression }] } });
      expect(await codes()).toEqual(expected);
    }
  for (let i = 0; i < ROUNDS; i++) {
    await api.delete(`${GROUP}/validatingadmissionpolicies/bound`);
    expect(await codes()).toEqual(ALLOWED);
    await api.made(`${GROUP}/validatingadmissionpolicies`, policyOf('bound', {}));
    expect(await codes()).toEqual(DENIED);
  }
  await remove('bound');
});

test.each([
  ['name', { name: 'limit' }],
  ['labels', { selector: { matchLabels: { limit: 'yes' } } }],
])('changes of parameters that are referred to by %s take effect with the next request', async (by, reference) => {
  const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' };
  const validations = [{ expression: "params.data.allow == 'yes'" }];
  await make(`by-${by}`, { paramKind, validations }, { paramRef: { ...reference, parameterNotFoundAction: 'Deny' } });
  const limit = { metadata: { name: 'limit', labels: { limit: 'yes' } }, data: { allow: 'yes' } };
  for (let i = 0; i < ROUNDS; i++) {
    expect(await codes()).toEqual(DENIED);
    await api.made(MAPS, limit);
    expect(await codes()).toEqual(ALLOWED);
    await api.patch(`${MAPS}/limit`, MERGE, { data: { allow: 'no' } });
    expect(await codes()).toEqual(DENIED);
    await api.patch(`${MAPS}/limit`, MERGE, { data: { allow: 'yes' } });
    expect(await codes()).toEqual(ALLOWED);
    if (by === 'labels') {
      await api.patch(`${MAPS}/limit`, MERGE, { metadata: { labels: { limit: 'no' } } });
      expect(await codes()).toEqual(DENIED);
    }
    await api.delete(`${MAPS}/limit`);
  }
  await remove(`by-${by}`);
});

test('changes of namespace labels take effect with the next request, in selectors and in expressions', async () => {
  await make('selected', { matchConstraints: matchConstraints({ strict: 'yes' }) });
  await make('seen', {
    validations: [{ expression: "namespaceObject.metadata.?labels.?closed.orValue('') != 'yes'" }],
  });
  for (let i = 0; i < ROUNDS; i++)
    for (const label of ['strict', 'closed']) {
      await api.patch(SHOP, MERGE, { metadata: { labels: { [label]: 'yes' } } });
      expect(await codes()).toEqual(DENIED);
      await api.patch(SHOP, MERGE, { metadata: { labels: { [label]: null } } });
      expect(await codes()).toEqual(ALLOWED);
    }
  await remove('selected');
  await remove('seen');
});

test('changes of webhooks and of labels that they select namespaces by take effect with the next request', async () => {
  const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['secrets'] }];
  const webhook = (more: object): object => hooks.webhook('/no', { rules, objectSelector: {}, ...more });
  hooks.on('/no', () => ({ allowed: false, status: { code: 422 } }));
  const path = `${GROUP}/validatingwebhookconfigurations/no`;
  for (let i = 0; i < ROUNDS; i++) {
    await install(api, 'Validating', 'no', webhook({}));
    expect(await codes()).toEqual(DENIED);
    await api.delete(path);
    expect(await codes()).toEqual(ALLOWED);
  }
  await install(api, 'Validating', 'no', webhook({ namespaceSelector: { matchLabels: { hooked: 'yes' } } }));
  for (let i = 0; i < ROUNDS; i++) {
    await api.patch(SHOP, MERGE, { metadata: { labels: { hooked: 'yes' } } });
    expect(await codes()).toEqual(DENIED);
    await api.patch(SHOP, MERGE, { metadata: { labels: { hooked: null } } });
    expect(await codes()).toEqual(ALLOWED);
  }
});
