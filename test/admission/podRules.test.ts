import { describe, expect, test } from 'vitest';
import { type ApiObject, type Change, type Frozen, type Plugin, validator } from '../../core/api/index.js';
import { type FakeHost, fakeHost, partsOf } from '../../core/testing/host.js';
import mountableSecrets from '../../plugins/admission/mountableSecrets.js';

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

describe('ephemeral containers of pods of an account that limits secrets', () => {
  const debugged = (secret: string) =>
    pod({
      serviceAccountName: 'a',
      ephemeralContainers: [{ name: 'e', envFrom: [{ secretRef: { name: secret } }] }],
    });
  const update = change('UPDATE', 'ephemeralcontainers');

  test('use the secrets of the account', async () => {
    const account = {
      metadata: { name: 'a', namespace: 'n', annotations: { 'kubernetes.io/enforce-mountable-secrets': 'true' } },
      secrets: [{ name: 'yes' }],
    } as unknown as ApiObject;
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
