import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ServerProcess } from '../command/server.js';
import { LISTENER_NAMES } from '../listener/names.js';

test.each(LISTENER_NAMES)('Node.js prints no warnings about the server, with the listener %s', async listener => {
  const directory = mkdtempSync(join(tmpdir(), 'capstan-warnings-'));
  const options = 'NODE_OPTIONS=--throw-deprecation --pending-deprecation --trace-warnings';
  const server = await ServerProcess.start(join(directory, 'data'), [`--listener=${listener}`], ['env', options]);
  try {
    await server.namespace('a');
    const path = '/api/v1/namespaces/a/serviceaccounts';
    await server.call('POST', path, { metadata: { name: 'b' } });
    await server.call('GET', '/openapi/v2');
    // Creates the key for tokens, and signs the token.
    const { status } = await server.call('POST', `${path}/b/token`, { spec: {} });
    expect(status).toBe(201);
    await server.call('DELETE', '/api/v1/namespaces/a');
    expect(await server.end()).toBe(0);
    expect(server.output).not.toMatch(/Warning|DEP0/);
  } finally {
    await server.end('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  }
});
