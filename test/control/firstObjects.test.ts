import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { firstObjectsFile as FirstObjectsFile } from '../../core/server/firstObjects.js';
import { DEFAULTS } from '../../core/server/settings.js';
import { Api, type Loose, listOf } from '../api/support.js';
import { eventuallyPasses } from '../support/eventually.js';

/** From the build, which has recorded the objects. */
const { firstObjectsFile } = createRequire(import.meta.url)(resolve('dist/core/server/firstObjects.js')) as {
  firstObjectsFile: typeof FirstObjectsFile;
};

const LISTS = [
  '/api/v1/namespaces',
  '/api/v1/serviceaccounts',
  '/apis/apiregistration.k8s.io/v1/apiservices',
  '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas',
  '/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations',
  '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
  '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  '/apis/rbac.authorization.k8s.io/v1/rolebindings',
  '/apis/rbac.authorization.k8s.io/v1/roles',
  '/apis/scheduling.k8s.io/v1/priorityclasses',
];

describe('the first objects of a new store', () => {
  let recorded: Api;
  let requested: Api;
  beforeAll(async () => {
    recorded = await Api.start();
    // The setting means the same as the default but is given explicitly, so controllers write the objects.
    requested = await Api.start({ controllers: ['*'] });
  });
  afterAll(() => Promise.all([recorded.close(), requested.close()]));

  /** The objects of a list that are in the namespaces of the system. */
  const itemsOf = async (api: Api, path: string): Promise<Loose[]> =>
    listOf((await api.get(path)).body['items']).filter(
      ({ metadata }) => !metadata!['namespace'] || /^(default|kube-)/.test(String(metadata!['namespace'])),
    );
  /** Their JSON without the values that differ in each store. */
  const written = async (api: Api, path: string): Promise<string[]> =>
    (await itemsOf(api, path)).map(item =>
      JSON.stringify(item, (key, value: unknown) =>
        ['uid', 'resourceVersion'].includes(key)
          ? undefined
          : typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value)
            ? 'time'
            : value,
      ),
    );

  it.each(LISTS)(
    'equal those that controllers create by requests with one identity, including managed fields: %s [A158]',
    async path => {
      const first = await written(recorded, path);
      expect(first.length).toBeGreaterThan(0);
      await eventuallyPasses(async () => expect(await written(requested, path)).toEqual(first));
    },
  );

  it('have their own uids, times and revisions', async () => {
    const items = (await Promise.all(LISTS.map(path => itemsOf(recorded, path)))).flat();
    for (const member of ['uid', 'resourceVersion'])
      expect(new Set(items.map(({ metadata }) => metadata![member])).size).toBe(items.length);
    for (const { metadata } of items) {
      const { uid, creationTimestamp } = metadata as unknown as { uid: string; creationTimestamp: string };
      expect(uid).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
      expect(Math.abs(Date.now() - Date.parse(creationTimestamp))).toBeLessThan(600_000);
    }
  });
});

describe('recorded first objects', () => {
  const settings = { ...DEFAULTS, naming: 'kubernetes' } as const;
  const plugin = (points?: readonly string[]) => ({ plugins: [{ use: 'a', points }] });

  it('are used with default settings, in both namings', () => {
    expect(firstObjectsFile(settings)).toMatch(/firstObjects\.kubernetes\.json$/);
    expect(firstObjectsFile(DEFAULTS)).toMatch(/firstObjects\.neutral\.json$/);
    expect(firstObjectsFile({ ...settings, ...plugin(['authenticator', 'controller']) })).toBeDefined();
  });

  it.each([
    { auditPolicyFile: 'policy.yaml' },
    { controllers: ['-serviceaccount-controller'] },
    { runtimeConfig: ['scheduling.k8s.io/v1=false'] },
    { enableAdmissionPlugins: ['AlwaysDeny'] },
    { admissionControlConfigFile: 'admission.yaml' },
    { useServiceAccountCredentials: true },
    { resources: [{ plural: 'widgets' } as never] },
    plugin(['mutator']),
    plugin(['authenticator', 'validator']),
    plugin(),
  ])('are not used if settings may change the objects, or record or change requests for them: %j', changed => {
    expect(firstObjectsFile({ ...settings, ...changed })).toBeUndefined();
  });
});
