import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api, type Answer, causesIn } from './support.js';
import { MERGE } from '../support/mediaTypes.js';

const TAKEN = 'provided port is already allocated';
const OUTSIDE = 'provided port is not in the valid range. The range of valid ports is 30000-30029';

/** The messages of the causes, or the message of a refusal without causes. */
const whyOf = ({ body }: Answer): string[] => causesIn(body).map(({ field = '', message }) => `${field}: ${message}`);

interface Spec {
  readonly clusterIPs: string[];
  readonly ipFamilies: string[];
  readonly ipFamilyPolicy: string;
  readonly healthCheckNodePort?: number;
  readonly ports: { readonly nodePort?: number }[];
}

const specOf = ({ body }: Answer): Spec => body['spec'] as unknown as Spec;

describe('a server with networks of both families and 30 node ports', () => {
  let api: Api;
  let services: string;
  beforeAll(async () => {
    const networks = ['10.1.0.0/29', 'fd00:1::/112'];
    api = await Api.start({ serviceClusterIpRange: networks, serviceNodePortRange: [30000, 30029] });
    services = `${await api.namespace('ranges')}/services`;
  });
  afterAll(() => api.close());

  const post = (name: string, spec: object, query = ''): Promise<Answer> => {
    const service = { metadata: { name }, spec: { ports: [{ port: 80 }], selector: { a: 'b' }, ...spec } };
    return api.post(`${services}${query}`, service);
  };
  const patch = (name: string, spec: object): Promise<Answer> => api.patch(`${services}/${name}`, MERGE, { spec });
  const remove = (name: string): Promise<Answer> => api.call('DELETE', `${services}/${name}`);
  /** The answer to a create whose object is removed again. */
  const tryCreate = async (spec: object): Promise<Answer> => {
    const answer = await post('tried', spec);
    if (answer.status === 201) await remove('tried');
    return answer;
  };

  test('its own Service has the first address of the first network', async () => {
    const own = await api.get('/api/v1/namespaces/default/services/kubernetes');
    expect(specOf(own)).toMatchObject({ clusterIPs: ['10.1.0.1'], ipFamilies: ['IPv4'] });
  });

  test.each<[object, string[], string]>([
    [{}, ['IPv4'], 'SingleStack'],
    [{ ipFamilies: ['IPv6'] }, ['IPv6'], 'SingleStack'],
    [{ clusterIP: 'fd00:1::9' }, ['IPv6'], 'SingleStack'],
    [{ ipFamilyPolicy: 'PreferDualStack' }, ['IPv4', 'IPv6'], 'PreferDualStack'],
    [{ ipFamilyPolicy: 'RequireDualStack', clusterIP: 'fd00:1::9' }, ['IPv6', 'IPv4'], 'RequireDualStack'],
    [{ clusterIP: 'None', ipFamilyPolicy: 'PreferDualStack' }, ['IPv4', 'IPv6'], 'PreferDualStack'],
    [{ clusterIP: 'None', selector: null, ipFamilies: ['IPv6'] }, ['IPv6', 'IPv4'], 'RequireDualStack'],
  ])('a Service with %j has the families %j', async (spec, families, policy) => {
    const made = specOf(await tryCreate(spec));
    expect(made).toMatchObject({ ipFamilies: families, ipFamilyPolicy: policy });
    const found = made.clusterIPs.map(address => (address.includes(':') ? 'IPv6' : 'IPv4'));
    expect(made.clusterIPs[0] === 'None' ? families : found).toEqual(families);
  });

  test.each<[object, string[]]>([
    [
      { ipFamilies: ['IPv4', 'IPv6'], clusterIP: '10.1.0.2', clusterIPs: ['10.1.0.2', 'fd00:1::2'] },
      ['cluster IPs', 'IP families'].map(
        what =>
          `spec.ipFamilyPolicy: Invalid value: "SingleStack": must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`,
      ),
    ],
    [
      { type: 'Other', ipFamilies: ['x'], clusterIP: 'z' },
      [
        'spec.ipFamilies[0]: Unsupported value: "x": supported values: "IPv4", "IPv6"',
        'spec.clusterIPs[0]: Invalid value: "z": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      ],
    ],
    [
      { clusterIP: 'fd00:1::' },
      [
        'spec.clusterIPs: Invalid value: ["fd00:1::"]: failed to allocate IP fd00:1::: the provided IP (fd00:1::) is not in the valid range. The range of valid IPs is fd00:1::/112',
      ],
    ],
    [
      { clusterIP: '010.1.0.01' },
      [
        'spec.clusterIPs: Invalid value: ["010.1.0.01"]: failed to allocate IP 010.1.0.01: provided IP is already allocated',
      ],
    ],
  ])('%j is refused: %j', async (spec, why) => {
    expect(whyOf(await post('refused', spec))).toEqual(why);
  });

  test('the second family is allocated and released only with the policy', async () => {
    const first = specOf(await post('dual', {})).clusterIPs;
    const both = specOf(await patch('dual', { ipFamilyPolicy: 'RequireDualStack' }));
    expect(both).toMatchObject({ ipFamilies: ['IPv4', 'IPv6'] });
    expect(both.clusterIPs).toEqual([...first, expect.stringMatching(/^fd00:1::/)]);
    const kept = await patch('dual', { clusterIP: null, clusterIPs: null, ipFamilies: null, ipFamilyPolicy: null });
    expect(specOf(kept)).toMatchObject({ clusterIPs: both.clusterIPs, ipFamilyPolicy: 'RequireDualStack' });
    expect(whyOf(await patch('dual', { clusterIPs: first, ipFamilies: ['IPv4'] }))).toEqual(
      ['cluster IP', 'IP family'].map(
        what =>
          `spec.ipFamilyPolicy: Invalid value: "RequireDualStack": must be 'SingleStack' to release the secondary ${what}`,
      ),
    );
    expect(specOf(await patch('dual', { ipFamilyPolicy: 'SingleStack' }))).toMatchObject({
      clusterIPs: first,
      ipFamilies: ['IPv4'],
    });
    expect((await tryCreate({ clusterIP: both.clusterIPs[1] })).status).toBe(201);
    await remove('dual');
  });

  test('a node port belongs to one Service for all protocols', async () => {
    await post('owner', { type: 'NodePort', ports: [{ port: 80, nodePort: 30001 }] });
    const node = (...ports: object[]): Promise<Answer> =>
      tryCreate({ type: 'NodePort', ports: ports.map((port, i) => ({ name: `p${i}`, port: 80, ...port })) });
    const udp = { protocol: 'UDP' };
    expect(whyOf(await node({ ...udp, nodePort: 30001 }))).toEqual([
      `spec.ports[0].nodePort: Invalid value: 30001: ${TAKEN}`,
    ]);
    expect(whyOf(await node({ nodePort: 30001 }, { port: 81, nodePort: 29999 }))).toEqual([
      `spec.ports[0].nodePort: Invalid value: 30001: ${TAKEN}`,
    ]);
    expect(whyOf(await node({ nodePort: 29999 }, { port: 81, nodePort: 30001 }))).toEqual([
      `spec.ports[0].nodePort: Invalid value: 29999: ${OUTSIDE}`,
    ]);
    expect(whyOf(await node({ nodePort: 30002 }, { ...udp, port: 81, nodePort: 30002 }))).toEqual([
      `spec.ports[1].nodePort: Invalid value: 30002: ${TAKEN}`,
    ]);
    expect(specOf(await node({}, { ...udp, nodePort: 30003 })).ports).toMatchObject([
      { nodePort: 30003 },
      { nodePort: 30003 },
    ]);
    await remove('owner');
    expect((await node({ nodePort: 30001 })).status).toBe(201);
  });

  test('ports keep their node port by name, and a change of the type releases it', async () => {
    await post('kept', { type: 'NodePort', ports: [{ name: 'a', port: 80, nodePort: 30001 }] });
    const renumbered = await patch('kept', { ports: [{ name: 'a', port: 81 }] });
    expect(specOf(renumbered).ports).toMatchObject([{ nodePort: 30001 }]);
    const twice = { ports: ['b', 'c'].map((name, i) => ({ name, port: 81 + i, nodePort: 30002 })) };
    expect(await patch('kept', twice)).toMatchObject({
      status: 500,
      body: { message: 'duplicate nodePort: {TCP 30002}' },
    });
    const clustered = await patch('kept', { type: 'ClusterIP' });
    expect(specOf(clustered).ports[0]).not.toHaveProperty('nodePort');
    expect((await tryCreate({ type: 'NodePort', ports: [{ port: 80, nodePort: 30001 }] })).status).toBe(201);
    await remove('kept');
  });

  test('a Service of type ExternalName may store node ports, but does not reserve them', async () => {
    const named = { type: 'ExternalName', externalName: 'example.com', ports: [{ port: 80, nodePort: 30004 }] };
    expect((await post('named', named)).status).toBe(201);
    expect((await tryCreate({ type: 'NodePort', ports: named.ports })).status).toBe(201);
    await post('holder', { type: 'NodePort', ports: named.ports });
    expect((await patch('named', { externalName: 'example.org' })).status).toBe(200);
    await Promise.all([remove('named'), remove('holder')]);
  });

  test('the port for health checks is allocated with the node ports', async () => {
    const local = { type: 'LoadBalancer', externalTrafficPolicy: 'Local' };
    const refused = (port: number, why: string) => ({
      status: 500,
      body: {
        message: `Internal error occurred: failed to allocate requested HealthCheck NodePort ${port}: ${why}`,
        details: { causes: [{ message: `failed to allocate requested HealthCheck NodePort ${port}: ${why}` }] },
      },
    });
    const both = { healthCheckNodePort: 30005, ports: [{ port: 80, nodePort: 30005 }] };
    expect(await tryCreate({ ...local, ...both })).toMatchObject(refused(30005, TAKEN));
    expect(await tryCreate({ ...local, healthCheckNodePort: 80 })).toMatchObject(refused(80, OUTSIDE));
    const given = specOf(await post('health', local)).healthCheckNodePort ?? 0;
    expect(given).toBeGreaterThanOrEqual(30000);
    expect(whyOf(await patch('health', { healthCheckNodePort: 30006 }))).toEqual([
      'spec.healthCheckNodePort: Forbidden: field is immutable',
    ]);
    await patch('health', { externalTrafficPolicy: 'Cluster' });
    expect((await tryCreate({ type: 'NodePort', ports: [{ port: 80, nodePort: given }] })).status).toBe(201);
    await remove('health');
  });

  test('a dry run checks a chosen node port against other Services only, and allocates nothing', async () => {
    const ports = [{ port: 80, nodePort: 80 }];
    expect((await post('dry', { type: 'NodePort', ports }, '?dryRun=All')).status).toBe(201);
    await post('held', { type: 'NodePort', ports: [{ port: 80, nodePort: 30007 }] });
    const held = await post('dry', { type: 'NodePort', ports: [{ port: 80, nodePort: 30007 }] }, '?dryRun=All');
    expect(whyOf(held)).toEqual([`spec.ports[0].nodePort: Invalid value: 30007: ${TAKEN}`]);
    await remove('held');
    expect((await tryCreate({ type: 'NodePort', ports: [{ port: 80, nodePort: 30007 }] })).status).toBe(201);
  });

  test('a full range is answered with 500, and a deleted Service returns its values to the range', async () => {
    const names = ['f2', 'f3', 'f4', 'f5', 'f6'];
    for (const name of names) expect((await post(name, {})).status).toBe(201);
    expect(await post('f7', {})).toMatchObject({
      status: 500,
      body: { message: 'Internal error occurred: failed to allocate a serviceIP: range is full' },
    });
    await remove('f4');
    expect((await post('f7', {})).status).toBe(201);
    const many = Array.from({ length: 31 }, (_, i) => ({ name: `p${i}`, port: i + 1 }));
    await remove('f7');
    expect(await post('many', { type: 'NodePort', ports: many })).toMatchObject({
      status: 500,
      body: { message: 'Internal error occurred: failed to allocate a nodePort: range is full' },
    });
    expect((await tryCreate({ type: 'NodePort', ports: many.slice(1) })).status).toBe(201);
  });
});
