import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { createConnection, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunningServer, Settings } from '../../core/index.js';
import { Closers } from '../../core/plugin/closers.js';
import { watchCertificates } from '../../core/server/access/certificates.js';
import { issue, type IssuedCertificate } from '../../core/services/pki/certificate.js';
import { hasUws, LISTENER_NAMES } from '../listener/names.js';
import { eventually } from '../support/eventually.js';
import { startServer } from './library.js';

const DAY_MS = 86_400_000;
const nothing = (): void => undefined;
const log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
const folder = mkdtempSync(join(tmpdir(), 'capstan-renewed-'));
const at = (name: string): string => join(folder, name);
const period = { notBefore: Date.now() - DAY_MS, notAfter: Date.now() + DAY_MS };
const newCa = (commonName: string): Promise<IssuedCertificate> =>
  issue({ subject: { commonName }, use: 'ca', ...period });
const newClient = (commonName: string, ca: IssuedCertificate): Promise<IssuedCertificate> =>
  issue({ subject: { commonName }, use: 'client', ...period }, ca);
const newServing = (commonName: string): Promise<IssuedCertificate> =>
  issue({ subject: { commonName }, use: 'server', sans: ['localhost'], ...period });

const cas: { [name: string]: IssuedCertificate } = {};
const clients: { [name: string]: IssuedCertificate } = {};

beforeAll(async () => {
  for (const name of ['former', 'later', 'proxies', 'laterProxies']) {
    cas[name] = await newCa(name);
    clients[name] = await newClient(`client of ${name}`, cas[name]);
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

function writeServing({ certificate, key }: IssuedCertificate): void {
  writeFileSync(at('serving.crt'), certificate);
  writeFileSync(at('serving.key'), key);
}

/** A server with a serving certificate of the name `first`, and the clients of the CA `former`. */
async function start(settings: Partial<Settings>): Promise<RunningServer> {
  writeServing(await newServing('first'));
  writeFileSync(at('clients.crt'), cas['former']!.certificate);
  return await startServer({
    storage: 'memory',
    port: 0,
    tlsCertFile: at('serving.crt'),
    tlsPrivateKeyFile: at('serving.key'),
    clientCaFile: at('clients.crt'),
    ...settings,
  });
}

/** A condition that is true after more than two checks of the files, of which the second one reads them. */
function untilRead(): () => boolean {
  const until = Date.now() + 2500;
  return () => Date.now() > until;
}

/** The common name of the certificate that a new connection gets. */
const served = (server: RunningServer): Promise<string> =>
  new Promise((resolve, reject) => {
    const { port } = new URL(server.url);
    const socket = connect({ host: '127.0.0.1', port: Number(port), rejectUnauthorized: false });
    socket.once('error', reject);
    socket.once('secureConnect', () => {
      resolve(new X509Certificate(socket.getPeerCertificate().raw).subject);
      socket.destroy();
    });
  });

/** The status of a request with a client's certificate; the code of an error if the handshake fails. */
const statusWith = (server: RunningServer, agent: Agent, headers = {}): Promise<unknown> =>
  new Promise(resolve => {
    const sent = request(`${server.url}/apis`, { agent, headers }, answer => {
      answer.resume().once('end', () => resolve(answer.statusCode));
    });
    sent.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code)).end();
  });

/** A connection on which nothing has been sent. */
async function connected(server: RunningServer): Promise<Socket> {
  const socket = createConnection({ host: '127.0.0.1', port: Number(new URL(server.url).port) });
  await once(socket, 'connect');
  return socket;
}

/** The status of a request on a connection, whose handshake begins with it. */
const statusOn = (server: RunningServer, socket: Socket, name: string): Promise<unknown> => {
  const { certificate: cert, key } = clients[name]!;
  const agent = new Agent();
  agent.createConnection = () => connect({ socket, cert, key, rejectUnauthorized: false });
  return statusWith(server, agent);
};

/** A client with one connection and a certificate. */
const agentOf = (name: string): Agent => {
  const { certificate: cert, key } = clients[name]!;
  return new Agent({ cert, key, keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
};
/** The status of a request on a new connection. */
async function statusOnce(server: RunningServer, name: string, headers = {}): Promise<unknown> {
  const agent = agentOf(name);
  try {
    return await statusWith(server, agent, headers);
  } finally {
    agent.destroy();
  }
}

const MODES = [
  ...LISTENER_NAMES.map(listener => [listener, { listener }] as const),
  ...(hasUws ? ([['uws in several threads', { listener: 'uws', listeningThreads: 2 }]] as const) : []),
];

describe.each(MODES)('with the listener %s', (_, settings) => {
  test('a changed serving certificate is used for new connections, and those that are open remain', async () => {
    const server = await start(settings);
    const agent = agentOf('former');
    try {
      expect(await served(server)).toBe('CN=first');
      expect(await statusWith(server, agent)).toBe(200);
      const [socket] = Object.values(agent.freeSockets).flat();
      for (const name of ['second', 'third']) {
        writeServing(await newServing(name));
        // With several threads, connections are passed on in turn.
        await eventually(
          async () => (await served(server)) === `CN=${name}` && (await served(server)) === `CN=${name}`,
        );
        expect(await statusOnce(server, 'former')).toBe(200);
        expect(await statusWith(server, agent)).toBe(200);
      }
      expect(Object.values(agent.freeSockets).flat()).toEqual([socket]);
    } finally {
      agent.destroy();
      await server.close();
    }
  });

  test('clients of a new CA are accepted, and those of the former one no longer, not on open connections either', async () => {
    const server = await start(settings);
    const agent = agentOf('former');
    try {
      expect(await statusWith(server, agent)).toBe(200);
      expect(await statusOnce(server, 'later')).not.toBe(200);
      writeFileSync(at('clients.crt'), cas['former']!.certificate + cas['later']!.certificate);
      await eventually(async () => (await statusOnce(server, 'later')) === 200);
      expect(await statusWith(server, agent)).toBe(200);
      const accepted = await connected(server);
      writeFileSync(at('clients.crt'), cas['later']!.certificate);
      await eventually(async () => (await statusOnce(server, 'former')) !== 200);
      expect(await statusOnce(server, 'later')).toBe(200);
      expect(await statusWith(server, agent)).toBe(401);
      // The handshake begins now, with the CAs of the time at which the connection was accepted.
      expect(await statusOn(server, accepted, 'former')).toBe(401);
      expect(await statusOn(server, await connected(server), 'later')).toBe(200);
    } finally {
      agent.destroy();
      await server.close();
    }
  });

  test('files that cannot be used change nothing, and the next valid ones are used', async () => {
    const server = await start(settings);
    try {
      const { certificate, key } = await newServing('second');
      writeFileSync(at('serving.key'), 'no key');
      writeFileSync(at('clients.crt'), cas['later']!.certificate);
      const isRead = untilRead();
      await eventually(async () => {
        expect(await served(server)).toBe('CN=first');
        expect(await statusOnce(server, 'former')).toBe(200);
        return isRead();
      });
      writeServing({ certificate, key });
      await eventually(async () => (await served(server)) === 'CN=second');
      await eventually(async () => (await statusOnce(server, 'later')) === 200);
    } finally {
      await server.close();
    }
  });
});

test('a changed CA of authenticating proxies is used by the handshake and by the authenticator', async () => {
  writeFileSync(at('proxies.crt'), cas['proxies']!.certificate);
  const server = await start({
    requestheaderClientCaFile: at('proxies.crt'),
    requestheaderUsernameHeaders: ['X-Remote-User'],
    requestheaderGroupHeaders: ['X-Remote-Group'],
  });
  const headers = { 'x-remote-user': 'ann', 'x-remote-group': 'system:masters' };
  try {
    expect(await statusOnce(server, 'proxies', headers)).toBe(200);
    expect(await statusOnce(server, 'laterProxies', headers)).toBe(401);
    writeFileSync(at('proxies.crt'), cas['laterProxies']!.certificate);
    await eventually(async () => (await statusOnce(server, 'laterProxies', headers)) === 200);
    await eventually(async () => (await statusOnce(server, 'proxies', headers)) === 401);
    expect(await statusOnce(server, 'former')).toBe(200);
  } finally {
    await server.close();
  }
});

test('files that are written again with the same contents are not used again', async () => {
  writeServing(await newServing('first'));
  const settings = { tlsCertFile: at('serving.crt'), tlsPrivateKeyFile: at('serving.key') } as Settings;
  const closers = new Closers();
  let renewals = 0;
  const use = { settings, paths: { directory: folder }, pki: { clientCaFile: at('none') }, log };
  watchCertificates(use, closers)(async () => void renewals++);
  const writeAgain = (): void => writeFileSync(at('serving.crt'), readFileSync(at('serving.crt')));
  try {
    writeAgain();
    await eventually(() => renewals === 1);
    writeAgain();
    await eventually(untilRead());
    expect(renewals).toBe(1);
    writeServing(await newServing('second'));
    await eventually(() => renewals === 2);
  } finally {
    await closers.closeAll(log);
  }
});
