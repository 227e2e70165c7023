import { resolve } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { customStorageName, defineResource, type Host } from '../../core/api/index.js';
import { storageNameOf } from '../../core/plugin/resourceNames.js';
import { fakeHost } from '../../core/testing/index.js';
import { Api } from '../api/support.js';
import { ConfiguredServer, fixture } from './support.js';

/* How plugins name the resources that they read: an unknown name is an error, not an empty informer. */

const tea = defineResource({ group: 'tea.example.com', kind: 'Tea', plural: 'teas', scope: 'Cluster' });

describe('the name of a resource', () => {
  test.each([
    ['namespaces', 'core/namespaces'],
    ['core/namespaces', 'core/namespaces'],
    ['apps/deployments', 'apps/deployments'],
    ['rbac.authorization.k8s.io/roles', 'rbac.authorization.orchestrator.io/roles'],
    ['rbac.authorization.orchestrator.io/roles', 'rbac.authorization.orchestrator.io/roles'],
    ['events', 'core/events'],
    ['events.k8s.io/events', 'core/events'],
    ['tea.example.com/teas', 'custom:tea.example.com/teas'],
    [customStorageName(tea), 'custom:tea.example.com/teas'],
    [tea, 'custom:tea.example.com/teas'],
    [{ group: '', plural: 'pods' }, 'core/pods'],
    [{ group: 'apps', plural: 'daemonsets' }, 'apps/daemonsets'],
  ])('may be the name that users know (%#)', (given, storageName) => {
    expect(storageNameOf(given)).toBe(storageName);
  });

  test.each([
    ['namespace', 'no stored resource can have the name "namespace"; did you mean namespaces?'],
    ['Deployment', 'did you mean apps/deployments?'],
    ['deployments', 'did you mean apps/deployments?'],
    ['apps/v1/deployments', 'did you mean apps/deployments?'],
    ['core/deployments', 'did you mean apps/deployments?'],
    ['rbac.authorization.k8s.io/role', 'did you mean rbac.authorization.k8s.io/roles?'],
    ['networking.k8s.io/widgets', 'write its group and plural name, as in example.com/widgets'],
    ['teas', 'no stored resource can have the name "teas"'],
    ['pods/status', 'no stored resource can have the name "pods/status"'],
    ['tea.example.com/Teas', 'no stored resource can have the name'],
    ['subjectaccessreviews', 'no stored resource can have the name'],
    ['', 'no stored resource can have the name ""'],
    [undefined as never, 'a resource must be a name'],
  ])('is refused if no resource can have it (%#)', (given, message) => {
    expect(() => storageNameOf(given)).toThrow(message);
  });

  test('is checked by the compiler if it is a known name', () => {
    const { host, put } = fakeHost('pool');
    const check = (typed: Host<'pool'>, given: string): void => {
      typed.informer('apps/deployments');
      typed.informer('rbac.authorization.k8s.io/roles');
      typed.informer(tea);
      typed.informer(customStorageName(tea));
      typed.onChange('namespaces', () => undefined);
      // @ts-expect-error: the name is `namespaces`.
      expect(() => typed.informer('namespace')).toThrow('did you mean namespaces?');
      // @ts-expect-error: the resource is in the group `apps`.
      expect(() => typed.onChange('core/deployments', () => undefined)).toThrow('did you mean apps/deployments?');
      expect(() => typed.informer(given)).toThrow('did you mean pods?');
    };
    check(host, 'pod');
    // @ts-expect-error: as above.
    expect(() => put('pod', { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } })).toThrow('did you mean pods?');
  });
});

describe('a server', () => {
  let api: Api | undefined;
  let server: ConfiguredServer | undefined;
  afterEach(async () => {
    await api?.close();
    api = undefined;
    await server?.dispose();
  });

  const reads = (resource: string | object, place = 'authorizer') => ({
    use: fixture('control', 'reads'),
    config: { resource, in: place },
  });

  test.each(['namespaces', { group: '', plural: 'namespaces' }])(
    'reads resources by the names that users give',
    async name => {
      api = await Api.start({ plugins: [reads(name)] });
      const asAnonymous = async () => (await api!.call('GET', '/api/v1/nodes', { token: '' })).status;
      expect(await asAnonymous()).toBe(403);
      await api.made('/api/v1/namespaces', { metadata: { name: 'open' } });
      expect(await asAnonymous()).toBe(200);
    },
  );

  test.each([
    [
      'authorizer',
      'plugin test/reads (authorizer): no stored resource can have the name "namespace"; did you mean namespaces?',
    ],
    ['source', 'no stored resource can have the name "namespace"'],
    ['strategy', 'the strategy of custom:lists.example.com/lists: reads: no stored resource can have the name'],
  ])('does not start with a plugin that names an impossible resource in a part (%s)', async (place, message) => {
    await expect(Api.start({ plugins: [reads('namespace', place)] })).rejects.toThrow(message);
  });

  test('warns about a resource that is read but not served yet, in the pool and for controllers', async () => {
    const started = await (server = new ConfiguredServer()).start({
      plugins: [
        { use: resolve('dist/examples/reservations.js') },
        reads('cafe.example.com/reservations'),
        reads('tea.example.com/teas'),
        reads('milk.example.com/cans', 'controller'),
      ],
    });
    const warned = () => started.log.filter(({ level }) => level === 'warn').map(({ message }) => message);
    await expect
      .poll(() => [...warned()].sort())
      .toEqual([
        expect.stringContaining('plugin test/reads: it reads custom:milk.example.com/cans, which is not served'),
        expect.stringContaining('plugin test/reads: it reads custom:tea.example.com/teas, which is not served'),
      ]);
  });
});
