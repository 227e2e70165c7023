import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiObject } from '../../core/model/object.js';
import { type Answer, Api } from '../api/support.js';
import { contextWith, create, lines, object, update } from './helpers.js';
import { MERGE, STRATEGIC } from '../support/mediaTypes.js';

const fieldsOf = (found: readonly { readonly field: string }[] = []): string[] => found.map(({ field }) => field);
/** The fields of the causes of a refusal. */
const causesOf = ({ body }: Answer): string[] =>
  fieldsOf((body.details as { causes?: { field: string }[] } | undefined)?.causes);

describe('the node affinity of a gated pod', () => {
  const PATH = 'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms';
  const requirement = (key: string) => ({ key, operator: 'Exists' });
  const affinity = (...terms: object[]) => ({
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } },
  });
  const gated = (given?: object) =>
    create('core/pods', {
      ...object('Pod', {}),
      spec: {
        containers: [{ name: 'c', image: 'i' }],
        schedulingGates: [{ name: 'g' }],
        ...(given ? { affinity: given } : {}),
      },
    }).made;
  const changed = (before: object | undefined, now: object): string[] =>
    fieldsOf(
      update('core/pods', gated(before), draft => {
        (draft.spec as { affinity?: object }).affinity = now;
      }).violations,
    );
  const a = { matchExpressions: [requirement('a')] };
  const ab = { matchExpressions: [requirement('a'), requirement('b')] };

  it('can be set, and terms can get further requirements', () => {
    expect(changed(undefined, affinity(a))).toEqual([]);
    expect(changed(affinity(a), affinity(ab))).toEqual([]);
    expect(
      changed(affinity(a), affinity({ ...a, matchFields: [{ key: 'metadata.name', operator: 'In', values: ['x'] }] })),
    ).toEqual([]);
  });
  it('keeps its terms and their requirements', () => {
    expect(changed(affinity(ab), affinity(a))).toEqual([`${PATH}[0]`]);
    expect(changed(affinity(a, a), affinity(a))).toEqual([PATH]);
    expect(changed(affinity(a, {}), affinity(a, a))).toEqual([`${PATH}[1]`]);
  });
  it('is the only part of the affinity that can change', () => {
    expect(changed(affinity(a), { ...affinity(ab), podAffinity: {} })).toEqual(['spec']);
    expect(changed(undefined, { podAffinity: {} })).toEqual(['spec']);
  });
});

it('if the deadline of a pod is wrong, an update reports only that violation', () => {
  const old = create('core/pods', { ...object('Pod', {}), spec: { containers: [{ name: 'c', image: 'i' }] } }).made;
  const { violations } = update('core/pods', old, draft => {
    Object.assign(draft.spec as object, { activeDeadlineSeconds: 3_000_000_000, hostNetwork: true });
  });
  expect(new Set(fieldsOf(violations))).toEqual(new Set(['spec.activeDeadlineSeconds']));
});

it('a scheduling gate that is added to a pod is reported once, at its last position', () => {
  const gates = (...names: string[]) => names.map(name => ({ name }));
  const containers = [{ name: 'c', image: 'i' }];
  const given = object('Pod', { spec: { containers, schedulingGates: gates('a/one') } });
  const { violations } = update('core/pods', create('core/pods', given).made, draft => {
    Object.assign(draft.spec as object, { schedulingGates: gates('a/x', 'a/one', 'a/x') });
  });
  expect(fieldsOf(violations).filter(field => field.endsWith('.name'))).toEqual(['spec.schedulingGates[2].name']);
});

it('additional handlers of a probe are refused after the violations of the first', () => {
  const containers = [{ name: 'c', image: 'i', readinessProbe: { tcpSocket: { port: 1 }, httpGet: {} } }];
  const { violations } = create('core/pods', { ...object('Pod', {}), spec: { containers } });
  expect(fieldsOf(violations)).toEqual([
    'spec.containers[0].readinessProbe.httpGet.port',
    'spec.containers[0].readinessProbe.tcpSocket',
  ]);
});

it('violations of a Job are reported for its spec, then its selector, then immutable fields', () => {
  const template = (name: string) => ({ spec: { restartPolicy: 'Never', containers: [{ name, image: 'i' }] } });
  const { made } = create('batch/jobs', { ...object('Job', {}, 'batch/v1'), spec: { template: template('c') } });
  const { violations } = update('batch/jobs', made, draft => {
    Object.assign(draft.spec as object, { selector: undefined, template: template('C'), managedBy: 'a/b' });
  });
  expect(fieldsOf(violations)).toEqual([
    'spec.template.spec.containers[0].name',
    'spec.selector',
    'spec.template.metadata.labels',
    'spec.selector',
    'spec.template',
    'spec.managedBy',
  ]);
});

it('violations of a pod are in the order of its members as upstream validates them', () => {
  const { violations } = create('core/pods', {
    ...object('Pod', {}),
    spec: {
      containers: [{ name: 'c', image: 'i' }],
      hostAliases: [{ ip: 'x' }],
      tolerations: [{ operator: 'Equal' }],
      readinessGates: [{ conditionType: '' }],
      hostname: 'H',
      activeDeadlineSeconds: 0,
    },
  });
  expect([...new Set(fieldsOf(violations))]).toEqual([
    'spec.readinessGates[0].conditionType',
    'spec.activeDeadlineSeconds',
    'spec.hostname',
    'spec.tolerations[0].operator',
    'spec.hostAliases[0].ip',
  ]);
});

describe('a PersistentVolume', () => {
  const nodesWith = (key: string) => ({
    required: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'In', values: ['v'] }] }] },
  });
  const spec = {
    capacity: { storage: '1Gi' },
    accessModes: ['ReadWriteOnce'],
    csi: { driver: 'd.example', volumeHandle: 'h' },
    nodeAffinity: nodesWith('beta.kubernetes.io/arch'),
  };
  const changed = (key: string) => {
    const { made } = create('core/persistentvolumes', object('PersistentVolume', { spec }));
    const change = (draft: ApiObject) => void Object.assign(draft.spec as object, { nodeAffinity: nodesWith(key) });
    return fieldsOf(update('core/persistentvolumes', made, change).violations);
  };
  it('can replace the former label in its node affinity by the stable one, and by no other', () => {
    expect(changed('kubernetes.io/arch')).toEqual([]);
    expect(changed('kubernetes.io/os')).toEqual(['nodeAffinity']);
  });
  it('has violations in the order of upstream: capacity, nodes, source, class', () => {
    const given = {
      accessModes: ['x'],
      nodeAffinity: {},
      csi: { driver: '', volumeHandle: 'h' },
      storageClassName: '_',
    };
    const { violations } = create('core/persistentvolumes', object('PersistentVolume', { spec: given }));
    const order = ['spec.accessModes', 'spec.capacity', 'spec.nodeAffinity.required', 'spec.csi.driver'];
    const found = fieldsOf(violations);
    expect([...new Set(found)].filter(field => order.includes(field))).toEqual(order);
    expect(found.at(-1)).toBe('spec.storageClassName');
  });
});

describe('a Job', () => {
  it('of a release whose labels had no domain needs no further labels', () => {
    const template = (labels: object) => ({
      metadata: { labels },
      spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] },
    });
    const spec = { manualSelector: true, selector: { matchLabels: { j: '1' } }, template: template({ j: '1' }) };
    const { made } = create('batch/jobs', object('Job', { spec }, 'batch/v1'));
    const { violations } = update('batch/jobs', made, draft => {
      Object.assign(draft.spec as object, { manualSelector: false });
    });
    const labels = fieldsOf(violations).filter(field => field.startsWith('spec.template.metadata.labels['));
    expect(labels).toEqual(['controller-uid', 'job-name'].map(name => `spec.template.metadata.labels[${name}]`));
  });

  const job = () =>
    create(
      'batch/jobs',
      object(
        'Job',
        { spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } } },
        'batch/v1',
      ),
    ).made;
  it('with indexes can change its completions together with its parallelism', () => {
    const spec = { completionMode: 'Indexed', completions: 4, parallelism: 2 };
    const change = (completions: number, parallelism: number) => {
      const old = job();
      Object.assign(old.spec as object, spec);
      return fieldsOf(
        update('batch/jobs', old, draft => Object.assign(draft.spec as object, { completions, parallelism }))
          .violations,
      );
    };
    expect(change(3, 3)).toEqual([]);
    expect(change(5, 2)).toEqual(['spec.completions']);
  });
  it('needs the labels that the server generates', () => {
    const { violations } = update('batch/jobs', job(), draft => {
      const { labels } = (draft.spec as { template: { metadata: { labels: { [name: string]: string } } } }).template
        .metadata;
      delete labels['controller-uid'];
      labels['job-name'] = 'other';
    });
    expect(lines(violations).slice(0, 2)).toEqual([
      "spec.template.metadata.labels[controller-uid]: Required value: must be 'u1'",
      expect.stringMatching(/^spec\.template\.metadata\.labels\[job-name\]: Invalid value: .*: must be 'x'$/),
    ]);
  });
});

describe('a claim', () => {
  const claim = (spec: object) =>
    create(
      'core/persistentvolumeclaims',
      object('PersistentVolumeClaim', {
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
      }),
    );
  it('loses a source in another namespace', () => {
    const { made } = claim({ dataSourceRef: { kind: 'PersistentVolumeClaim', name: 'y', namespace: 'other' } });
    expect(made.spec).not.toHaveProperty('dataSourceRef');
    expect(made.spec).not.toHaveProperty('dataSource');
  });
  it('cannot add a namespace to its source', () => {
    const dataSourceRef = { kind: 'PersistentVolumeClaim', name: 'y' };
    const { made } = claim({ dataSourceRef });
    const { violations } = update('core/persistentvolumeclaims', made, draft => {
      Object.assign(draft.spec as object, { dataSourceRef: { ...dataSourceRef, namespace: 'x' } });
    });
    expect(fieldsOf(violations)).toEqual(['spec']);
    expect(lines(violations)[0]).toContain('"namespace":"x"');
  });
  it('may keep a malformed group of its source that is already stored', () => {
    const source = { apiGroup: 'a b', kind: 'X', name: 'y' };
    expect(fieldsOf(claim({ dataSourceRef: source }).violations)).toContain('spec.dataSourceRef.apiGroup');
    const { made } = claim({ dataSourceRef: source });
    expect(update('core/persistentvolumeclaims', made, () => {}).violations).toEqual([]);
  });
});

it('the secret for expanding a volume can be set later, but not changed', () => {
  const reference = { name: 'a', namespace: 'b' };
  const volume = (csi: object) =>
    create(
      'core/persistentvolumes',
      object('PersistentVolume', {
        spec: {
          capacity: { storage: '1Gi' },
          accessModes: ['ReadWriteOnce'],
          csi: { driver: 'd', volumeHandle: 'h', ...csi },
        },
      }),
    ).made;
  const set = (old: object, name: string) =>
    fieldsOf(
      update('core/persistentvolumes', volume(old), draft => {
        Object.assign((draft.spec as { csi: object }).csi, { controllerExpandSecretRef: { ...reference, name } });
      }).violations,
    );
  expect(set({}, 'a')).toEqual([]);
  expect(set({ controllerExpandSecretRef: reference }, 'other')).toEqual(['spec.persistentvolumesource']);
});

describe('through the server', () => {
  let api: Api;
  beforeAll(async () => {
    api = await Api.shared();
    await api.namespace('rules');
  });
  afterAll(() => api.close());

  it('an empty list of scaling policies is refused, an absent one gets the default', async () => {
    const path = '/apis/autoscaling/v2/namespaces/rules/horizontalpodautoscalers';
    const scaler = (scaleUp: object) => ({
      metadata: { name: 'a' },
      spec: { maxReplicas: 2, scaleTargetRef: { kind: 'Deployment', name: 'd' }, behavior: { scaleUp } },
    });
    const made = await api.post(path, scaler({}));
    expect(made.body.spec?.behavior?.scaleUp?.policies).toHaveLength(2);
    const refused = await api.post(path, scaler({ policies: [] }));
    expect([refused.status, refused.body.message]).toEqual([
      422,
      expect.stringContaining('spec.behavior.scaleUp.policies: Required value: must specify at least one Policy'),
    ]);
  });

  it('a field whose gate is off is type-checked, but has no effect', async () => {
    const path = '/apis/coordination.k8s.io/v1/namespaces/rules/leases';
    const lease = (strategy: unknown) => ({ metadata: { name: 'a' }, spec: { strategy } });
    expect((await api.post(path, lease(5))).status).toBe(400);
    expect((await api.post(path, lease('x'))).body.spec).toEqual({});
  });

  it('a volume with an empty capacity is refused with a message that shows it, one without a capacity with nil', async () => {
    const refusal = async (capacity: unknown): Promise<string> => {
      const spec = { capacity, accessModes: ['ReadWriteOnce'], hostPath: { path: '/d' } };
      return String((await api.post('/api/v1/persistentvolumes', { metadata: { name: 'a' }, spec })).body.message);
    };
    expect(await refusal({})).toContain('Unsupported value: core.ResourceList{}: supported');
    expect(await refusal(null)).toContain('Unsupported value: core.ResourceList(nil): supported');
  });

  it('a value of another type is refused with the name of the type of its field', async () => {
    const path = '/apis/storage.k8s.io/v1/storageclasses';
    const kind = { metadata: { name: 'typed' }, provisioner: 'p' };
    const created = await api.post(path, { ...kind, reclaimPolicy: 5 });
    expect(created.body.message).toContain('StorageClass.reclaimPolicy of type v1.PersistentVolumeReclaimPolicy');
    await api.made(path, kind);
    const patched = (type: string, reclaimPolicy: unknown) => api.patch(`${path}/typed`, type, { reclaimPolicy });
    expect((await patched(STRATEGIC, 5)).body.message).toMatch(
      /cannot convert int64 to v1\.PersistentVolumeReclaimPolicy$/,
    );
    expect((await patched(STRATEGIC, true)).body.message).toMatch(/unrecognized type: string$/);
    expect((await patched(MERGE, [])).body.message).toMatch(/of type v1\.PersistentVolumeReclaimPolicy$/);
  });

  it('the data of a ControllerRevision must be an object, and cannot change, not even an empty list in it', async () => {
    const path = '/apis/apps/v1/namespaces/rules/controllerrevisions';
    const revision = (data: unknown) => ({ metadata: { name: 'a' }, revision: 1, data });
    expect((await api.post(path, revision([]))).body.message).toContain('data must be a valid JSON object');
    await api.made(path, revision({ a: [] }));
    expect((await api.patch(`${path}/a`, MERGE, { data: { a: null } })).status).toBe(422);
  });

  it('the metadata of an Event is validated only if everything else is valid', async () => {
    const path = '/api/v1/namespaces/rules/events';
    const event = (metadata: object, involvedObject: object) => ({ metadata, involvedObject });
    const elsewhere = await api.post(path, event({ name: 'a/b' }, { namespace: 'other' }));
    expect(causesOf(elsewhere)).toEqual(['involvedObject.namespace']);
    const here = await api.post(path, event({ name: 'a/b' }, { namespace: 'rules' }));
    expect(causesOf(here)).toEqual(['metadata.name']);
    expect((await api.post(path, event({ name: 'a', finalizers: ['x'] }, { namespace: 'rules' }))).status).toBe(201);
  });

  it('any change of the spec repeats the warnings about its template', async () => {
    const warned = {
      topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'x', whenUnsatisfiable: 'DoNotSchedule' }],
    };
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }], ...warned } };
    const spec = { selector: { matchLabels: { a: 'b' } }, template };
    const deployments = '/apis/apps/v1/namespaces/rules/deployments';
    const daemons = '/apis/apps/v1/namespaces/rules/daemonsets';
    for (const path of [deployments, daemons]) await api.made(path, { metadata: { name: 'a' }, spec });
    const warningOf = async (path: string, body: object) =>
      (await api.patch(`${path}/a`, MERGE, body)).headers['warning'] !== undefined;
    expect(await warningOf(deployments, { metadata: { labels: { x: 'y' } } })).toBe(false);
    expect(await warningOf(deployments, { spec: { minReadySeconds: 3 } })).toBe(true);
    expect(await warningOf(daemons, { spec: { minReadySeconds: 3 } })).toBe(false);
  });
});

describe('AppArmor annotations of a pod', () => {
  const KEY = 'container.apparmor.security.beta.kubernetes.io/c';
  const make = (annotations: { [key: string]: string } | undefined, own?: object, ofPod?: object) => {
    const warnings: string[] = [];
    const given = object('Pod', {
      spec: {
        containers: [{ name: 'c', image: 'i', ...(own ? { securityContext: { appArmorProfile: own } } : {}) }],
        ...(ofPod ? { securityContext: { appArmorProfile: ofPod } } : {}),
      },
    });
    if (annotations) given.metadata.annotations = annotations;
    const { made, violations } = create('core/pods', given, { ...contextWith(), warn: text => warnings.push(text) });
    const container = (made.spec as { containers: { securityContext?: { appArmorProfile?: object } }[] })
      .containers[0]!;
    return {
      annotation: made.metadata.annotations?.[KEY],
      profile: container.securityContext?.appArmorProfile,
      wrong: fieldsOf(violations),
      warned: warnings.some(text => text.includes('use the "appArmorProfile" field')),
    };
  };

  it('are derived from the profile of the container, or else from that of the pod', () => {
    const local = { type: 'Localhost', localhostProfile: 'x' };
    const none = { profile: undefined, wrong: [], warned: false };
    expect(make(undefined, local)).toEqual({ ...none, annotation: 'localhost/x', profile: local });
    expect(make(undefined, undefined, { type: 'RuntimeDefault' })).toEqual({ ...none, annotation: 'runtime/default' });
    expect(make(undefined)).toEqual({ ...none, annotation: undefined });
  });
  it('set the profile of the container, with a warning', () => {
    expect(make({ [KEY]: 'unconfined' }, undefined, { type: 'RuntimeDefault' })).toEqual({
      annotation: 'unconfined',
      profile: { type: 'Unconfined' },
      wrong: [],
      warned: true,
    });
    expect(make({ [KEY]: 'localhost/' })).toMatchObject({ profile: undefined, wrong: [], warned: true });
  });
  it('must be well-formed, name a container of the pod, and match the profile', () => {
    expect(make({ [KEY]: 'bad' }).wrong).toEqual([`metadata.annotations[${KEY}]`]);
    expect(make({ [`${KEY}x`]: 'unconfined' }).wrong).toEqual([`metadata.annotations[${KEY}x]`]);
    const where = 'spec.containers[0].securityContext.appArmorProfile';
    expect(make({ [KEY]: 'unconfined' }, { type: 'RuntimeDefault' }).wrong).toEqual([`${where}.type`]);
    const local = { type: 'Localhost', localhostProfile: 'x' };
    expect(make({ [KEY]: 'localhost/y' }, local).wrong).toEqual([`${where}.localhostProfile`]);
    expect(make({ [KEY]: 'localhost/x' }, local).wrong).toEqual([]);
  });
  it('cannot be changed, like the annotation of a mirror pod', () => {
    const old = create('core/pods', object('Pod', { spec: { containers: [{ name: 'c', image: 'i' }] } })).made;
    const change = (annotations: { [key: string]: string }) =>
      fieldsOf(
        update('core/pods', old, draft => {
          draft.metadata.annotations = annotations;
        }).violations,
      );
    expect(change({ [KEY]: 'unconfined' })).toEqual([`metadata.annotations[${KEY}]`]);
    expect(change({ 'kubernetes.io/config.mirror': 'x' })).toContain(
      'metadata.annotations[kubernetes.io/config.mirror]',
    );
    expect(change({ 'controller.kubernetes.io/pod-deletion-cost': '1.5' })).toHaveLength(1);
    expect(change({ 'controller.kubernetes.io/pod-deletion-cost': '-15' })).toEqual([]);
  });
});

it('default and default request of resources that cannot be overcommitted must be equal', () => {
  const range = (limit: object) =>
    create('core/limitranges', object('LimitRange', { spec: { limits: [{ type: 'Container', ...limit }] } }));
  const amounts = (request: string) => ({ default: { 'a.b/x': '4' }, defaultRequest: { 'a.b/x': request } });
  expect(fieldsOf(range(amounts('2')).violations)).toEqual(['spec.limits[0].defaultRequest[a.b/x]']);
  expect(range(amounts('4')).violations).toEqual([]);
});
