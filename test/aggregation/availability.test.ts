import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunningServer } from '../../core/index.js';
import { startServer } from '../server/library.js';
import { eventually } from '../support/eventually.js';
import { OtherServer } from './otherServer.js';
import { send } from './requests.js';

const API_SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices';
const HTTPS = { port: 443, name: 'https' };

interface Condition {
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

describe('the condition of an APIService', () => {
  let server: RunningServer;
  let other: OtherServer;
  beforeAll(async () => {
    [server, other] = await Promise.all([
      startServer({ storage: 'memory', naming: 'kubernetes', port: 0 }),
      OtherServer.start(),
    ]);
  });
  afterAll(async () => {
    other?.close();
    await server?.close();
  });

  const post = async (path: string, body: object): Promise<void> => {
    const { status, text } = await send(server, 'POST', path, {}, JSON.stringify(body));
    expect(status, text).toBe(201);
  };
  const addService = (name: string, spec: object): Promise<void> =>
    post('/api/v1/namespaces/default/services', { metadata: { name }, spec });

  /** Makes an APIService and resolves with its condition. */
  async function conditionOf(name: string, service?: { name: string; port: number }): Promise<Condition> {
    const group = `${name}.example.com`;
    await post(API_SERVICES, {
      metadata: { name: `v1.${group}` },
      spec: {
        group,
        version: 'v1',
        groupPriorityMinimum: 10,
        versionPriority: 10,
        ...(service ? { service: { namespace: 'default', ...service }, insecureSkipTLSVerify: true } : {}),
      },
    });
    return await eventually(async () => {
      const { text } = await send(server, 'GET', `${API_SERVICES}/v1.${group}`);
      return (JSON.parse(text) as { status?: { conditions?: Condition[] } }).status?.conditions?.[0];
    });
  }

  test('without a service says that this server serves it', async () => {
    expect(await conditionOf('local')).toMatchObject({ status: 'True', reason: 'Local' });
  });

  test('says that its service does not exist', async () => {
    expect(await conditionOf('missing', { name: 'missing', port: 443 })).toMatchObject({
      status: 'False',
      reason: 'ServiceNotFound',
      message: 'service/missing in "default" is not present',
    });
  });

  test('says that its service has no such port', async () => {
    await addService('noport', { ports: [{ port: 80 }] });
    expect(await conditionOf('noport', { name: 'noport', port: 443 })).toMatchObject({
      status: 'False',
      reason: 'ServicePortError',
      message: 'service/noport in "default" is not listening on port 443',
    });
  });

  test('says that its service has no endpoints', async () => {
    await addService('noendpoints', { ports: [HTTPS] });
    expect(await conditionOf('noendpoints', { name: 'noendpoints', port: 443 })).toMatchObject({
      status: 'False',
      reason: 'EndpointsNotFound',
      message: 'cannot find endpoints for service/noendpoints in "default"',
    });
  });

  test('says that no endpoint of its service is ready', async () => {
    await addService('notready', { ports: [HTTPS] });
    await post('/api/v1/namespaces/default/endpoints', {
      metadata: { name: 'notready' },
      subsets: [{ notReadyAddresses: [{ ip: '10.1.2.3' }], ports: [HTTPS] }],
    });
    expect(await conditionOf('notready', { name: 'notready', port: 443 })).toMatchObject({
      status: 'False',
      reason: 'MissingEndpoints',
      message: 'endpoints for service/notready in "default" have no addresses with port name "https"',
    });
  });

  test('says that a server answers with a status that means failure', async () => {
    await addService('outside', { type: 'ExternalName', externalName: 'localhost' });
    other.checks = 500;
    const url = `https://localhost:${other.port}/apis/failing.example.com/v1`;
    expect(await conditionOf('failing', { name: 'outside', port: other.port })).toMatchObject({
      status: 'False',
      reason: 'FailedDiscoveryCheck',
      message: `failing or missing response from ${url}: bad status from ${url}: 500`,
    });
    other.checks = 200;
    await eventually(async () =>
      (await send(server, 'GET', `${API_SERVICES}/v1.failing.example.com`)).text.includes('Passed'),
    );
  });

  test('changes with the objects of its service', async () => {
    await post('/api/v1/namespaces/default/services', {
      metadata: { name: 'missing' },
      spec: { type: 'ExternalName', externalName: 'localhost' },
    });
    await eventually(async () =>
      (await send(server, 'GET', `${API_SERVICES}/v1.missing.example.com`)).text.includes('FailedDiscoveryCheck'),
    );
  });
});
