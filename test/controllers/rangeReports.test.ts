import { afterEach, beforeEach, expect, test } from 'vitest';
import { rangeReports } from '../../plugins/kinds/core/service/controllers/rangeReports.js';
import { textOf } from '../support/values.js';
import { FakeServer } from './fakeHost.js';
import { eventsOf } from './recordedEvents.js';
import { startControllers, waitForIdle } from './settle.js';

let server: FakeServer;
beforeEach(() => {
  server = new FakeServer();
});
afterEach(() => server.close());

const service = (name: string, spec: object): unknown =>
  server.create('v1', 'Service', { namespace: 'n', name }, { spec: { type: 'ClusterIP', ...spec } });
const start = (fromObjects: boolean): Promise<void> =>
  startControllers(server, rangeReports, {
    ranges: { networks: ['10.1.0.0/16'], ports: [30000, 30100] },
    fromObjects,
  });

test('Services with addresses and node ports outside of the ranges of the server get Events that report it', async () => {
  service('inside', { clusterIPs: ['10.1.0.9'] });
  service('headless', { clusterIPs: ['None'] });
  service('before', { clusterIPs: ['10.0.0.9', 'fd00::9'] });
  await start(false);
  const ports = [{ port: 1, nodePort: 30200 }, { port: 2, nodePort: 30001 }, { port: 3 }];
  const health = { externalTrafficPolicy: 'Local', healthCheckNodePort: 31000 };
  service('later', { type: 'LoadBalancer', clusterIPs: ['10.1.0.10'], ports, ...health });
  await waitForIdle(server);
  expect(eventsOf(server).map(({ source, ...event }) => [textOf(source!['component']), event])).toEqual([
    [
      'ipallocator-repair-controller',
      {
        about: 'Service n/before',
        reason: 'ClusterIPOutOfRange',
        message: 'Cluster IP [IPv4]:10.0.0.9 is not within the service CIDR 10.1.0.0/16; please recreate service',
      },
    ],
    [
      'ipallocator-repair-controller',
      {
        about: 'Service n/before',
        reason: 'ClusterIPNotValid',
        message:
          'Cluster IP fd00::9(IPv6) is of ip family that is no longer configured on cluster; please recreate service',
      },
    ],
    ...[30200, 31000].map(port => [
      'portallocator-repair-controller',
      {
        about: 'Service n/later',
        reason: 'PortOutOfRange',
        message: `Port ${port} is not within the port range 30000-30100; please recreate service`,
      },
    ]),
  ]);
});

test('addresses are not compared with the configuration if ServiceCIDR objects define the networks', async () => {
  service('before', { type: 'NodePort', clusterIPs: ['10.0.0.9'], ports: [{ port: 1, nodePort: 30200 }] });
  await start(true);
  await waitForIdle(server);
  expect(eventsOf(server).map(({ reason }) => reason)).toEqual(['PortOutOfRange']);
});
