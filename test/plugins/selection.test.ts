import { resolve } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { Match } from '../../core/api/checks/match.js';
import { type Contributed, mutator, validator } from '../../core/api/index.js';
import { builtInRegistry } from '../../core/plugin/registry.js';
import { checkSelections } from '../../core/plugin/selection.js';
import type { NamingName } from '../../core/naming.js';
import { Api } from '../api/support.js';
import { ConfiguredServer, fixture } from './support.js';

/* The selection of mutators and validators by `on`: a misspelled name is never ignored silently. */

describe('a member of `on`', () => {
  const make = (on: object) =>
    (async () => validator.of(() => ({ on: on as Match, validate: () => [] })).make({} as never))();

  test.each([
    [{ resource: ['pods'] }, 'on.resource is no member of on; did you mean on.resources?'],
    [{ groups: ['apps'], verbs: ['create'] }, 'on.verbs is no member of on; it has groups, resources, operations'],
    [{ groups: 'apps' }, 'on.groups must be a list of texts'],
    [{ resources: [1] }, 'on.resources must be a list of texts'],
    [{ operations: ['create'] }, 'on.operations[0] must be CREATE, UPDATE, DELETE, CONNECT or *: not "create"'],
  ])('that does not exist, or is not a list, is refused (%#)', async (on, message) => {
    await expect(make(on)).rejects.toThrow(message);
  });

  test('is refused in a mutator for operations that mutators are not called for', async () => {
    const made = (operations: Match['operations']) =>
      (async () => mutator.of(() => ({ on: { operations }, mutate: () => undefined })).make({} as never))();
    await expect(made(['CREATE', 'DELETE'])).rejects.toThrow(
      'on.operations[1] must be CREATE, UPDATE or *: it is never called for DELETE',
    );
    await expect(made(['*'])).resolves.toBeTruthy();
  });
});

describe.each(['neutral', 'kubernetes'] as const)('a name in `on`, with the naming %s', (naming: NamingName) => {
  const registry = builtInRegistry(naming, new Map());
  const check = (on: Match): string[] => {
    const part = { plugin: 'p', value: { on }, failurePolicy: 'Fail' } as Contributed<{ on: Match }>;
    return checkSelections({ configured: ({ name }) => (name === 'validator' ? [part] : []) as never[] }, registry);
  };

  test.each<Match>([
    {},
    { groups: ['*'], resources: ['*'], operations: ['*'], subresources: ['*'] },
    { groups: [''], resources: ['pods'] },
    { groups: ['rbac.authorization.k8s.io'], resources: ['roles'] },
    { groups: ['rbac.authorization.orchestrator.io'], resources: ['roles'] },
    { groups: ['flowcontrol.apiserver.k8s.io'], resources: ['flowschemas'] },
    { groups: ['', 'events.k8s.io'], resources: ['events'] },
    { resources: ['deployments'], subresources: ['', 'scale'] },
    { resources: ['pods'], subresources: ['exec'], operations: ['CONNECT'] },
    { resources: ['pods'], subresources: ['eviction'], operations: ['CREATE'] },
    { subresources: ['*'], operations: ['CONNECT', 'DELETE'] },
  ])('that is served is accepted (%#)', on => {
    expect(check(on)).toEqual([]);
  });

  test.each<[Match, string]>([
    [
      { groups: ['core'] },
      'on.groups[0] "core" of a validator is no group, and no definition can have it; did you mean ""?',
    ],
    [
      { groups: ['', 'app'] },
      'on.groups[1] "app" of a validator is no group, and no definition can have it; did you mean "apps"?',
    ],
    [{ groups: ['apps/v1'] }, 'must be a group without its version; did you mean "apps"?'],
    [{ groups: ['Tea.example.com'] }, 'is no group'],
    [
      { groups: [''], resources: ['pod'] },
      'on.resources[0] "pod" of a validator is no resource of these groups, and no definition can bring it; did you mean "pods"?',
    ],
    [{ groups: ['apps'], resources: ['Deployment'] }, 'did you mean "deployments"?'],
    [{ groups: ['rbac.authorization.k8s.io'], resources: ['pods'] }, 'is no resource of these groups'],
    [{ resources: ['Pods'] }, 'is no resource of these groups, and no definition can bring it; did you mean "pods"?'],
    [{ resources: ['pods/exec'] }, 'write resources: ["pods"], subresources: ["exec"]'],
    [
      { groups: ['apps'], resources: ['deployments'], subresources: ['scal'] },
      'on.subresources[0] "scal" of a validator is a subresource of nothing that is selected; did you mean "scale"?',
    ],
    [
      { groups: [''], resources: ['pods'], operations: ['CONNECT'] },
      'on.operations[0] "CONNECT" of a validator is an operation of nothing that is selected: add subresources: ["attach", "exec"',
    ],
    [{ groups: [''], resources: ['bindings'], operations: ['DELETE'] }, 'is an operation of nothing that is selected'],
    [{ groups: [] }, 'on.groups of a validator is empty, which selects nothing'],
  ])('that no resource can have is refused (%#)', (on, message) => {
    expect(() => check(on)).toThrow(message);
    expect(() => check(on)).toThrow('plugin p: on.');
  });

  test.each<[Match, string]>([
    [
      { groups: ['tea.example.com'] },
      'on.groups[0] "tea.example.com" of a validator is not served, until a definition',
    ],
    [{ groups: ['rbac.authorisation.k8s.io'] }, 'is not served, until a definition has this group'],
    [
      { resources: ['deployment'] },
      'is not served, until a definition has this plural name; did you mean "deployments"?',
    ],
    [{ groups: ['internal.apiserver.k8s.io'] }, 'is not served: --runtime-config can change that'],
    [{ groups: ['networking.k8s.io'], resources: ['ipaddresses'] }, 'is not served: --runtime-config can change that'],
  ])('that a definition or setting could add causes a warning (%#)', (on, message) => {
    expect(check(on)).toEqual([expect.stringContaining(message)]);
  });
});

describe('a server', () => {
  let api: Api;
  let server: ConfiguredServer;
  afterEach(async () => {
    await api?.close();
    await server?.dispose();
  });

  const marks = (mark: string, on: Match) => ({ use: fixture('admission', 'marks'), config: { mark, on } });

  test.each(['neutral', 'kubernetes'] as const)(
    'with the naming %s calls plugins by both spellings of a group',
    async naming => {
      const theirs = naming === 'neutral' ? 'orchestrator' : 'k8s';
      api = await Api.start({
        naming,
        plugins: [
          marks('n', { groups: ['rbac.authorization.orchestrator.io'] }),
          marks('u', { groups: ['rbac.authorization.k8s.io'] }),
          marks('a', { groups: ['*'], resources: ['*'], operations: ['*'] }),
          marks('x', { groups: ['apps'] }),
        ],
      });
      const made = await api.made(`/apis/rbac.authorization.${theirs}.io/v1/clusterroles`, { metadata: { name: 'r' } });
      expect(made['metadata']?.['annotations']).toEqual({ marks: 'nua' });
    },
  );

  test('does not start with a plugin that selects an impossible resource', async () => {
    await expect(Api.start({ plugins: [marks('m', { groups: ['apps'], resources: ['deployment'] })] })).rejects.toThrow(
      'plugin test/marks: on.resources[0] "deployment" of a mutator is no resource of these groups',
    );
    await expect(Api.start({ plugins: [marks('m', { resource: ['pods'] } as never)] })).rejects.toThrow(
      'plugin test/marks (mutator): on.resource is no member of on; did you mean on.resources?',
    );
  });

  test('warns once about a selection that waits for a definition, but not if the definition exists', async () => {
    server = await new ConfiguredServer().start({
      plugins: [
        { use: resolve('dist/examples/reservations.js') },
        marks('m', { groups: ['tea.example.com'] }),
        marks('r', { groups: ['cafe.example.com'], resources: ['reservations'] }),
      ],
    });
    const warnings = server.log.filter(({ message }) => message.includes('on.'));
    expect(warnings.map(({ level, message }) => [level, message])).toEqual([
      ['warn', expect.stringContaining('plugin test/marks: on.groups[0] "tea.example.com" of a mutator')],
    ]);
  });
});
