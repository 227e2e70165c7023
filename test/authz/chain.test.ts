import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Decision, DependsOn } from '../../core/api/index.js';
import { namingOf } from '../../core/naming.js';
import { chainAuthorizer } from '../../plugins/authz/configured/chain.js';
import type { ConfiguredAuthorizer } from '../../plugins/authz/configured/file.js';
import { target, user } from '../access/support.js';
import { eventually } from '../support/eventually.js';

/* The authorizers of an authorization file in a pool thread, while the state of the service changes. */

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'chain-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const kubeconfig = (name: string): void =>
  writeFileSync(
    join(folder, name),
    JSON.stringify({
      'current-context': 'here',
      contexts: [{ name: 'here', context: { cluster: 'c' } }],
      clusters: [{ name: 'c', cluster: { server: 'https://localhost:1' } }],
    }),
  );

/** A webhook that is not called for any request. */
const webhook = (name: string): ConfiguredAuthorizer => ({
  type: 'Webhook',
  name,
  webhook: {
    name,
    file: join(folder, name),
    version: 'v1',
    authorizedMs: 1000,
    unauthorizedMs: 1000,
    timeoutMs: 1000,
    failurePolicy: 'Deny',
    matchConditions: ['false'],
  },
});

const ALLOW: ConfiguredAuthorizer = { type: 'AlwaysAllow', name: 'allow' };
const DENY: ConfiguredAuthorizer = { type: 'AlwaysDeny', name: 'deny' };

function chain(initial: readonly ConfiguredAuthorizer[], allowed: Decision = { is: 'allow', reason: 'allow' }) {
  const logged: string[] = [];
  const releases: (() => unknown)[] = [];
  const log = (_: object, message: string): void => void logged.push(message);
  const states = { last: initial };
  const decide = (decision: Decision) => ({ dependsOn: [], authorize: (): Decision => decision });
  const authorizer = chainAuthorizer(
    new Map([
      ['AlwaysAllow', decide(allowed)],
      ['AlwaysDeny', decide({ is: 'deny', reason: 'deny' })],
    ]),
    {
      now: Date.now,
      observe: () => undefined,
      naming: namingOf('neutral'),
      log: { debug: log, info: log, warn: log, error: log },
      onClose: release => void releases.push(release),
      isEnabled: () => true,
      service: () => ({ state: () => states.last, ask: async () => ({ is: 'find' }) }),
    },
  );
  const ask = async (): Promise<string> => (await authorizer.authorize(user('eve'), target({}))).is;
  const close = (): void => {
    for (const release of releases) release();
  };
  return { authorizer, states, ask, logged, close };
}

test('a request after a change is decided by the changed file, also while an earlier change is still prepared', async () => {
  kubeconfig('a');
  const { states, ask, close } = chain([webhook('a'), ALLOW]);
  const before = ask();
  states.last = [webhook('a'), DENY];
  const after = ask();
  expect([await before, await after]).toEqual(['allow', 'deny']);
  close();
});

test('a decision depends on the resources that its authorizers read, and is cached for at most a second', async () => {
  const roles = ['rbac.authorization.orchestrator.io/roles'];
  const dependsOf = async (dependsOn: DependsOn): Promise<unknown> => {
    const { authorizer, close } = chain([ALLOW], { is: 'allow', reason: '', dependsOn });
    const decision = await authorizer.authorize(user('eve'), target({}));
    close();
    return decision.dependsOn;
  };
  expect(await dependsOf(roles)).toEqual({ resources: roles, milliseconds: 1000 });
  expect(await dependsOf([])).toEqual({ resources: [], milliseconds: 1000 });
  expect(await dependsOf(20)).toEqual({ resources: [], milliseconds: 20 });
  expect(await dependsOf({ resources: roles, milliseconds: 2000 })).toEqual({ resources: roles, milliseconds: 1000 });
  expect(await dependsOf('never')).toBe('never');
});

test('a webhook that cannot be created releases those created before it', async () => {
  kubeconfig('b');
  const { ask, logged, close } = chain([webhook('b'), webhook('missing'), ALLOW]);
  for (let i = 0; i < 5; i++) await expect(ask()).rejects.toThrow('missing');
  kubeconfig('missing');
  expect(await ask()).toBe('allow');
  kubeconfig('b');
  await eventually(() => logged.length > 0);
  expect(logged).toEqual(["a webhook's kubeconfig has changed and is used"]);
  close();
});
