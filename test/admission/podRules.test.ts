import { describe, expect, test } from 'vitest';
import {
  type ApiObject,
  type Change,
  type Frozen,
  type Mutator,
  mutator,
  type Plugin,
  validator,
} from '../../core/api/index.js';
import { COMPARED_TOLERATIONS } from '../../core/limits.js';
import { type FakeHost, fakeHost, partsOf } from '../../core/testing/host.js';
import mountableSecrets from '../../plugins/admission/mountableSecrets.js';
import extendedResourceToleration from '../../plugins/admission/optional/extendedResourceToleration.js';
import externalIps from '../../plugins/admission/optional/externalIps.js';
import podTolerationRestriction from '../../plugins/admission/optional/podTolerationRestriction.js';
import { partly } from '../support/values.js';

const pod = (spec: object = {}): ApiObject =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'n' },
    spec: { containers: [{ name: 'c', image: 'i', resources: {} }], ...spec },
  }) as ApiObject;
const change = (operation: 'CREATE' | 'UPDATE', subresource = '', old?: ApiObject): Change =>
  ({
    operation,
    target: { namespace: 'n', name: 'p', group: '', resource: 'pods', subresource },
    ...(old ? { old } : {}),
  }) as unknown as Change;
const hostWith = (...accounts: ApiObject[]): FakeHost<'pool'> => {
  const fake = fakeHost('pool', 'kubernetes');
  for (const account of accounts) fake.put('serviceaccounts', account);
  return fake;
};
const check = async (plugin: Plugin<undefined>, fake: FakeHost<'pool'>, made: Change, object: ApiObject) => {
  const [part] = await partsOf(plugin, undefined, validator, fake.host);
  return part!.validate(made, object as Frozen<ApiObject>);
};
const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i);

describe('ephemeral containers of pods of an account that limits secrets', () => {
  const debugged = (secret: string) =>
    pod({
      serviceAccountName: 'a',
      ephemeralContainers: [{ name: 'e', envFrom: [{ secretRef: { name: secret } }] }],
    });
  const update = change('UPDATE', 'ephemeralcontainers');

  test('can use only the secrets of the account', async () => {
    const account = partly<ApiObject>({
      metadata: { name: 'a', namespace: 'n', annotations: { 'kubernetes.io/enforce-mountable-secrets': 'true' } },
      secrets: [{ name: 'yes' }],
    });
    expect(await check(mountableSecrets, hostWith(account), update, debugged('yes'))).toEqual([]);
    await expect(check(mountableSecrets, hostWith(account), update, debugged('no'))).rejects.toThrow(
      'ephemeral container e with envFrom referencing secret.secretName="no" is not allowed because service account a ' +
        'does not reference that secret',
    );
  });

  test('are refused once the account is deleted', async () => {
    await expect(check(mountableSecrets, hostWith(), update, debugged('no'))).rejects.toMatchObject({
      reason: 'Forbidden',
      message: 'pods "p" is forbidden: error looking up service account n/a: serviceaccount "a" not found',
    });
    const ofDefault = pod({ serviceAccountName: 'default' });
    expect(await check(mountableSecrets, hostWith(), change('CREATE'), ofDefault)).toEqual([]);
  });
});

describe('tolerations of a namespace', () => {
  const annotation = 'scheduler.alpha.kubernetes.io/defaultTolerations';
  /** The tolerations of a new pod in a namespace with this annotation. */
  const tolerated = async (text: string, own: readonly object[] = []): Promise<unknown> => {
    const fake = hostWith();
    const metadata = { name: 'n', annotations: { [annotation]: text } };
    fake.put('namespaces', partly<ApiObject>({ metadata }));
    const [part] = (await partsOf(podTolerationRestriction, undefined, mutator, fake.host)) as Mutator[];
    const draft = pod({ tolerations: own });
    await part!.mutate(change('CREATE'), draft, false);
    return (draft['spec'] as { tolerations: unknown }).tolerations;
  };

  test('may only have the members of tolerations', async () => {
    const text = '[{"key":"a","operator":"Exists","effect":null,"other":{"x":1}}]';
    expect(await tolerated(text)).toEqual([{ key: 'a', operator: 'Exists' }]);
  });

  test.each([
    ['[{"key":5}]', '[0].key must be a string'],
    ['[{"key":"a"},{"tolerationSeconds":"5"}]', '[1].tolerationSeconds must be an integer'],
    ['[{"tolerationSeconds":1.5}]', '[0].tolerationSeconds must be an integer'],
    ['[null]', '[0] must be a toleration'],
    ['{}', 'must be a list of tolerations'],
  ])('%s is refused', (text, why) => expect(tolerated(text)).rejects.toThrow(`${annotation} of the namespace: ${why}`));

  test('are merged with those of the pod; where one includes another, the wider one is kept', async () => {
    const own = [
      { key: 'a', operator: 'Equal', value: 'v', effect: 'NoExecute', tolerationSeconds: 5 },
      { key: 'b', operator: 'Exists' },
      { key: 'b', operator: 'Exists', effect: '' },
      { key: 'c', operator: 'Equal', value: 'v' },
    ];
    const wide = { key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 9 };
    expect(await tolerated(JSON.stringify([wide]), own)).toEqual([own[1], own[3], wide]);
  });

  test('are compared up to a maximum number', async () => {
    const many = numbers(COMPARED_TOLERATIONS + 1).map(i => ({ key: `k${i}`, operator: 'Exists' }));
    await expect(tolerated('[]', many)).rejects.toMatchObject({
      reason: 'Forbidden',
      message: `a pod must have at most ${COMPARED_TOLERATIONS} tolerations`,
    });
    await expect(tolerated(JSON.stringify(many))).rejects.toThrow(`must have at most ${COMPARED_TOLERATIONS}`);
    expect(await tolerated('[]', many.slice(1))).toHaveLength(COMPARED_TOLERATIONS);
  });
});

describe('an object as large as a body', () => {
  const MANY = 40_000;

  test('with many extended resources and tolerations gets the missing tolerations', async () => {
    const requests = Object.fromEntries(numbers(MANY).map(i => [`example.com/r${i}`, '1']));
    const tolerations = numbers(MANY - 1).map(i => ({
      key: `example.com/r${i}`,
      operator: 'Exists',
      effect: 'NoSchedule',
    }));
    const draft = pod({ containers: [{ name: 'c', resources: { requests } }], tolerations });
    const [part] = await partsOf(extendedResourceToleration, undefined, mutator, hostWith().host);
    await part!.mutate(change('CREATE'), draft, false);
    const all = (draft['spec'] as unknown as { tolerations: { key: string }[] }).tolerations;
    expect([all.length, all.at(-1)?.key]).toEqual([MANY, `example.com/r${MANY - 1}`]);
  });

  test('with many external addresses may keep them', async () => {
    const service = (count: number) =>
      ({
        metadata: { name: 's' },
        spec: { externalIPs: numbers(count).map(i => `1.2.${i >> 8}.${i & 255}`) },
      }) as never;
    expect(await check(externalIps, hostWith(), change('UPDATE', '', service(MANY)), service(MANY))).toEqual([]);
    const added = check(externalIps, hostWith(), change('UPDATE', '', service(MANY)), service(MANY + 1));
    await expect(added).rejects.toThrow('Use of external IPs is denied');
  });
});
