import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import { expect, test } from 'vitest';
import { ServerProcess } from '../command/server.js';

/** Values that must not be shown anywhere. */
const VALUE = 'v4lue-of-a-secret';
const STATIC = 'static-token-0123';
const BOOTSTRAP = '0123456789abcdef';
const POLICY = `
apiVersion: audit.k8s.io/v1
kind: Policy
rules: [{ level: RequestResponse }]
`;

test('no log, audit line, metric or error of a server has a secret, token or key', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'capstan-secrets-'));
  writeFileSync(join(directory, 'policy.yaml'), POLICY);
  writeFileSync(join(directory, 'tokens.csv'), `${STATIC},carol,2\n`);
  const server = await ServerProcess.start(join(directory, 'data'), [
    '--naming=kubernetes',
    '--storage-backend=memory',
    '--audit-log-path=-',
    `--audit-policy-file=${join(directory, 'policy.yaml')}`,
    `--token-auth-file=${join(directory, 'tokens.csv')}`,
    '--enable-bootstrap-token-auth',
    '-v=2',
  ]);
  try {
    const shown: string[] = [];
    const send = async (
      method: 'GET' | 'POST',
      path: string,
      token: string,
      body?: object | string,
    ): Promise<string> => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const raw = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
      const answer = await request(server.url + path, { method, headers, body: raw, dispatcher: server.agent });
      return await answer.body.text();
    };
    const pki = join(directory, 'data', 'pki');
    const admin = readFileSync(join(pki, 'admin-token.csv'), 'utf8').split(',')[0]!;
    const core = '/api/v1/namespaces/kube-system';
    while (!(await send('GET', `${core}/serviceaccounts/default`, admin)).includes('"uid"'));
    const requested = await send('POST', `${core}/serviceaccounts/default/token`, admin, { spec: {} });
    const bound = (JSON.parse(requested) as { status: { token: string } }).status.token;
    const stringData = {
      'token-id': 'abcdef',
      'token-secret': BOOTSTRAP,
      'usage-bootstrap-authentication': 'true',
      'usage-bootstrap-signing': 'true',
    };
    const metadata = { name: 'bootstrap-token-abcdef' };
    await send('POST', `${core}/secrets`, admin, { metadata, type: 'bootstrap.kubernetes.io/token', stringData });
    await send('POST', `${core}/secrets`, admin, { metadata: { name: 'held' }, stringData: { password: VALUE } });
    const reviews = '/apis/authentication.k8s.io/v1/tokenreviews';
    for (const token of [bound, `${bound}x`, STATIC, `abcdef.${BOOTSTRAP}`, `${STATIC}x`]) {
      shown.push(await send('GET', `${core}/secrets/held`, token));
      shown.push(await send('POST', reviews, token, { spec: {} }));
      shown.push(await send('POST', reviews, admin, { spec: { token } }).then(text => text.replace(token, '')));
    }
    shown.push(
      await send('POST', `${core}/secrets`, admin, { metadata: { name: 'x' }, type: 1, stringData: { a: VALUE } }),
    );
    shown.push(await send('POST', `${core}/secrets`, admin, `{"stringData": {"a": "${VALUE}"`));
    shown.push(await send('GET', '/metrics', admin));
    await server.end();
    expect(server.output).toContain('"auditID"');
    const keys = readdirSync(pki).filter(file => file.endsWith('.key') && file !== 'continue.key');
    const lines = keys.flatMap(file => readFileSync(join(pki, file), 'utf8').split('\n').slice(1, 3));
    const secrets = [admin, STATIC, BOOTSTRAP, VALUE, Buffer.from(VALUE).toString('base64'), bound.split('.')[2]!];
    const text = [server.output, ...shown].join('\n');
    for (const secret of [...secrets, ...lines.filter(line => line.length > 20)])
      expect([secret.slice(0, 8), text.includes(secret)]).toEqual([secret.slice(0, 8), false]);
  } finally {
    await server.end();
    rmSync(directory, { recursive: true, force: true });
  }
});
