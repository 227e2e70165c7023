import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { applyCommand } from '../../core/command/subcommands/apply.js';
import { getCommand } from '../../core/command/subcommands/get.js';
import { whyCommand } from '../../core/command/subcommands/why.js';
import { decisionText } from '../../core/command/client/whyText.js';
import { styleOf } from '../../core/command/terminal/style.js';
import { Api } from '../api/support.js';
import { Captured } from '../command/server.js';
import { blocksOf } from '../docs/code.js';

/* `capstan why`, and the commands and objects of docs/guides/why.md. */

const directory = mkdtempSync(join(tmpdir(), 'capstan-why-'));
const kubeconfig = join(directory, 'kubeconfig');
let api: Api;
beforeAll(async () => {
  api = await Api.shared();
  writeFileSync(kubeconfig, api.server.kubeconfig);
  await api.post('/api/v1/namespaces', { metadata: { name: 'why-command' } });
});
afterAll(async () => {
  await api.close();
  rmSync(directory, { recursive: true });
});

const as = (user: string) => ({ headers: { 'impersonate-user': user } });

/** The output of `capstan why`. */
async function why(...args: string[]): Promise<string> {
  const io = new Captured();
  expect([await whyCommand([...args, `--kubeconfig=${kubeconfig}`], io), io.errors]).toEqual([0, []]);
  return io.lines.join('\n');
}

describe('capstan why ID', () => {
  test('explains a refusal as readable text, and as an object', async () => {
    const { headers } = await api.get('/api/v1/namespaces/why-command/pods', as('olga'));
    const id = headers['audit-id'] as string;
    const text = await why(id);
    for (const part of [
      '403 Forbidden  list pods in the namespace why-command\n',
      'Sender  olga; in system:authenticated; known by ',
      '  rbac does not allow it\n',
      'To allow it, apply\napiVersion: rbac.authorization.k8s.io/v1\nkind: Role\n',
    ])
      expect(text).toContain(part);
    expect(JSON.parse(await why(id, '-o', 'json'))).toMatchObject({ kind: 'Decision', metadata: { name: id } });
    expect(await why(id, '-o', 'yaml')).toContain('\nkind: Decision\n');
  });

  test('says where to find ids if none is given, and which arguments it accepts', async () => {
    await expect(why('none')).rejects.toThrow(/"none" not found; .* capstan get decisions lists them/);
    await expect(why()).rejects.toThrow('expects the audit id of a request, or VERB KIND [NAME]');
    await expect(why('none', '--as=olga')).rejects.toThrow('--as: is about a question');
    await expect(why('none', '-o', 'wide')).rejects.toThrow('--output: must be text, yaml, json');
    await expect(why('get', 'pods', '--as-group=a')).rejects.toThrow('--as-group: needs --as');
  });

  test('prints no control characters from objects to a terminal', () => {
    const decision = { request: { verb: 'get', path: '/\u001b[2J' }, outcome: { code: 404, message: 'a\u0007b\nc' } };
    const text = decisionText(decision, styleOf({ isTTY: false, hasColors: () => false } as NodeJS.WriteStream));
    expect(text).toContain('404  get / [2J\n  a b\n  c\n');
  });

  test('shows rules, unknown paths, and where messages are omitted', () => {
    const decision = {
      request: { verb: '', path: '/apis/apps/v9/pods', resource: 'pods' },
      sender: { username: 'system:anonymous', groups: ['system:unauthenticated'] },
      outcome: { code: 404 },
      violations: [
        { field: 'spec', reason: 'FieldValueInvalid', message: 'min above max', rule: 'self.min <= self.max' },
        { field: 'data[a]', reason: 'FieldValueInvalid', message: '' },
      ],
    };
    expect(
      decisionText(decision, styleOf({ isTTY: false, hasColors: () => false } as NodeJS.WriteStream)).split('\n'),
    ).toEqual([
      '404  pods',
      'Path  /apis/apps/v9/pods',
      'Sender  system:anonymous; in system:unauthenticated; the request has no credentials',
      'Violations',
      '  spec: min above max',
      '    rule: self.min <= self.max',
      '  data[a]: FieldValueInvalid; the message is left out, as it may have a credential',
    ]);
  });

  test('names the writers since the version that was sent', () => {
    const conflict = { field: '.metadata.resourceVersion', manager: 'waiter', operation: 'Update', since: '2026' };
    const decision = { request: { verb: 'update', resource: 'pods' }, outcome: { code: 409 }, conflicts: [conflict] };
    const text = decisionText(decision, styleOf({ isTTY: false, hasColors: () => false } as NodeJS.WriteStream));
    expect(text).toContain(
      'Conflicts\n  the version that was sent is not the current one: waiter (Update) has written the object at 2026',
    );
  });

  test('says that a dry run has stored nothing', () => {
    const decision = { request: { verb: 'create', resource: 'pods', dryRun: true }, outcome: { code: 201 } };
    const text = decisionText(decision, styleOf({ isTTY: false, hasColors: () => false } as NodeJS.WriteStream));
    expect(text).toContain('201  create pods\n  a dry run: nothing was stored\n');
  });

  test('says that the message of a refusal is omitted, unless a violation says so', () => {
    const decision = { request: { verb: 'create', resource: 'secrets' }, outcome: { code: 400, reason: 'BadRequest' } };
    const text = decisionText(decision, styleOf({ isTTY: false, hasColors: () => false } as NodeJS.WriteStream));
    expect(text).toContain('400 BadRequest  create secrets\n  the message is left out, as it may have a credential\n');
  });

  test('is colored on a terminal, and each text from objects is one line', () => {
    const decision = {
      request: { verb: 'get', path: '/version' },
      sender: { username: 'eve\nAuthorizers' },
      outcome: { code: 403, reason: 'Forbidden\u001b[2J', message: 'no' },
    };
    const text = decisionText(decision, styleOf({ isTTY: true, hasColors: () => true } as NodeJS.WriteStream));
    const [first, , second, ...more] = text.split('\n');
    expect(first).toBe('\u001b[31m403 Forbidden [2J\u001b[39m  get /version');
    expect(second).toBe('\u001b[1mSender\u001b[22m  eve Authorizers');
    expect(more).toEqual([]);
  });

  test('is mentioned by commands that are refused', async () => {
    const file = join(directory, 'bad.yaml');
    writeFileSync(
      file,
      'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: bad, namespace: why-command, labels: { -: a } }\n',
    );
    const io = new Captured();
    expect(await applyCommand(['-f', file, `--kubeconfig=${kubeconfig}`], io)).toBe(1);
    const [, id] = /; capstan why ([0-9a-f-]{36}) explains it$/.exec(io.errors[0]!)!;
    expect(await why(id!)).toContain('Violations\n  metadata.labels: Invalid value: "-"');
  });
});

describe('capstan why VERB KIND', () => {
  test('says whether a user is allowed to do something, and which role would allow it', async () => {
    const text = await why('--as=olga', 'create', 'pods', '-n', 'why-command');
    expect(text).toMatch(/^no {2}olga may not create pods in the namespace why-command\n/);
    expect(text).toContain('name: allow-create-pods-olga\n');
    expect(await why('get', '/version', '--as=olga')).toMatch(/^yes {2}olga may get \/version\n/);
    // No role is suggested that would allow it to everybody.
    expect(await why('--as=system:anonymous', 'create', 'pods')).not.toContain('To allow it, apply');
    expect(await why('delete', 'nodes', 'a')).toMatch(/^yes {2}you may delete nodes "a"\n/);
  });
});

describe('the guide', () => {
  test('has commands that work', async () => {
    const { headers } = await api.get('/api/v1/namespaces/shop/pods', as('wanda'));
    const lines = blocksOf('why', 'sh')[0]!
      .split('\n')
      .filter(line => line.startsWith('capstan '));
    const printed: string[] = [];
    for (const line of lines) {
      const [, command, ...args] = line
        .replace(/ +#.*/, '')
        .replace('ID', headers['audit-id'] as string)
        .split(' ');
      const io = new Captured();
      const run = command === 'why' ? whyCommand : getCommand;
      expect(await run([...args, `--kubeconfig=${kubeconfig}`], io)).toBe(0);
      printed.push(io.lines.join('\n'));
    }
    expect(printed).toEqual([
      expect.stringContaining('403 Forbidden  list pods in the namespace shop'),
      expect.stringContaining('wanda may not create pods in the namespace shop'),
      expect.stringMatching(/^NAME +CODE +USER +VERB +RESOURCE +NAMESPACE +OBJECT +AGE\n/),
    ]);
  });

  test('has a role with which other users may read decisions and request explanations', async () => {
    const [role] = blocksOf('why', 'yaml');
    const path = '/apis/rbac.authorization.k8s.io/v1';
    expect((await api.post(`${path}/clusterroles`, role!, { type: 'application/yaml' })).status).toBe(201);
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'why-viewer' };
    const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'vera' }];
    await api.post(`${path}/clusterrolebindings`, { metadata: { name: 'why-viewer' }, roleRef, subjects });
    try {
      const decisions = await api.get('/apis/why.capstan.dev/v1/decisions?limit=1', as('vera'));
      expect(decisions.status).toBe(200);
      const spec = { nonResourceAttributes: { verb: 'get', path: '/version' } };
      expect((await api.post('/apis/why.capstan.dev/v1/explanations', { spec }, as('vera'))).status).toBe(201);
    } finally {
      await api.call('DELETE', `${path}/clusterrolebindings/why-viewer`);
      await api.call('DELETE', `${path}/clusterroles/why-viewer`);
    }
  });
});
