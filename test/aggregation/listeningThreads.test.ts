import { expect, test } from 'vitest';
import { startServer } from '../server/library.js';
import { eventually } from '../support/eventually.js';
import { OtherServer } from './otherServer.js';
import { send } from './requests.js';

test('listening threads pass requests on, with the body and the certificate of the server', async () => {
  const other = await OtherServer.start();
  const server = await startServer({
    storage: 'memory',
    naming: 'kubernetes',
    listener: 'uws',
    listeningThreads: 2,
    port: 0,
    webhookResolve: [`default/echo=https://127.0.0.1:${other.port}`],
  });
  try {
    const spec = { group: 'echo.example.com', version: 'v1', groupPriorityMinimum: 10, versionPriority: 10 };
    const apiService = {
      metadata: { name: 'v1.echo.example.com' },
      spec: {
        ...spec,
        service: { namespace: 'default', name: 'echo' },
        caBundle: Buffer.from(other.ca.certificate).toString('base64'),
      },
    };
    await send(server, 'POST', '/apis/apiregistration.k8s.io/v1/apiservices', {}, JSON.stringify(apiService));
    const path = '/apis/echo.example.com/v1/namespaces/default/echoes';
    // Several connections: each thread has some of them.
    for (let i = 0; i < 4; i++) {
      const { text } = await eventually(
        () => send(server, 'POST', path, {}, `{"n":${i}}`),
        ({ status }) => status === 200,
      );
      const { method, body, peer } = JSON.parse(text) as Record<string, string>;
      expect({ method, body, peer }).toEqual({ method: 'POST', body: `{"n":${i}}`, peer: 'front-proxy-client' });
    }
    const { text } = await send(server, 'GET', '/apis/echo.example.com');
    expect(JSON.parse(text)).toMatchObject({ kind: 'APIGroup', preferredVersion: { version: 'v1' } });
  } finally {
    await server.close();
    other.close();
  }
});
