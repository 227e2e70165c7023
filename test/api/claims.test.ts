import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api } from './support.js';
import { MERGE } from '../support/mediaTypes.js';

const AT_ONCE = 40;

describe('addresses and node ports of Services', () => {
  let api: Api;
  let services: string;
  beforeAll(async () => {
    api = await Api.start();
    services = `${await api.namespace('shop')}/services`;
  });
  afterAll(() => api.close());

  const service = (name: string, spec: object) => ({ metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } });
  /** Sends creates concurrently. Returns the names of the created objects and the errors of the others. */
  async function race(spec: object): Promise<{ made: string[]; told: Set<unknown> }> {
    const names = Array.from({ length: AT_ONCE }, (_, i) => `r${i}`);
    const answers = await Promise.all(names.map(name => api.post(services, service(name, spec))));
    const refused = answers.filter(answer => answer.status !== 201);
    return {
      made: names.filter((_, i) => answers[i]!.status === 201),
      told: new Set(
        refused.map(({ status, body }) => `${status} ${String(body['message']).replace(/"r\d+"/, 'NAME')}`),
      ),
    };
  }
  const remove = async (name: string) => expect((await api.call('DELETE', `${services}/${name}`)).status).toBe(200);

  test('one of many concurrent creates with the same address succeeds, and the address is free after its deletion', async () => {
    for (let round = 0; round < 2; round++) {
      const { made, told } = await race({ clusterIP: '10.0.0.77' });
      expect(made).toHaveLength(1);
      expect([...told]).toEqual([
        '422 Service NAME is invalid: spec.clusterIPs: Invalid value: ["10.0.0.77"]: failed to allocate IP 10.0.0.77: provided IP is already allocated',
      ]);
      await remove(made[0]!);
    }
  });

  test('one of many concurrent creates with the same node port succeeds', async () => {
    const spec = { type: 'NodePort', ports: [{ port: 80, nodePort: 31234 }] };
    const { made, told } = await race(spec);
    expect(made).toHaveLength(1);
    expect([...told]).toEqual([
      '422 Service NAME is invalid: spec.ports[0].nodePort: Invalid value: 31234: provided port is already allocated',
    ]);
    const udp = await api.post(
      services,
      service('udp', { ...spec, ports: [{ port: 80, protocol: 'UDP', nodePort: 31234 }] }),
    );
    expect(udp.status).toBe(422);
    await remove(made[0]!);
  });

  test('an update that removes a port or an address releases it; one that keeps them does not', async () => {
    const ports = [{ port: 80, nodePort: 31235 }];
    await api.made(services, service('a', { type: 'NodePort', clusterIP: '10.0.0.78', ports }));
    const createOther = () => api.post(services, service('b', { type: 'NodePort', clusterIP: '10.0.0.78', ports }));
    const patch = (change: object) => api.patch(`${services}/a`, MERGE, change);
    expect((await patch({ metadata: { labels: { a: 'b' } } })).status).toBe(200);
    expect((await createOther()).status).toBe(422);
    const away = { type: 'ExternalName', externalName: 'example.com', clusterIP: null, clusterIPs: null, ports: null };
    expect((await patch({ spec: away })).status).toBe(200);
    expect((await createOther()).status).toBe(201);
    const back = { type: 'NodePort', externalName: null, ports };
    expect((await patch({ spec: back })).body['message']).toContain('provided port is already allocated');
    await remove('b');
    expect((await patch({ spec: back })).status).toBe(200);
    await remove('a');
  });

  test('a Service with more ports than can be claimed can be stored, changed and removed', async () => {
    const ports = Array.from({ length: 100 }, (_, i) => ({ name: `p${i}`, port: i + 1 }));
    const made = await api.made(services, service('many', { type: 'NodePort', ports }));
    const given = (made as unknown as { spec: { ports: { nodePort: number }[] } }).spec.ports.map(
      port => port.nodePort,
    );
    expect(new Set(given).size).toBe(100);
    expect((await api.patch(`${services}/many`, MERGE, { spec: { type: 'ClusterIP' } })).status).toBe(200);
    await remove('many');
  });
});
