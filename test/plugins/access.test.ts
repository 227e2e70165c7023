import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DependsOn } from '../../core/api/index.js';
import { Api } from '../api/support.js';
import { fixture } from './support.js';

/* Sentences of docs/guides/plugins.md about authenticators and authorizers. */

const directory = mkdtempSync(join(tmpdir(), 'capstan-access-'));
const file = (name: string): string => join(directory, name);
const MAPS = '/api/v1/namespaces/default/configmaps';
/** Times for which a decision is cached, in milliseconds: one that passes during a test, and one that does not. */
const [WHILE, LONG] = [500, 600_000];

const knows = (prefix: string, cacheFor: string | number, reads?: string) => ({
  use: fixture('access', 'knows'),
  config: { file: file(prefix), prefix, cacheFor, reads },
});
const decides = (name: string, dependsOn: DependsOn, decisions: object) => ({
  use: fixture('access', 'decides'),
  config: { file: file(name), dependsOn, decisions },
});
const allow = { is: 'allow' };
const deny = { is: 'deny', reason: 'because' };

/**
 * Starts a server with plugins. Returns functions that send requests with a bearer token and count the calls of a
 * plugin.
 */
async function serverWith(plugins: readonly { use: string; config: { file: string } }[]) {
  for (const { config } of plugins) writeFileSync(config.file, '');
  const api = await Api.start({ plugins });
  const get = (token: string, path = MAPS) => api.get(path, { token });
  /** The number of calls of a plugin, except those about anonymous senders, which the server also makes by itself. */
  const calls = (name: string): number =>
    readFileSync(file(name), 'utf8')
      .split('\n')
      .filter(line => line !== '' && line !== 'system:anonymous').length;
  /** The number of calls of a plugin during some requests. */
  const callsOf = async (name: string, ...tokens: readonly string[]): Promise<number> => {
    const before = calls(name);
    for (const token of tokens) await get(token);
    return calls(name) - before;
  };
  return { api, get, calls, callsOf };
}

afterAll(() => rmSync(directory, { recursive: true }));

describe('authenticators and authorizers', () => {
  let server: Awaited<ReturnType<typeof serverWith>>;
  beforeAll(async () => {
    server = await serverWith([
      knows('a-', 'forever'),
      knows('b-', 'forever'),
      decides('first', [], { ann: allow, bob: deny, cid: allow, 'kube-admin': deny, viewer: deny }),
      decides('second', [], { bob: allow, cid: deny, dan: allow, master: deny }),
    ]);
  });
  afterAll(() => server.api.close());

  test('the first user is the result: later ones are not called', async () => {
    expect((await server.get('a-ann')).status).toBe(200);
    expect(await server.callsOf('b-', 'a-ann', 'a-cid')).toBe(0);
    expect((await server.get('b-ann')).status).toBe(200);
  });

  test('credentials that an authenticator refuses are 401, with the same body for every cause, unless a later one accepts them', async () => {
    const [bad, unknown] = [await server.get('a-bad'), await server.get('unknown')];
    expect([bad.status, bad.text]).toEqual([401, unknown.text]);
    // The built-in token authenticator, which is called first, refuses all of these.
    expect((await server.get('b-ann')).status).toBe(200);
  });

  test('the first allow or deny is the result; if no authorizer allows, the request is denied', async () => {
    const statuses = ['a-ann', 'a-bob', 'a-cid', 'a-dan', 'a-eva'].map(async token => (await server.get(token)).status);
    expect(await Promise.all(statuses)).toEqual([200, 403, 200, 200, 403]);
    expect((await server.get('a-bob')).body.message).toContain('because');
  });

  test('authorizers can deny what a role allows; only members of system:masters are allowed before they are called', async () => {
    const rbac = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';
    const subjects = ['viewer', 'eva'].map(name => ({ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name }));
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' };
    await server.api.made(rbac, { metadata: { name: 'viewers' }, subjects, roleRef });
    expect([(await server.get('a-eva')).status, (await server.get('a-viewer')).status]).toEqual([200, 403]);
    expect((await server.get('a-master')).status).toBe(200);
    const calls = server.calls('first');
    expect((await server.api.get(MAPS)).status).toBe(200);
    expect(server.calls('first')).toBe(calls);
  });
});

describe('cacheFor', () => {
  test('caches forever, for milliseconds, or never; the shortest time of all that were called applies', async () => {
    const server = await serverWith([
      knows('ever-', 'forever'),
      knows('long-', LONG),
      knows('while-', WHILE),
      knows('never-', 'never'),
      decides('all', [], { x: allow }),
    ]);
    try {
      const three = (token: string): string[] => [token, token, token];
      expect(await server.callsOf('ever-', ...three('ever-x'))).toBe(1);
      expect(await server.callsOf('long-', ...three('long-x'))).toBe(1);
      expect(await server.callsOf('never-', ...three('never-x'))).toBe(3);
      // The authenticator was called for all of these, and returned nothing that prevents caching.
      expect(await server.callsOf('ever-', ...three('ever-x'), ...three('long-x'))).toBe(0);
      await server.get('while-x');
      const before = server.calls('while-');
      await server.api.until(async () => {
        await server.get('while-x');
        return server.calls('while-') > before;
      });
      expect(await server.callsOf('ever-', 'ever-x')).toBe(0);
    } finally {
      await server.api.close();
    }
  });

  test.each(['header', 'address', 'path', 'warn'])(
    'does not apply to an answer after reading another header, the address or the path, or with a warning (%s)',
    async reads => {
      const server = await serverWith([knows('r-', 'forever', reads), decides('all', [], { x: allow })]);
      try {
        expect(await server.callsOf('r-', 'r-x', 'r-x', 'r-x')).toBe(3);
        expect((await server.get('r-x')).status).toBe(200);
        if (reads !== 'warn') return;
        const warning = '299 - "old token"';
        const refused = await server.api.get('/api/v1/nodes', { token: 'r-y' });
        expect([refused.status, refused.headers['warning']]).toEqual([403, warning]);
        const written = await server.api.call('POST', MAPS, { token: 'r-x', body: { metadata: { name: 'warned' } } });
        expect([written.status, written.headers['warning']]).toEqual([201, warning]);
        const bad = await server.get('r-bad');
        expect([bad.status, bad.headers['warning']]).toEqual([401, warning]);
      } finally {
        await server.api.close();
      }
    },
  );

  test('of an answer for one Authorization header does not apply to another', async () => {
    const server = await serverWith([knows('k-', 'forever'), decides('all', [], { x: allow, y: allow })]);
    try {
      expect(await server.callsOf('k-', 'k-x', 'k-y', 'k-x', 'k-y')).toBe(2);
    } finally {
      await server.api.close();
    }
  });
});

describe('dependsOn', () => {
  test('caches for milliseconds, or never', async () => {
    const server = await serverWith([
      knows('d-', 'forever'),
      decides('long', LONG, { x: allow }),
      decides('while', WHILE, { y: allow }),
      decides('never', 'never', { z: allow }),
    ]);
    try {
      expect(await server.callsOf('long', 'd-x', 'd-x', 'd-x')).toBe(1);
      expect(await server.callsOf('never', 'd-z', 'd-z', 'd-z')).toBe(3);
      await server.get('d-y');
      const before = server.calls('while');
      await server.api.until(async () => {
        await server.get('d-y');
        return server.calls('while') > before;
      });
    } finally {
      await server.api.close();
    }
  });

  test('caches until an object of a named resource changes, and no longer than an earlier authorizer says', async () => {
    const server = await serverWith([
      knows('d-', 'forever'),
      decides('roles', ['rbac.authorization.orchestrator.io/clusterroles'], { y: allow }),
      decides('namespaces', ['core/namespaces'], { x: allow }),
      decides('both', { resources: ['core/limitranges'], milliseconds: 60_000 }, { z: allow }),
    ]);
    const made = (path: string, name: string) => server.api.made(path, { metadata: { name } });
    try {
      // Controllers write to the default roles after a start.
      await server.api.until(async () => (await server.callsOf('roles', 'd-y', 'd-y')) === 0);
      expect(await server.callsOf('both', 'd-z', 'd-z', 'd-z')).toBe(1);
      await made('/api/v1/namespaces/default/limitranges', 'new');
      expect(await server.callsOf('both', 'd-z', 'd-z', 'd-z')).toBe(1);
      expect(await server.callsOf('namespaces', 'd-x', 'd-x', 'd-x')).toBe(1);
      await made('/api/v1/namespaces', 'new');
      expect(await server.callsOf('namespaces', 'd-x', 'd-x')).toBe(1);
      expect(await server.callsOf('roles', 'd-y', 'd-y')).toBe(0);
      await made('/apis/rbac.authorization.k8s.io/v1/clusterroles', 'new');
      expect(await server.callsOf('roles', 'd-y', 'd-y')).toBe(1);
      // The first authorizer had no opinion about x, and may have one now.
      expect(await server.callsOf('namespaces', 'd-x', 'd-x')).toBe(1);
    } finally {
      await server.api.close();
    }
  });

  test('of refusals is never cached', async () => {
    const server = await serverWith([knows('n-', 'forever'), decides('no', [], { x: deny })]);
    try {
      expect(await server.callsOf('no', 'n-x', 'n-x')).toBe(2);
    } finally {
      await server.api.close();
    }
  });
});
