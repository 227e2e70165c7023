import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, Api } from '../api/support.js';
import { MERGE } from '../support/mediaTypes.js';

/** The single errors in the message of a refusal, sorted, since upstream does not define their order. */
const errorsOf = ({ status, body }: Answer): [number, string[]] => {
  const why = String(body.message)
    .replace(/^.* is forbidden: \[?/, '')
    .replace(/\]$/, '');
  return [status, why.split(/, (?=minimum |maximum |\w+ max )/).sort()];
};

describe('limit ranges', () => {
  let api: Api;
  let core: string;
  beforeAll(async () => {
    api = await Api.shared();
    core = await api.namespace('limited');
    const limits = [
      {
        type: 'Container',
        default: { cpu: '1', memory: '200Mi' },
        defaultRequest: { cpu: '250m' },
        min: { cpu: '100m' },
        max: { cpu: '2', memory: '1Gi' },
        maxLimitRequestRatio: { cpu: '4' },
      },
      { type: 'Pod', max: { cpu: '3' } },
      { type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '10Gi' } },
    ];
    await api.made(`${core}/limitranges`, { metadata: { name: 'a' }, spec: { limits } });
  });
  afterAll(() => api.close());

  const post = (spec: object) => api.post(`${core}/pods?dryRun=All`, { metadata: { name: 'p' }, spec });
  const container = (name: string, resources: object = {}) => ({ name, image: 'i', resources });

  it('set the amounts that new containers do not specify, and name these in an annotation', async () => {
    const { body } = await post({
      initContainers: [container('first', { limits: { cpu: '500m' } })],
      containers: [container('second', { requests: { memory: '64Mi' } })],
    });
    const spec = body.spec as unknown as {
      initContainers: { resources: object }[];
      containers: { resources: object }[];
    };
    expect(spec.containers[0]!.resources).toEqual({
      limits: { cpu: '1', memory: '200Mi' },
      requests: { cpu: '250m', memory: '64Mi' },
    });
    expect(spec.initContainers[0]!.resources).toEqual({
      limits: { cpu: '500m', memory: '200Mi' },
      requests: { cpu: '500m', memory: '200Mi' },
    });
    expect(body.metadata?.annotations).toEqual({
      'kubernetes.io/limit-ranger':
        'LimitRanger plugin set: cpu request for container second; cpu, memory limit for container second; ' +
        'memory request for init container first; memory limit for init container first',
    });
  });

  it('refuse containers and pods outside of their bounds, with every reason', async () => {
    const small = container('c', { requests: { cpu: '50m' }, limits: { cpu: '3' } });
    expect(errorsOf(await post({ containers: [small] }))).toEqual([
      403,
      [
        'cpu max limit to request ratio per Container is 4, but provided ratio is 60.000000',
        'maximum cpu usage per Container is 2, but limit is 3',
        'minimum cpu usage per Container is 100m, but request is 50m',
      ],
    ]);
    const large = { limits: { cpu: '2' } };
    expect(errorsOf(await post({ containers: [container('c', large), container('d', large)] }))).toEqual([
      403,
      ['maximum cpu usage per Pod is 3, but limit is 4'],
    ]);
  });

  it('count init containers where they need more than all others, together with sidecars', async () => {
    const sidecar = { ...container('s', { limits: { cpu: '1500m' } }), restartPolicy: 'Always' };
    const first = container('i', { limits: { cpu: '1500m' } });
    const main = container('c', { limits: { cpu: '1' } });
    expect((await post({ initContainers: [first], containers: [main] })).status).toBe(201);
    expect((await post({ initContainers: [sidecar, first], containers: [main] })).status).toBe(201);
    const larger = container('i', { limits: { cpu: '1600m' } });
    expect(errorsOf(await post({ initContainers: [sidecar, larger], containers: [main] }))).toEqual([
      403,
      ['maximum cpu usage per Pod is 3, but limit is 3100m'],
    ]);
  });

  it('bound the size of claims', async () => {
    const claim = async (storage: string) =>
      errorsOf(
        await api.post(`${core}/persistentvolumeclaims?dryRun=All`, {
          metadata: { name: 'c' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
        }),
      );
    expect(await claim('100Mi')).toEqual([
      403,
      ['minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 100Mi'],
    ]);
    expect(await claim('20Gi')).toEqual([
      403,
      ['maximum storage usage per PersistentVolumeClaim is 10Gi, but request is 20Gi'],
    ]);
    expect((await claim('5Gi'))[0]).toBe(201);
  });
});

describe('the size of a claim', () => {
  let api: Api;
  let claims: string;
  beforeAll(async () => {
    api = await Api.start();
    claims = `${await api.namespace('sizes')}/persistentvolumeclaims`;
    for (const [name, allowVolumeExpansion] of [
      ['growing', true],
      ['fixed', false],
    ] as const)
      await api.made('/apis/storage.k8s.io/v1/storageclasses', {
        metadata: { name },
        provisioner: 'p',
        allowVolumeExpansion,
      });
  });
  afterAll(() => api.close());

  it.each([
    ['growing', 200],
    ['fixed', 403],
    ['absent', 403],
    ['', 403],
  ])('of the storage class %j can grow: %i', async (storageClassName, status) => {
    const name = `c-${storageClassName || 'none'}`;
    await api.made(claims, {
      metadata: { name },
      spec: {
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '1Gi' } },
        storageClassName,
        volumeName: 'v',
      },
    });
    const bound = { status: { phase: 'Bound', capacity: { storage: '1Gi' } } };
    expect((await api.patch(`${claims}/${name}/status`, MERGE, bound)).status).toBe(200);
    const grown = { spec: { resources: { requests: { storage: '2Gi' } } } };
    expect((await api.patch(`${claims}/${name}`, MERGE, grown)).status).toBe(status);
    expect((await api.patch(`${claims}/${name}`, MERGE, { metadata: { labels: { a: 'b' } } })).status).toBe(200);
  });
});
