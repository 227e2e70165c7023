import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { issue } from '../../core/services/pki/certificate.js';
import { keyPairProblem } from '../../plugins/kinds/core/secret/keyPair.js';
import { type Answer, Api, deployment, pod } from '../api/support.js';
import { MERGE } from '../support/mediaTypes.js';

const warning = ({ headers }: Answer) => headers['warning'];

describe('warnings', () => {
  let api: Api;
  let core: string;
  beforeAll(async () => {
    api = await Api.shared();
    core = await api.namespace('warned');
  });
  afterAll(() => api.close());

  const hostname = (what: string, why: string) =>
    `299 - "metadata.name: this is used in ${what}, which can result in surprising behavior; a DNS label is recommended: [${why}]"`;

  test.each([
    [{ clusterIP: '010.0.0.9' }, 'spec.clusterIPs[0]: IP address', 'IPv4 field has octet with leading zero'],
    [{ externalIPs: ['FD00::1'] }, 'spec.externalIPs[0]: IPv6 address', 'format (\\"fd00::1\\")'],
    [{ externalIPs: ['::ffff:0102:0304'] }, 'spec.externalIPs[0]: IPv6 address', 'format (\\"::ffff:1.2.3.4\\")'],
    [{ loadBalancerIP: '1.2.3' }, 'spec.loadBalancerIP: IP address', 'IPv4 address too short'],
    [
      { loadBalancerSourceRanges: ['1.2.3.4/08'] },
      'spec.loadBalancerSourceRanges[0]: IP prefix',
      'bad bits after slash',
    ],
    [{ loadBalancerSourceRanges: ['FD00::/8'] }, 'spec.loadBalancerSourceRanges[0]: IPv6 prefix', '(\\"fd00::/8\\")'],
  ])('about addresses of a service that are not canonical: %j', async (spec, field, why) => {
    const ports = [{ port: 80 }];
    const service = { metadata: { name: 'addresses' }, spec: { type: 'LoadBalancer', ports, ...spec } };
    const answer = await api.post(`${core}/services?dryRun=All`, service);
    expect(answer.status).toBe(201);
    expect(warning(answer)).toContain(field);
    expect(warning(answer)).toContain(why);
  });

  test('about a new name that is not a valid host name', async () => {
    const pods = `${core}/pods?dryRun=All`;
    const deployments = '/apis/apps/v1/namespaces/warned/deployments';
    expect(warning(await api.post(pods, pod('a')))).toBeUndefined();
    expect(warning(await api.post(pods, pod('a.b')))).toBe(hostname("the Pod's hostname", 'must not contain dots'));
    const long = `${'a'.repeat(64)}.b`;
    const both = 'must be no more than 63 characters must not contain dots';
    expect(warning(await api.post(`${deployments}?dryRun=All`, deployment(long)))).toBe(
      hostname('Pod names and hostnames', both),
    );
    await api.made(deployments, deployment('a.b'));
    const changed = await api.patch(`${deployments}/a.b`, MERGE, { spec: { replicas: 2 } });
    expect([changed.status, warning(changed)]).toEqual([200, undefined]);
  });

  test('about host names as endpoints of a new slice', async () => {
    const slices = '/apis/discovery.k8s.io/v1/namespaces/warned/endpointslices';
    const slice = { addressType: 'FQDN', endpoints: [{ addresses: ['a.example.com'] }], ports: [{ port: 80 }] };
    const made = await api.post(slices, { metadata: { name: 'names' }, ...slice });
    expect([made.status, warning(made)]).toEqual([201, '299 - "spec.addressType: FQDN endpoints are deprecated"']);
    const changed = await api.patch(`${slices}/names`, MERGE, { metadata: { labels: { a: 'b' } } });
    expect([changed.status, warning(changed)]).toEqual([200, undefined]);
  });

  describe('about seccomp annotations', () => {
    const OF_POD = 'seccomp.security.alpha.kubernetes.io/pod';
    const OF_CONTAINER = 'container.seccomp.security.alpha.kubernetes.io/c';
    const text = (field: string, annotation: string): string =>
      `299 - "${field}.annotations[${annotation}]: non-functional in v1.27+; use the \\"seccompProfile\\" field instead"`;
    const profiled = (annotations: object, securityContext = {}, ofContainer = {}): object => ({
      metadata: { name: 'profiled', annotations, labels: { app: 'a' } },
      spec: { securityContext, containers: [{ name: 'c', image: 'i', securityContext: ofContainer }] },
    });
    const post = (object: object): Promise<Answer> => api.post(`${core}/pods?dryRun=All`, object);
    const typed = (type: string, localhostProfile?: string) => ({ seccompProfile: { type, localhostProfile } });

    test('without the field that replaced them, in pods and templates', async () => {
      expect(warning(await post(profiled({ [OF_POD]: 'runtime/default' })))).toBe(text('metadata', OF_POD));
      expect(warning(await post(profiled({ [OF_CONTAINER]: 'unconfined' })))).toBe(text('metadata', OF_CONTAINER));
      expect(warning(await post(profiled({ [OF_POD]: 'runtime/default' }, typed('RuntimeDefault'))))).toBeUndefined();
      const spec = { selector: { matchLabels: { app: 'a' } }, template: profiled({ [OF_POD]: 'localhost/a' }) };
      const deployments = '/apis/apps/v1/namespaces/warned/deployments?dryRun=All';
      const made = await api.post(deployments, { metadata: { name: 'profiled' }, spec });
      expect(warning(made)).toBe(text('spec.template.metadata', OF_POD));
    });

    const DIFFERS = 'Forbidden: seccomp type in annotation and field must match';
    test.each<[object, string]>([
      [
        profiled({ [OF_POD]: 'x' }),
        `metadata.annotations.${OF_POD}: Invalid value: "x": must be a valid seccomp profile`,
      ],
      [
        profiled({ [OF_POD]: 'unconfined' }, typed('RuntimeDefault')),
        `spec.securityContext.seccompProfile.type: ${DIFFERS}`,
      ],
      [
        profiled({ [OF_POD]: 'localhost/a' }, typed('Localhost', 'b')),
        'spec.securityContext.seccompProfile.localhostProfile: Forbidden: seccomp profile in annotation and field must match',
      ],
      [
        profiled({ [OF_CONTAINER]: 'unconfined' }, {}, typed('RuntimeDefault')),
        `spec.containers[0].securityContext.seccompProfile.type: ${DIFFERS}`,
      ],
    ])('%j is refused: %s', async (object, why) => {
      expect(await post(object)).toMatchObject({ status: 422, body: { message: `Pod "profiled" is invalid: ${why}` } });
    });
  });

  test('about the template that an update of a ReplicationController replaces', async () => {
    const hostAliases = [{ ip: '10.0.0.1' }, { ip: '10.0.0.1' }];
    const controller = (spec: object) => ({
      metadata: { name: 'rc' },
      spec: {
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }], ...spec } },
      },
    });
    const text = 'spec.template.spec.hostAliases[1].ip: duplicate ip';
    expect(warning(await api.post(`${core}/replicationcontrollers`, controller({ hostAliases })))).toContain(text);
    expect(warning(await api.put(`${core}/replicationcontrollers/rc`, controller({})))).toContain(text);
    expect(warning(await api.put(`${core}/replicationcontrollers/rc`, controller({ hostAliases })))).toBeUndefined();
  });

  test('about a new pod, but not about an updated pod', async () => {
    const env = ['1', '2'].map(value => ({ name: 'e', value }));
    const repeated = { metadata: { name: 'repeated' }, spec: { containers: [{ name: 'c', image: 'i', env }] } };
    expect(warning(await api.post(`${core}/pods`, repeated))).toContain('spec.containers[0].env[1]');
    const changed = await api.patch(`${core}/pods/repeated`, MERGE, { metadata: { labels: { a: 'b' } } });
    expect([changed.status, warning(changed)]).toEqual([200, undefined]);
  });

  test('only about valid objects', async () => {
    const refused = await api.post(`${core}/pods`, { ...pod('a.b'), metadata: { name: 'a.b', labels: { 'a b': '' } } });
    expect([refused.status, warning(refused)]).toEqual([422, undefined]);
  });

  test('about a Secret whose certificate and key do not match, in every write', async () => {
    const secrets = `${core}/secrets`;
    const text = '299 - "tls: failed to find any PEM data in certificate input"';
    const data = { 'tls.crt': 'aGk=', 'tls.key': 'aGk=' };
    expect(warning(await api.post(secrets, { metadata: { name: 'x' }, type: 'kubernetes.io/tls', data }))).toBe(text);
    expect(warning(await api.patch(`${secrets}/x`, MERGE, { data: { a: '' } }))).toBe(text);
  });

  test('when the Secrets of a ServiceAccount are newly restricted', async () => {
    const accounts = `${core}/serviceaccounts`;
    const annotations = { 'kubernetes.io/enforce-mountable-secrets': 'true' };
    const made = await api.post(accounts, { metadata: { name: 'x', annotations } });
    expect(warning(made)).toContain(
      'deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets',
    );
    const labelled = await api.patch(`${accounts}/x`, MERGE, {
      metadata: { labels: { a: '1' } },
    });
    expect([labelled.status, warning(labelled)]).toEqual([200, undefined]);
  });
});

describe('a certificate and a key', () => {
  const request = { subject: { commonName: 'x' }, notBefore: 0, notAfter: 4e12, use: 'server' } as const;
  const block = (label: string) => `-----BEGIN ${label}-----\nAAAA\n-----END ${label}-----\n`;

  test('that match are accepted', async () => {
    const { certificate, key } = await issue(request);
    expect(keyPairProblem(certificate, key)).toBeUndefined();
    expect(keyPairProblem(certificate, (await issue(request)).key)).toBe('tls: private key does not match public key');
    const rsa = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey.export({
      type: 'pkcs8',
      format: 'pem',
    }) as string;
    expect(keyPairProblem(certificate, rsa)).toBe('tls: private key type does not match public key type');
    expect(keyPairProblem(certificate, certificate)).toBe(
      'tls: found a certificate rather than a key in the PEM for the private key',
    );
    expect(keyPairProblem(key, key)).toContain('PEM inputs may have been switched');
    expect(keyPairProblem(certificate, block('PRIVATE KEY'))).toBe('tls: failed to parse private key');
  });

  test.each([
    ['', '', 'tls: failed to find any PEM data in certificate input'],
    [
      block('A') + block('B'),
      '',
      'tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: [A B]',
    ],
    [block('CERTIFICATE'), 'x', 'tls: failed to find any PEM data in key input'],
    [
      block('CERTIFICATE'),
      block('A'),
      'tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: [A]',
    ],
    [block('CERTIFICATE'), block('EC PRIVATE KEY'), 'x509: malformed certificate'],
  ])('%j and %j do not match', (certificate, key, problem) => {
    expect(keyPairProblem(certificate, key)).toBe(problem);
  });
});
