import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ApiObject, Change, Host, Mutator } from '../../core/api/index.js';
import { namingOf } from '../../core/naming.js';
import plugin from '../../plugins/admission/serviceAccount.js';
import { partly } from '../support/values.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const nothing = (): void => {};
const account = (name: string, rest: object = {}): ApiObject => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name, namespace: 'n' },
  ...rest,
});
type Pod = ApiObject & {
  spec: { [member: string]: unknown; containers: { volumeMounts?: object[] }[]; volumes?: object[] };
};

/** A new pod after the plugin has run, with these service accounts. */
async function admitted(
  accounts: readonly ApiObject[],
  spec: object = {},
  annotations?: { [key: string]: string },
): Promise<Pod> {
  const informer = {
    get: (_: string, name: string) => accounts.find(({ metadata }) => metadata.name === name),
    list: () => accounts,
    revision: 1,
  };
  const host = {
    naming: namingOf('kubernetes'),
    informer: () => informer,
    log: { debug: nothing, info: nothing, warn: nothing, error: nothing },
  } as unknown as Host;
  const [contribution] = plugin.contribute(undefined);
  const mutator = (await contribution!.make(host as never)) as Mutator;
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', annotations },
    spec: { containers: [{ name: 'c' }], ...spec },
  };
  await mutator.mutate(
    partly<Change>({ operation: 'CREATE', target: { namespace: 'n', name: 'p' } }),
    pod as unknown as ApiObject,
    false,
  );
  return pod as unknown as Pod;
}

test('a pod gets the pull secrets and the token of its service account', async () => {
  const { spec } = await admitted([account('robot', { imagePullSecrets: [{ name: 's' }] })], {
    serviceAccountName: 'robot',
  });
  expect(spec).toMatchObject({
    serviceAccountName: 'robot',
    serviceAccount: 'robot',
    imagePullSecrets: [{ name: 's' }],
  });
  expect([spec.volumes, spec.containers[0]!.volumeMounts]).toMatchObject([
    [{ name: expect.stringMatching(/^kube-api-access-/) }],
    [{ mountPath: '/var/run/secrets/kubernetes.io/serviceaccount', readOnly: true }],
  ]);
});

test('a pod that is created before its default service account gets the values of that account without waiting', async () => {
  const { spec } = await admitted([]);
  expect([spec['serviceAccountName'], spec.volumes]).toMatchObject(['default', [{ projected: {} }]]);
});

test('a pod with another service account that does not exist is refused', async () => {
  await expect(admitted([account('default')], { serviceAccountName: 'robot' })).rejects.toMatchObject({
    reason: 'Forbidden',
    message: 'pods "p" is forbidden: error looking up service account n/robot: serviceaccount "robot" not found',
  });
});

test('no token is mounted if the pod or, where the pod does not say, its service account disables it', async () => {
  const unwanted = account('default', { automountServiceAccountToken: false });
  expect((await admitted([unwanted])).spec.volumes).toBeUndefined();
  expect((await admitted([unwanted], { automountServiceAccountToken: true })).spec.volumes).toHaveLength(1);
  expect((await admitted([account('default')], { automountServiceAccountToken: false })).spec.volumes).toBeUndefined();
});

test('mirror pods are not changed', async () => {
  const { spec } = await admitted([], {}, { 'kubernetes.io/config.mirror': 'x' });
  expect(spec).toEqual({ containers: [{ name: 'c' }] });
});
