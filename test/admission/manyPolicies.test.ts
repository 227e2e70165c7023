import { afterAll, beforeAll, expect, test } from 'vitest';
import { Api } from '../api/support.js';

/* A hundred policies, with everything that a policy can have, over the writes of many clients. */

const POLICIES = 100;
const CLIENTS = 16;
const CREATES = 160;
const REGISTRATION = '/apis/admissionregistration.k8s.io/v1';
const RULES = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['configmaps'] }];
/** Namespaces with the largest number of entries that the parameters in them allow. */
const NAMESPACES = new Map([
  ['small', { tier: 'silver', max: 2 }],
  ['large', { tier: 'gold', max: 6 }],
]);

let api: Api;
beforeAll(async () => {
  api = await Api.start();
  for (const [name, { tier, max }] of NAMESPACES) {
    await api.made('/api/v1/namespaces', { metadata: { name, labels: { tier } } });
    const params = { metadata: { name: 'limits', labels: { is: 'params' } }, data: { max: String(max) } };
    await api.made(`/api/v1/namespaces/${name}/configmaps`, params);
  }
  await Promise.all(Array.from({ length: POLICIES }, (_, i) => install(i)));
});
afterAll(() => api?.close());

/**
 * Every policy refuses the names that end with its number. Every third one has parameters, and also refuses
 * objects with more entries than they allow; every fourth one is for namespaces of the tier gold only.
 */
async function install(i: number): Promise<void> {
  const name = `policy-${i}`;
  const withParams = i % 3 === 0;
  await api.made(`${REGISTRATION}/validatingadmissionpolicies`, {
    metadata: { name },
    spec: {
      matchConstraints: {
        resourceRules: RULES,
        ...(i % 4 === 1 ? { namespaceSelector: { matchLabels: { tier: 'gold' } } } : {}),
      },
      ...(withParams ? { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } } : {}),
      matchConditions: [
        { name: 'no-params', expression: "!has(object.metadata.labels) || !('is' in object.metadata.labels)" },
      ],
      variables: [
        { name: 'size', expression: 'has(object.data) ? object.data.size() : 0' },
        { name: 'isNamed', expression: `object.metadata.name.endsWith('-${i}')` },
      ],
      validations: [
        { expression: '!variables.isNamed', messageExpression: `'the name ' + object.metadata.name + ' is of ${i}'` },
        ...(i === 0 ? [{ expression: "variables.size <= int(params.data['max'])", message: 'too many entries' }] : []),
      ],
    },
  });
  await bind(i);
}

const bind = (i: number): Promise<unknown> =>
  api.made(`${REGISTRATION}/validatingadmissionpolicybindings`, {
    metadata: { name: `policy-${i}` },
    spec: {
      policyName: `policy-${i}`,
      validationActions: ['Deny'],
      ...(i % 3 === 0
        ? {
            paramRef: {
              parameterNotFoundAction: 'Deny',
              ...(i % 2 ? { name: 'limits' } : { selector: { matchLabels: { is: 'params' } } }),
            },
          }
        : {}),
    },
  });

const create = (namespace: string, name: string, entries = 0) =>
  api.post(`/api/v1/namespaces/${namespace}/configmaps`, {
    metadata: { name },
    data: Object.fromEntries(Array.from({ length: entries }, (_, i) => [`k${i}`, 'v'])),
  });

test('decide each write according to their rules, namespaces and parameters', async () => {
  let next = 0;
  const wrong: unknown[] = [];
  const client = async (): Promise<void> => {
    while (next < CREATES) {
      const i = next++;
      const [namespace, { tier, max }] = [...NAMESPACES][i % 2]!;
      const number = (i * 7) % 150;
      const entries = i % 8;
      const name = `n${i}-${number}`;
      const isNamed = number < POLICIES && (number % 4 !== 1 || tier === 'gold');
      const { status, body } = await create(namespace, name, entries);
      const [message = ''] = status === 422 ? [String(body['message'])] : [];
      const isRight =
        isNamed || entries > max
          ? status === 422 && /: (the name n\d+-\d+ is of \d+|too many entries)$/.test(message)
          : status === 201;
      if (!isRight) wrong.push({ name, namespace, entries, status, message });
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  expect(wrong).toEqual([]);
});

test('take effect with the request after the answer to their change, while other clients write', async () => {
  let done = false;
  let written = 0;
  const writer = async (id: number): Promise<void> => {
    while (!done) if ((await create('small', `w${id}-x${written++}`)).status !== 201) done = true;
  };
  const writers = Promise.all(Array.from({ length: CLIENTS }, (_, id) => writer(id)));
  const statuses = async (round: number): Promise<readonly number[]> => {
    const answers = await Promise.all(Array.from({ length: 4 }, (_, i) => create('large', `r${round}-${i}-7`)));
    return answers.map(({ status }) => status);
  };
  const path = `${REGISTRATION}/validatingadmissionpolicybindings/policy-7`;
  for (let round = 0; round < 3; round++) {
    expect((await api.delete(path)).status).toBe(200);
    expect(await statuses(2 * round)).toEqual([201, 201, 201, 201]);
    await bind(7);
    expect(await statuses(2 * round + 1)).toEqual([422, 422, 422, 422]);
  }
  // Requests without policies are answered meanwhile.
  expect((await api.get('/api/v1/namespaces/large')).status).toBe(200);
  expect(done).toBe(false);
  done = true;
  await writers;
  expect(written).toBeGreaterThan(CLIENTS);
});
