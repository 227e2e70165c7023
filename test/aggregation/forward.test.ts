import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request as httpRequest, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { RunningServer } from '../../core/index.js';
import { authority } from '../authn/certificates.js';
import { startServer } from '../server/library.js';
import { eventually } from '../support/eventually.js';
import { OtherServer, type Received } from './otherServer.js';

const GROUP = 'echo.example.com';
const ECHOES = `/apis/${GROUP}/v1/namespaces/default/echoes`;

let folder: string;
let other: OtherServer;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'aggregation-'));
  other = await OtherServer.start();
  const proxy = await (await authority('front-proxy-ca')).issue('front-proxy-client');
  writeFileSync(join(folder, 'proxy.crt'), proxy.certificate);
  writeFileSync(join(folder, 'proxy.key'), proxy.key, { mode: 0o600 });
  const users = [
    'ann-token,ann,1,"dev,qa"',
    'utf8-token,жук,2,"system:masters"',
    'bell-token,a\x07b,3,"system:masters"',
  ];
  writeFileSync(join(folder, 'tokens.csv'), `${users.join('\n')}\n`, { mode: 0o600 });
});
afterAll(() => {
  other.close();
  rmSync(folder, { recursive: true });
});

describe.each(['uws', 'node'] as const)('with the listener %s', listener => {
  let server: RunningServer;
  beforeAll(async () => {
    server = await startServer({
      storage: 'memory',
      naming: 'kubernetes',
      listener,
      port: 0,
      httpPort: 0,
      tokenAuthFile: join(folder, 'tokens.csv'),
      proxyClientCertFile: join(folder, 'proxy.crt'),
      proxyClientKeyFile: join(folder, 'proxy.key'),
      webhookResolve: [`default/echo=https://127.0.0.1:${other.port}`],
    });
    await addVersion('v1', { caBundle: Buffer.from(other.ca.certificate).toString('base64') });
  });
  afterAll(() => server.close());
  beforeEach(() => {
    other.received.length = 0;
    other.answers.clear();
  });

  /** Registers a version of the group with the other server, and waits until its availability is known. */
  async function addVersion(version: string, further: object, service: object = { name: 'echo' }): Promise<void> {
    const name = `${version}.${GROUP}`;
    const apiService = {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name },
      spec: {
        group: GROUP,
        version,
        groupPriorityMinimum: 1000,
        versionPriority: 10,
        service: { namespace: 'default', ...service },
        ...further,
      },
    };
    const path = '/apis/apiregistration.k8s.io/v1/apiservices';
    expect((await send('POST', path, {}, JSON.stringify(apiService))).status).toBe(201);
    await eventually(async () => (await send('GET', `${path}/${name}`)).text.includes('"type":"Available"'));
  }

  const begin = (method: string, path: string, headers: RequestOptions['headers'] = {}) =>
    httpsRequest(new URL(path, server.url), {
      method,
      // Sent unchanged: a URL object would normalize it.
      path,
      rejectUnauthorized: false,
      headers: { authorization: `Bearer ${server.token}`, ...headers },
    });

  const answerTo = (sent: ReturnType<typeof begin>): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => sent.on('response', resolve).on('error', reject));

  async function send(
    method: string,
    path: string,
    headers: RequestOptions['headers'] = {},
    body?: string,
  ): Promise<{ status: number; headers: IncomingMessage['headers']; text: string }> {
    const sent = begin(method, path, { ...(body ? { 'content-type': 'application/json' } : {}), ...headers });
    const answered = answerTo(sent);
    sent.end(body);
    const answer = await answered;
    const chunks: Buffer[] = [];
    for await (const chunk of answer) chunks.push(chunk as Buffer);
    return { status: answer.statusCode!, headers: answer.headers, text: Buffer.concat(chunks).toString() };
  }

  /** A request as the other server has received it. */
  const sendEchoed = async (...request: Parameters<typeof send>): Promise<Received> =>
    JSON.parse((await send(...request)).text) as Received;

  test('the other server gets the identity of the sender, but not its credentials', async () => {
    const { url, headers, all, peer } = await sendEchoed('GET', `${ECHOES}?a=1&b=%20x`, {
      'x-remote-user': 'eve',
      'x-remote-group': 'system:masters',
      'x-remote-extra-scopes': 'all',
      'x-custom': 'kept',
    });
    expect(url).toBe(`${ECHOES}?a=1&b=%20x`);
    expect(headers).toMatchObject({ 'x-remote-user': 'kube-admin', 'x-custom': 'kept' });
    expect(all['x-remote-group']).toEqual(['system:masters', 'system:authenticated']);
    expect(headers).not.toHaveProperty('authorization');
    expect(headers).not.toHaveProperty('x-remote-extra-scopes');
    expect(peer).toBe('front-proxy-client');
  });

  test('an impersonated user is passed on, with further attributes', async () => {
    const { headers, all } = await sendEchoed('GET', ECHOES, {
      'impersonate-user': 'bob',
      'impersonate-group': ['system:masters', 'dev'],
      'impersonate-extra-example.com%2fscope': 'a b',
    });
    expect(headers['x-remote-user']).toBe('bob');
    expect(all['x-remote-group']).toEqual(['system:masters', 'dev', 'system:authenticated']);
    expect(headers['x-remote-extra-example.com%2fscope']).toBe('a b');
    expect(headers).not.toHaveProperty('impersonate-user');
  });

  test('user names arrive in UTF-8, and a name that no header can hold is refused', async () => {
    const bytes = (text: string): string => Buffer.from(text).toString('latin1');
    const { headers } = await sendEchoed('GET', ECHOES, { authorization: 'Bearer utf8-token' });
    expect(headers['x-remote-user']).toBe(bytes('жук'));
    const refused = await send('GET', ECHOES, { authorization: 'Bearer bell-token' });
    expect([refused.status, refused.text]).toEqual([503, expect.stringContaining('error trying to reach service')]);
    expect(other.received).toHaveLength(1);
  });

  test('senders without permission or identity are refused before their request is passed on', async () => {
    const refused = await send('GET', ECHOES, { authorization: 'Bearer ann-token' });
    expect(refused.status).toBe(403);
    expect(JSON.parse(refused.text).message).toContain('cannot list resource "echoes" in API group "echo.example.com"');
    expect((await send('POST', ECHOES, { authorization: 'Bearer wrong' }, '{}')).status).toBe(401);
    expect(other.received).toEqual([]);
  });

  test('[R206] a strategic merge patch is passed on unchanged', async () => {
    const type = 'application/strategic-merge-patch+json';
    const received = await sendEchoed('PATCH', `${ECHOES}/x`, { 'content-type': type }, '{"a": 1}');
    expect(received).toMatchObject({ method: 'PATCH', url: `${ECHOES}/x`, body: '{"a": 1}' });
    expect(received.headers['content-type']).toBe(type);
  });

  test('[R189] media types are decided by the other server, also a 406 for protobuf', async () => {
    other.answers.set('typed', ({ headers }, response) => {
      expect(headers.accept).toBe('application/vnd.kubernetes.protobuf');
      response.writeHead(406, { 'content-type': 'application/json' }).end('{"code":406}');
    });
    const { status, text } = await send('GET', `${ECHOES}/typed`, { accept: 'application/vnd.kubernetes.protobuf' });
    expect([status, text]).toEqual([406, '{"code":406}']);
  });

  test('the path is passed on with the escapes that the authorizer has decoded', async () => {
    expect((await sendEchoed('DELETE', `${ECHOES}/a%2Fb%20c%3Fd`)).url).toBe(`${ECHOES}/a/b%20c%3Fd`);
  });

  test('a version is found by the decoded path, and a path that cannot be decoded belongs to no version', async () => {
    const { url } = await sendEchoed('GET', ECHOES.replace('echo.example', 'echo%2Eexample'));
    expect(url).toBe(ECHOES);
    expect((await send('GET', `${ECHOES}/%FF`)).status).toBe(404);
    expect(other.received).toHaveLength(1);
  });

  test('an answer without a body is passed on without one', async () => {
    other.answers.set('deleted', (_request, response) => response.writeHead(204).end());
    const { status, headers, text } = await send('DELETE', `${ECHOES}/deleted`);
    expect([status, text]).toEqual([204, '']);
    expect(headers).not.toHaveProperty('transfer-encoding');
  });

  test('status and headers of the answer are passed on, but not those of its connection', async () => {
    other.answers.set('teapot', (_request, response) =>
      response
        .writeHead(418, { 'x-custom': 'y', 'access-control-allow-origin': '*', 'set-cookie': ['a=1', 'b=2'] })
        .end('short and stout'),
    );
    const { status, headers, text } = await send('GET', `${ECHOES}/teapot`, { 'audit-id': 'mine' });
    expect([status, text]).toEqual([418, 'short and stout']);
    expect(headers).toMatchObject({ 'x-custom': 'y', 'set-cookie': ['a=1', 'b=2'], 'audit-id': 'mine' });
    expect(headers).not.toHaveProperty('access-control-allow-origin');
  });

  test('a redirect is refused', async () => {
    other.answers.set('moved', (_request, response) => response.writeHead(302, { location: 'https://evil' }).end());
    const { status, text } = await send('GET', `${ECHOES}/moved`);
    expect(status).toBe(502);
    expect(text).toBe('the backend attempted to redirect this request, which is not permitted');
  });

  test('events of a watch arrive as they are sent', async () => {
    let stream: { write(text: string): void; end(): void } | undefined;
    other.answers.set('echoes', (_request, response) => {
      stream = response.writeHead(200, { 'content-type': 'application/json' });
      stream.write('{"n":1}\n');
    });
    const sent = begin('GET', `${ECHOES}?watch=1`);
    const answered = answerTo(sent);
    sent.end();
    const answer = (await answered).setEncoding('utf8');
    let text = '';
    answer.on('data', (part: string) => (text += part));
    await eventually(() => text.trim() === '{"n":1}');
    stream!.write('{"n":2}\n');
    await eventually(() => text.includes('{"n":2}'));
    stream!.end();
    await new Promise(resolve => answer.once('end', resolve));
  });

  test('the request to the other server is aborted when the client disconnects', async () => {
    let left = false;
    other.answers.set('echoes', (_request, response) => {
      response.on('close', () => (left = true));
      response.writeHead(200, { 'content-type': 'application/json' }).write('{"n":1}\n');
    });
    const sent = begin('GET', `${ECHOES}?watch=1`);
    const answered = answerTo(sent);
    sent.end();
    await answered;
    sent.destroy();
    await eventually(() => left);
  });

  test('a body is streamed: the other server gets the beginning before the client has sent the rest', async () => {
    let first = '';
    other.answers.set('upload', (request, response) => {
      request.once('data', (chunk: Buffer) => (first = chunk.toString()));
      request.on('end', () => response.end('done')).resume();
    });
    const sent = begin('PUT', `${ECHOES}/upload`, { 'content-type': 'text/plain' });
    const answered = answerTo(sent);
    sent.write('begin');
    await eventually(() => first === 'begin');
    sent.end('rest');
    expect((await answered).statusCode).toBe(200);
  });

  test('an answer that is cut off closes the connection of the client', async () => {
    other.answers.set('half', (request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' }).write('part');
      setImmediate(() => request.socket.destroy());
    });
    await expect(send('GET', `${ECHOES}/half`)).rejects.toThrow();
  });

  test('a server that closes the connection without an answer is reported with 503', async () => {
    other.answers.set('gone', request => request.socket.destroy());
    const { status, text } = await send('GET', `${ECHOES}/gone`);
    expect([status, text]).toEqual([503, 'error trying to reach service: EOF\n']);
  });

  test('a request that takes longer than its timeout is answered with 504', async () => {
    other.answers.set('slow', () => undefined);
    const { status, text } = await send('GET', `${ECHOES}/slow?timeout=100ms`);
    expect(status).toBe(504);
    expect(JSON.parse(text)).toMatchObject({ reason: 'Timeout', code: 504 });
  });

  test('no request is sent to a server whose certificate is from another CA', async () => {
    await addVersion('v2', { caBundle: Buffer.from((await authority('other')).certificate).toString('base64') });
    const { status, text } = await send('GET', `/apis/${GROUP}/v2/echoes`);
    expect(status).toBe(503);
    expect(text).toMatch(/certificate signed by unknown authority|service unavailable/);
    expect(other.received).toEqual([]);
  });

  test('a version whose service does not exist is unavailable, and one that no APIService names unknown', async () => {
    await addVersion('v3', { insecureSkipTLSVerify: true }, { name: 'absent' });
    const { status, text } = await send('GET', `/apis/${GROUP}/v3/echoes`);
    expect([status, text]).toEqual([503, 'service unavailable\n']);
    expect((await send('GET', `/apis/${GROUP}/v4/echoes`)).status).toBe(404);
  });

  test('a WebSocket is passed on in both directions, with subprotocol and close code', async () => {
    const address = server.url.replace('https', 'wss') + `${ECHOES}/x/exec`;
    const socket = new WebSocket(address, ['v5.channel.k8s.io', 'v4.channel.k8s.io'], {
      rejectUnauthorized: false,
      headers: { authorization: `Bearer ${server.token}` },
    });
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    expect(socket.protocol).toBe('v5.channel.k8s.io');
    const echo = new Promise(resolve => socket.once('message', resolve));
    socket.send(Buffer.from([0, 1, 2]));
    expect(await echo).toEqual(Buffer.from([0, 1, 2]));
    const closed = new Promise(resolve => socket.once('close', (code, reason) => resolve([code, reason.toString()])));
    socket.send('leave');
    expect(await closed).toEqual([4001, 'asked to']);
  });

  test('requests over plain HTTP are passed on over TLS', async () => {
    const url = new URL(ECHOES, server.httpUrl);
    const answer = await new Promise<IncomingMessage>((resolve, reject) =>
      httpRequest(url, { headers: { authorization: `Bearer ${server.token}` } }, resolve)
        .on('error', reject)
        .end(),
    );
    answer.resume();
    expect(answer.statusCode).toBe(200);
  });
});

test('a client certificate for other servers without its key is refused', async () => {
  const settings = { storage: 'memory', port: 0, proxyClientCertFile: join(folder, 'proxy.crt') } as const;
  await expect(startServer(settings)).rejects.toThrow('--proxy-client-cert-file: needs --proxy-client-key-file too');
  await expect(startServer({ ...settings, proxyClientKeyFile: join(folder, 'absent.key') })).rejects.toThrow(
    /^--proxy-client-key-file: cannot read .*absent\.key: ENOENT/,
  );
});
