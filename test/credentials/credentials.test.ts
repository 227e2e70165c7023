import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createProxy, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type ClientAccess, loadCredentials } from '../../core/client/index.js';
import { authority, type TestAuthority } from '../authn/certificates.js';
import { eventuallyPasses } from '../support/eventually.js';
import { CredentialServer, get, TestPlugin } from './plugin.js';

const NEUTRAL = 'client.authentication.orchestrator.io';
const UPSTREAM = 'client.authentication.k8s.io';
const later = (ms: number): string => new Date(Date.now() + ms).toISOString();

let root: string;
let ca: TestAuthority;
let caFile: string;
let server: CredentialServer;
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'credentials-'));
  ca = await authority('client-ca');
  caFile = join(root, 'ca.crt');
  writeFileSync(caFile, ca.certificate);
  server = await CredentialServer.start(ca);
});
afterAll(() => {
  server.close();
  rmSync(root, { recursive: true });
});

let folder: string;
let plugin: TestPlugin;
let access: ClientAccess | undefined;
let tests = 0;
beforeEach(() => {
  folder = join(root, `test-${tests++}`);
  mkdirSync(folder);
  plugin = new TestPlugin(folder);
  server.seen.length = 0;
  server.code = () => 200;
});
afterEach(() => access?.close());

const load = (exec: object = {}, hasTerminal?: boolean, of = plugin): ClientAccess => {
  const kubeconfig = of.write(server.url, exec, { 'certificate-authority': caFile });
  access = loadCredentials({ kubeconfig, ...(hasTerminal === undefined ? {} : { hasTerminal }) });
  return access;
};

describe('credentials of a plugin', () => {
  test.each([
    ['neutral', NEUTRAL, 'v1'],
    ['neutral', NEUTRAL, 'v1beta1'],
    ['kubernetes', UPSTREAM, 'v1'],
    ['kubernetes', UPSTREAM, 'v1beta1'],
  ])(
    'are read in the naming %s, group %s, version %s, and its token is sent [A050 A051 A056]',
    async (naming, group, version) => {
      const own = new TestPlugin(folder, `${group}/${version}`);
      own.status({ token: 'abc' });
      expect(await get(load({ args: ['one two'], env: [{ name: 'WORD', value: 'x=y' }] }, undefined, own))).toBe(200);
      expect(server.seen).toMatchObject([{ authorization: 'Bearer abc', client: undefined }]);
      const info = { kind: 'ExecCredential', apiVersion: `${group}/${version}`, spec: { interactive: false } };
      expect(own.runs).toEqual([{ naming, info, arg: 'one two', word: 'x=y', stdin: 'none' }]);
    },
  );

  test('may be a certificate with its key and intermediate certificates [A052]', async () => {
    const ann = await ca.issue('ann');
    plugin.status({ clientCertificateData: ann.certificate + ca.certificate, clientKeyData: ann.key });
    await get(load());
    expect(server.seen).toMatchObject([{ authorization: undefined, client: 'ann' }]);
  });

  test('with another certificate are sent over a new connection, with the same one over the old one [A053]', async () => {
    const [ann, bob] = [await ca.issue('ann'), await ca.issue('bob')];
    const use = ({ certificate, key }: typeof ann, token: string): void =>
      plugin.status({ clientCertificateData: certificate, clientKeyData: key, token, expirationTimestamp: later(-1) });
    use(ann, 't1');
    const own = load();
    await get(own);
    use(ann, 't2');
    await get(own);
    use(bob, 't3');
    await get(own);
    const [first, second, third] = server.seen;
    expect(server.seen.map(({ client, authorization }) => [client, authorization])).toEqual([
      ['ann', 'Bearer t1'],
      ['ann', 'Bearer t2'],
      ['bob', 'Bearer t3'],
    ]);
    expect(second!.socket).toBe(first!.socket);
    expect(third!.socket).not.toBe(first!.socket);
  });

  test('with an expiration are kept until it passes, in any form of RFC 3339 [A054 A058]', async () => {
    for (const time of ['2999-01-31T12:00:00Z', '2999-01-31T12:00:00.123456789+01:00']) {
      plugin.status({ token: 'abc', expirationTimestamp: time });
      const own = load();
      const { expiresAt } = await own.get();
      expect(expiresAt).toBe(Date.parse(time));
      await own.get();
    }
    expect(plugin.runs).toHaveLength(2);
    plugin.status({ token: 'old', expirationTimestamp: later(-1000) });
    const own = load();
    expect((await own.get()).token).toBe('old');
    plugin.status({ token: 'new', expirationTimestamp: later(60_000) });
    expect((await own.get()).token).toBe('new');
    expect((await own.get()).token).toBe('new');
    expect(plugin.runs).toHaveLength(4);
  });

  test.each([
    ['with an expiration [A058]', { expirationTimestamp: later(60_000) }],
    ['without one [A059]', {}],
  ])('%s are requested again after a 401', async (_, more) => {
    plugin.status({ token: 'old', ...more });
    const own = load();
    await get(own);
    await get(own);
    expect(plugin.runs).toHaveLength(1);
    server.code = ({ authorization }) => (authorization === 'Bearer new' ? 200 : 401);
    plugin.status({ token: 'new', ...more });
    expect(await get(own)).toBe(401);
    expect(await get(own)).toBe(200);
    expect(plugin.runs).toHaveLength(2);
  });

  test('are requested once for concurrent requests, and a late 401 does not discard newer ones', async () => {
    plugin.status({ token: 'abc' });
    const own = load();
    const [first, second] = await Promise.all([own.get(), own.get()]);
    expect(second).toBe(first);
    expect(own.refused(first!)).toBe(true);
    const next = await own.get();
    own.refused(second!);
    expect(await own.get()).toBe(next);
    expect(plugin.runs).toHaveLength(2);
  });

  test('get the cluster of the context only with provideClusterInfo [A055 A056]', async () => {
    plugin.status({ token: 'abc' });
    const extension = { audience: 'x', list: [1] };
    const cluster = {
      'certificate-authority': caFile,
      'tls-server-name': 'localhost',
      extensions: [
        { name: 'other', extension: {} },
        { name: `${NEUTRAL}/exec`, extension },
      ],
    };
    for (const provideClusterInfo of [true, false])
      await loadCredentials({ kubeconfig: plugin.write(server.url, { provideClusterInfo }, cluster) }).get();
    const data = Buffer.from(ca.certificate).toString('base64');
    expect(plugin.runs.map(({ info }) => info.spec)).toEqual([
      {
        cluster: {
          server: server.url,
          'tls-server-name': 'localhost',
          'certificate-authority-data': data,
          config: extension,
        },
        interactive: false,
      },
      { interactive: false },
    ]);
  });

  test.each([
    ['Never', true, false],
    ['Never', false, false],
    ['IfAvailable', true, true],
    ['IfAvailable', false, false],
    ['Always', true, true],
  ])(
    'in the mode %s, with a terminal: %s, may be interactive: %s [A057]',
    async (interactiveMode, hasTerminal, interactive) => {
      plugin.status({ token: 'abc' });
      await load({ interactiveMode }, hasTerminal).get();
      expect(plugin.runs[0]!.info.spec).toEqual({ interactive });
      if (!interactive) expect(plugin.runs[0]!.stdin).toBe('none');
    },
  );

  test('are refused in the mode Always without a terminal, and v1 must name a mode [A057]', async () => {
    plugin.status({ token: 'abc' });
    await expect(load({ interactiveMode: 'Always' }, false).get()).rejects.toThrow('must ask on a terminal');
    expect(plugin.runs).toHaveLength(0);
    expect(() => load({ interactiveMode: undefined })).toThrow('user.exec.interactiveMode: must be Never');
    const former = new TestPlugin(folder, `${NEUTRAL}/v1beta1`);
    former.status({ token: 'abc' });
    await load({ interactiveMode: undefined }, true, former).get();
    expect(former.runs[0]!.info.spec).toEqual({ interactive: true });
  });
});

describe('the output of a plugin is refused', () => {
  const good = { apiVersion: `${NEUTRAL}/v1`, kind: 'ExecCredential' };
  test.each([
    ['is not JSON', 'tok-secret', 'the output is not a JSON object'],
    [
      'is of another kind [A050]',
      { ...good, kind: 'Token', status: { token: 'tok-secret' } },
      'kind must be ExecCredential',
    ],
    [
      'has another version than the kubeconfig [A050]',
      { ...good, apiVersion: `${NEUTRAL}/v1beta1`, status: { token: 'tok-secret' } },
      'apiVersion must be',
    ],
    ['has no status', good, 'status is missing'],
    ['has no credentials', { ...good, status: {} }, 'neither a token nor a certificate'],
    ['has a token that no header can hold', { ...good, status: { token: 'tok-secret\nx: y' } }, 'visible ASCII'],
    [
      'has a certificate without its key [A052]',
      { ...good, status: { clientCertificateData: 'x' } },
      'must both be set',
    ],
    [
      'has a key without its certificate [A052]',
      { ...good, status: { clientKeyData: 'tok-secret' } },
      'must both be set',
    ],
    [
      'has a certificate that is not PEM',
      { ...good, status: { clientCertificateData: 'x', clientKeyData: 'tok-secret' } },
      'must be certificates in PEM',
    ],
    [
      'has a time in another format [A054]',
      { ...good, status: { token: 'tok-secret', expirationTimestamp: 'tomorrow' } },
      'status.expirationTimestamp must be a time',
    ],
    ['is too long', `{"x":"${'a'.repeat(1024 * 1024)}`, 'has printed more than'],
  ])('if it %s, without showing a part of it in the message', async (_, answer, message) => {
    plugin.answer(answer);
    const error = await load()
      .get()
      .then(
        () => new Error('accepted'),
        (thrown: Error) => thrown,
      );
    expect(error.message).toContain(message);
    expect(error.message).not.toContain('tok-secret');
  });

  test('if it is endless, and the plugin is killed, even if it ignores signals', async () => {
    const [script, pidFile] = [join(folder, 'endless.sh'), join(folder, 'pid')];
    writeFileSync(script, `#!/bin/sh\ntrap '' TERM\necho $$ > ${pidFile}\nexec yes\n`, { mode: 0o700 });
    await expect(load({ command: script }).get()).rejects.toThrow('has printed more than');
    const pid = Number(readFileSync(pidFile, 'utf8'));
    await eventuallyPasses(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'));
  });

  test('if the key belongs to another certificate [A052]', async () => {
    const [ann, bob] = [await ca.issue('ann'), await ca.issue('bob')];
    plugin.status({ clientCertificateData: ann.certificate, clientKeyData: bob.key });
    await expect(load().get()).rejects.toThrow('does not belong to');
  });

  test('if the plugin fails, is not installed, or cannot be run; a later run may succeed', async () => {
    plugin.status({ token: 'abc' });
    await expect(load({ env: [{ name: 'CODE', value: '3' }] }).get()).rejects.toThrow('has failed with exit code 3');
    const absent = load({ command: 'capstan-no-such-plugin', installHint: 'Install it: npm i' });
    await expect(absent.get()).rejects.toThrow('capstan-no-such-plugin is not installed\nInstall it: npm i');
    await expect(load({ command: './answer' }).get()).rejects.toThrow('cannot be run: EACCES');
    plugin.answer('');
    const own = load();
    await expect(own.get()).rejects.toThrow('is not a JSON object');
    plugin.status({ token: 'abc' });
    expect((await own.get()).token).toBe('abc');
  });
});

describe('a kubeconfig', () => {
  test.each([
    [{ apiVersion: 'client.authentication.k8s.io/v1alpha1' }, 'user.exec.apiVersion: must be'],
    [{ command: '' }, 'user.exec.command: is missing'],
    [{ args: 'x' }, 'user.exec.args: must be a list of strings'],
    [{ env: [{ value: 'x' }] }, 'user.exec.env[0].name: must be the name of a variable'],
    [{ command: 'x\0' }, 'user.exec.command: must not have the character U+0000'],
    [{ args: ['x', 'tok-secret\0'] }, 'user.exec.args[1]: must not have the character U+0000'],
    [{ env: [{ name: 'X', value: 'tok-secret\0' }] }, 'user.exec.env[0].value: must not have the character U+0000'],
  ])('with %j is refused with the field', (exec, message) => {
    expect(() => load(exec)).toThrow(message);
    expect(() => load(exec)).not.toThrow('tok-secret');
  });

  const write = (user: object, cluster: object = {}): string => {
    const file = join(folder, 'own');
    const content = {
      'current-context': 'here',
      contexts: [
        { name: 'here', context: { cluster: 'c', user: 'u' } },
        { name: 'bare', context: { cluster: 'c' } },
      ],
      clusters: [{ name: 'c', cluster: { server: `${server.url}/`, 'certificate-authority': caFile, ...cluster } }],
      users: [{ name: 'u', user }],
    };
    writeFileSync(file, JSON.stringify(content));
    return file;
  };

  test.each([
    [{ as: 'ann' }, {}, 'user.as: is not supported'],
    [{ username: 'ann', password: 'x' }, {}, 'user.username: is not supported'],
    [
      { token: 'x', exec: { apiVersion: `${NEUTRAL}/v1`, command: 'x', interactiveMode: 'Never' } },
      {},
      'user.exec: cannot',
    ],
    [{}, { server: 'localhost:1' }, 'cluster.server: must be a URL'],
    [{}, { 'proxy-url': 'socks5://x' }, 'cluster.proxy-url: must be the URL'],
    [{}, { 'proxy-url': 'http://me:50%@x' }, 'cluster.proxy-url: must have %25 for each %'],
    [{}, { 'insecure-skip-tls-verify': true }, 'cannot be used with certificate-authority'],
  ])('with the user %j and the cluster %j is refused', (user, cluster, message) =>
    expect(() => loadCredentials({ kubeconfig: write(user, cluster) })).toThrow(message),
  );

  test('may have a context without credentials, and a token file that is read again after a 401', async () => {
    const tokenFile = join(folder, 'token');
    writeFileSync(tokenFile, 'old\n');
    const kubeconfig = write({ tokenFile: 'token' });
    access = loadCredentials({ kubeconfig, context: 'bare' });
    expect(await get(access)).toBe(200);
    access.close();
    access = loadCredentials({ kubeconfig });
    await get(access);
    writeFileSync(tokenFile, 'new\n');
    await get(access);
    server.code = ({ authorization }) => (authorization === 'Bearer new' ? 200 : 401);
    expect(await get(access)).toBe(401);
    expect(await get(access)).toBe(200);
    const sent = server.seen.map(({ authorization }) => authorization);
    expect(sent).toEqual([undefined, 'Bearer old', 'Bearer old', 'Bearer old', 'Bearer new']);
  });

  test('with a fixed token yields no other token after a 401', async () => {
    access = loadCredentials({ kubeconfig: write({ token: 'abc' }) });
    expect(access.refused(await access.get())).toBe(false);
  });

  test('with a proxy sends requests through it, end to end encrypted, and reports why it cannot connect', async () => {
    const asked: unknown[] = [];
    const proxy: Server = createProxy();
    proxy.on('connect', (incoming, socket) => {
      asked.push([incoming.url, incoming.headers['proxy-authorization']]);
      if (incoming.headers['proxy-authorization'] === undefined)
        return void socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
      const through = connect(server.port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        through.pipe(socket).pipe(through);
      });
      for (const one of [socket, through]) one.on('error', () => undefined);
    });
    await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve));
    const { port } = proxy.address() as AddressInfo;
    try {
      access = loadCredentials({
        kubeconfig: write({ token: 'abc' }, { 'proxy-url': `http://me:p%40ss@127.0.0.1:${port}` }),
      });
      expect([await get(access), await get(access)]).toEqual([200, 200]);
      expect(server.seen[0]).toMatchObject({ authorization: 'Bearer abc' });
      const login = `Basic ${Buffer.from('me:p@ss').toString('base64')}`;
      expect(asked).toEqual([[`localhost:${server.port}`, login]]);
      access.close();
      access = loadCredentials({ kubeconfig: write({ token: 'abc' }, { 'proxy-url': `http://127.0.0.1:${port}` }) });
      await expect(get(access)).rejects.toThrow(
        `the proxy http://127.0.0.1:${port} does not connect: it has answered 407`,
      );
    } finally {
      access?.close();
      proxy.closeAllConnections();
      proxy.close();
    }
  });

  test('that is closed aborts its requests to a proxy that does not answer', async () => {
    const proxy: Server = createProxy();
    const ended = new Promise<void>(resolve => {
      proxy.on('connect', (_, socket) => {
        socket.on('error', () => undefined);
        socket.on('end', () => resolve(void socket.destroy())).resume();
        access?.close();
      });
    });
    await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve));
    const { port } = proxy.address() as AddressInfo;
    try {
      access = loadCredentials({ kubeconfig: write({ token: 'abc' }, { 'proxy-url': `http://127.0.0.1:${port}` }) });
      await expect(get(access)).rejects.toThrow('does not connect: the connections were closed');
      await ended;
    } finally {
      proxy.close();
    }
  });
});
