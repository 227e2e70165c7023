import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api } from '../api/support.js';

const RBAC = '/apis/rbac.authorization.orchestrator.io/v1/namespaces/default';
const PODS = '/api/v1/namespaces/default/pods';
const REVIEWS = '/apis/authentication.orchestrator.io/v1/selfsubjectreviews';
const REVIEW = { apiVersion: 'authentication.orchestrator.io/v1', kind: 'SelfSubjectReview' };

let folder: string;
let tokenAuthFile: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'modes-'));
  tokenAuthFile = join(folder, 'tokens');
  writeFileSync(
    tokenAuthFile,
    'eve-token,eve,uid-1,"one,two words"\nodd-token,"Ünï/corn @ <b>",,any:thing\nnode-token,system:node:n1,3,system:nodes',
  );
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('a server with --authorization-mode=Node,RBAC and --anonymous-auth=false', () => {
  let api: Api;
  beforeAll(async () => {
    api = await Api.start({
      naming: 'neutral',
      tokenAuthFile,
      authorizationMode: ['Node', 'RBAC'],
      anonymousAuth: false,
    });
  });
  afterAll(() => api.close());
  const status = async (path: string, token: string): Promise<number> => (await api.get(path, { token })).status;

  test('answers 401 without credentials, and for an unknown token [A275 A436 R353]', async () => {
    for (const token of ['', 'unknown']) {
      const answer = await api.get('/version', { token });
      expect([answer.status, answer.body.message]).toEqual([401, 'Unauthorized']);
    }
  });

  test('denies with 403 all requests that no authorizer allows, also next to allowed ones [A290 A439 R353]', async () => {
    const answer = await api.get(PODS, { token: 'eve-token' });
    expect([answer.status, answer.body.message]).toEqual([
      403,
      'pods is forbidden: User "eve" cannot list resource "pods" in API group "" in the namespace "default"',
    ]);
    expect(await status('/version', 'eve-token')).toBe(200);
  });

  test('follows roles and bindings [A322]', async () => {
    const group = 'rbac.authorization.orchestrator.io';
    const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['list'] }];
    const common = { apiVersion: `${group}/v1`, metadata: { name: 'readers' } };
    const roleRef = { apiGroup: group, kind: 'Role', name: 'readers' };
    const subjects = [{ apiGroup: group, kind: 'Group', name: 'two words' }];
    expect((await api.post(`${RBAC}/roles`, { ...common, kind: 'Role', rules })).status).toBe(201);
    const binding = { ...common, kind: 'RoleBinding', roleRef, subjects };
    expect((await api.post(`${RBAC}/rolebindings`, binding)).status).toBe(201);
    expect([await status(PODS, 'eve-token'), await status(`${PODS}/x`, 'eve-token')]).toEqual([200, 403]);
  });

  test('lets a node agent read its own node, and no other one [A323]', async () => {
    expect([await status('/api/v1/nodes/n1', 'node-token'), await status('/api/v1/nodes/n2', 'node-token')]).toEqual([
      404, 403,
    ]);
    expect(await status('/api/v1/nodes/n1', 'eve-token')).toBe(403);
    const refused = await api.get('/api/v1/namespaces/default/secrets/x', { token: 'node-token' });
    expect(await api.decisionOf(refused)).toMatchObject({
      authorization: {
        authorizers: expect.arrayContaining([
          {
            name: 'node',
            decision: 'NoOpinion',
            reason: "no relationship found between node 'n1' and this object",
          },
        ]),
      },
    });
  });

  test('lets a node agent change other nodes, as NodeRestriction is off [A388]', async () => {
    for (const name of ['n8', 'n9']) await api.made('/api/v1/nodes', { metadata: { name } });
    const change = { metadata: { labels: { changed: 'yes' } } };
    const type = 'application/merge-patch+json';
    expect((await api.patch('/api/v1/nodes/n9', type, change, { token: 'node-token' })).status).toBe(200);
  });

  test('answers self subject reviews with all attributes as they were authenticated [A010 A011 A012 A014 A185 A435]', async () => {
    const whoami = async (token: string): Promise<object> => {
      const answer = await api.post(REVIEWS, REVIEW, { token });
      return { code: answer.status, ...(answer.body.status as unknown as { userInfo: object }).userInfo };
    };
    expect(await whoami('eve-token')).toEqual({
      code: 201,
      username: 'eve',
      uid: 'uid-1',
      groups: ['one', 'two words', 'system:authenticated'],
    });
    expect(await whoami('odd-token')).toMatchObject({
      username: 'Ünï/corn @ <b>',
      groups: ['any:thing', 'system:authenticated'],
    });
  });
});

test('a server with --authorization-mode=AlwaysDeny denies everything [A320]', async () => {
  const api = await Api.start({ naming: 'neutral', tokenAuthFile, authorizationMode: ['AlwaysDeny'] });
  try {
    for (const path of [PODS, '/version', '/apis', '/metrics'])
      expect((await api.get(path, { token: 'eve-token' })).status).toBe(403);
    expect((await api.post(REVIEWS, REVIEW, { token: 'eve-token' })).status).toBe(403);
  } finally {
    await api.close();
  }
});
