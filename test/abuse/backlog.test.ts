import { existsSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ServerProcess } from '../server/processes.js';

const SOMAXCONN = '/proc/sys/net/core/somaxconn';
/** More than 511, the backlog that Node.js requests from the kernel by default. */
const CONNECTIONS = 900;

let server: ServerProcess;
const sockets: Socket[] = [];
beforeAll(async () => {
  server = await new ServerProcess(['--listener=node']).start();
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await server.dispose();
});

test.runIf(existsSync(SOMAXCONN) && Number(readFileSync(SOMAXCONN, 'utf8')) > CONNECTIONS)(
  'with --listener=node, connections opened while the server is busy are accepted without a retry',
  async () => {
    const { hostname, port } = new URL(server.url);
    // A stopped process never accepts connections that the kernel does not queue.
    process.kill(server.pid!, 'SIGSTOP');
    try {
      const opened = Array.from({ length: CONNECTIONS }, () => {
        const socket = connect({ host: hostname, port: Number(port) });
        sockets.push(socket);
        return new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
      });
      await Promise.all(opened);
    } finally {
      process.kill(server.pid!, 'SIGCONT');
    }
    expect((await server.call('GET', '/api/v1/namespaces/default')).status).toBe(200);
  },
);
