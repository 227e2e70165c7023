import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startServer } from './library.js';
import { LISTENER_NAMES } from '../listener/names.js';

describe.each(LISTENER_NAMES)('requests in one segment, with the listener %s', listener => {
  const directory = mkdtempSync(join(tmpdir(), 'capstan-pipelining-'));
  let server: Awaited<ReturnType<typeof startServer>>;
  beforeAll(async () => {
    server = await startServer({ dataDir: directory, port: 0, storage: 'memory', listener });
  });
  afterAll(async () => {
    await server.close();
    rmSync(directory, { recursive: true });
  });

  /** Sends five requests in one write on a new connection. Returns the status of each answer. */
  async function statuses(path: string): Promise<string[]> {
    const socket = connect({ port: Number(new URL(server.url).port), host: '127.0.0.1', rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    let received = '';
    socket.on('data', bytes => (received += bytes));
    const request = (last: boolean) =>
      `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${last ? 'Connection: close\r\n' : ''}\r\n`;
    socket.write(request(false).repeat(4) + request(true));
    await once(socket, 'close');
    return [...received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status!);
  }

  test.each(['/livez', '/readyz', '/healthz?verbose'])(
    'five health checks at %s without credentials are all answered, also as the first requests of a server',
    async path => {
      expect(await statuses(path)).toEqual(['200', '200', '200', '200', '200']);
    },
  );
});
