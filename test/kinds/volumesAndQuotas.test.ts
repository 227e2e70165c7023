import { describe, expect, test } from 'vitest';
import { create, lines, object, update } from './helpers.js';

const PV = 'core/persistentvolumes';
const PVC = 'core/persistentvolumeclaims';

const volume = (spec: object) =>
  object('PersistentVolume', {
    spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/d' }, ...spec },
  });
const claim = (spec: object, rest: object = {}) =>
  object('PersistentVolumeClaim', {
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } }, ...spec },
    ...rest,
  });

describe('PersistentVolume', () => {
  const NONE = { hostPath: undefined };
  test.each([
    ['is valid', {}, []],
    ['needs a source', NONE, ['spec: Required value: must specify a volume type']],
    [
      'has one source only',
      { nfs: { server: 's', path: '/p' } },
      ['spec.nfs: Forbidden: may not specify more than 1 volume type'],
    ],
    [
      'has a capacity',
      { capacity: undefined },
      [
        'spec.capacity: Required value',
        'spec.capacity: Unsupported value: core.ResourceList(nil): supported values: "storage"',
      ],
    ],
    [
      'has a positive capacity',
      { capacity: { storage: '0' } },
      ['spec.capacity[storage]: Invalid value: "0": must be greater than zero'],
    ],
    ['has access modes', { accessModes: [] }, ['spec.accessModes: Required value']],
    [
      'shares ReadWriteOncePod with no other mode',
      { accessModes: ['ReadWriteOncePod', 'ReadWriteOnce'] },
      ['spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes'],
    ],
    [
      'that is local needs nodes',
      { ...NONE, local: { path: '/l' } },
      ['spec.nodeAffinity: Required value: Local volume requires node affinity'],
    ],
    [
      'must not lead to a parent folder',
      { hostPath: { path: '/a/../b' } },
      ['spec.hostPath.path: Invalid value: "/a/../b": must not contain \'..\''],
    ],
    [
      'must not recycle the root of a host',
      { hostPath: { path: '/' }, persistentVolumeReclaimPolicy: 'Recycle' },
      ["spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'"],
    ],
    [
      'of NFS has an absolute path',
      { ...NONE, nfs: { server: 's', path: 'p' } },
      ['spec.nfs.path: Invalid value: "p": must be an absolute path'],
    ],
    [
      'of iSCSI has a well-formed name',
      { ...NONE, iscsi: { targetPortal: 'p', iqn: 'x', lun: 256 } },
      [
        'spec.iscsi.iqn: Invalid value: "x": must be valid format',
        'spec.iscsi.lun: Invalid value: 256: must be between 0 and 255, inclusive',
      ],
    ],
    [
      'of CSI has complete references to secrets',
      { ...NONE, csi: { driver: 'd', volumeHandle: 'h', controllerExpandSecretRef: { name: 's' } } },
      ['spec.csi.controllerExpandSecretRef.namespace: Required value'],
    ],
  ])('%s', (_, spec, expected) => {
    expect(lines(create(PV, volume(spec)).violations)).toEqual(expected);
  });

  test('cannot change its source and its nodes', () => {
    const terms = [{ matchExpressions: [{ key: 'k', operator: 'In', values: ['v'] }] }];
    const old = create(PV, volume({ nodeAffinity: { required: { nodeSelectorTerms: terms } } })).made;
    const { violations } = update(PV, old, draft => {
      draft.spec = { ...(draft.spec as object), hostPath: { path: '/other' }, nodeAffinity: undefined };
    });
    expect(lines(violations)).toEqual([
      expect.stringContaining(
        'spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation\n',
      ),
      'nodeAffinity: Invalid value: "null": field is immutable, except for updating from beta label to GA',
    ]);
  });
});

describe('PersistentVolumeClaim', () => {
  test.each([
    ['is valid', {}, []],
    ['has a size', { resources: {} }, ['spec.resources[storage]: Required value']],
    [
      'has a positive size',
      { resources: { requests: { storage: '0' } } },
      ['spec.resources[storage]: Invalid value: "0": must be greater than zero'],
    ],
    ['has access modes', { accessModes: [] }, ['spec.accessModes: Required value: at least 1 access mode is required']],
    [
      'has a known mode',
      { volumeMode: '' },
      ['spec.volumeMode: Unsupported value: "": supported values: "Block", "Filesystem"'],
    ],
    [
      'names a complete source',
      { dataSourceRef: { apiGroup: 'example.com', kind: 'Image', name: '' } },
      ['spec.dataSource.name: Required value', 'spec.dataSourceRef.name: Required value'],
    ],
  ])('%s', (_, spec, expected) => {
    expect(lines(create(PVC, claim(spec)).violations)).toEqual(expected);
  });

  test('ignores a dataSource that is neither a claim nor a snapshot', () => {
    const of = (apiGroup: string, kind: string) =>
      create(PVC, claim({ dataSource: { apiGroup, kind, name: 'x' } })).made.spec as { dataSource?: object };
    expect(of('example.com', 'Image').dataSource).toBeUndefined();
    expect(of('snapshot.storage.k8s.io', 'VolumeSnapshot').dataSource).toBeDefined();
  });

  /** The fields of violations when class and annotation of a claim change. */
  const violationsOfClass = (before: [string?, string?], now: [string?, string?]): string[] => {
    const KEY = 'volume.beta.kubernetes.io/storage-class';
    const old = claim({ volumeMode: 'Filesystem', ...(before[0] !== undefined && { storageClassName: before[0] }) });
    if (before[1] !== undefined) old.metadata.annotations = { [KEY]: before[1] };
    const found = update(PVC, old, draft => {
      const { storageClassName: _, ...spec } = draft.spec as { storageClassName?: string };
      draft.spec = now[0] === undefined ? spec : { ...spec, storageClassName: now[0] };
      draft.metadata.annotations = now[1] === undefined ? {} : { [KEY]: now[1] };
    });
    return found.violations.map(({ field }) => field.replace(KEY, 'class'));
  };
  test.each<[string, [string?, string?], [string?, string?], string[]]>([
    ['gets its first class later', [], ['fast'], []],
    ['may get no class later', [], [''], []],
    ['cannot change its class', ['fast'], ['slow'], ['spec']],
    ['cannot lose its class', ['fast'], [], ['spec']],
    ['moves its class from the annotation', [undefined, 'fast'], ['fast'], []],
    ['moves its class and keeps the annotation', [undefined, 'fast'], ['fast', 'fast'], []],
    ['cannot change the class of its annotation', [undefined, 'fast'], ['slow', 'fast'], ['spec']],
    ['cannot change its annotation', [undefined, 'fast'], [undefined, 'slow'], ['metadata.annotations.class']],
    [
      'cannot replace its annotation by another class',
      [undefined, 'fast'],
      ['slow'],
      ['metadata.annotations.class', 'spec'],
    ],
    ['cannot get an annotation later', [], [undefined, 'fast'], ['metadata.annotations.class']],
  ])('%s', (_, before, now, expected) => {
    expect(violationsOfClass(before, now)).toEqual(expected);
  });

  test('can change its size while it is bound, but not below that of the volume', () => {
    const status = { phase: 'Bound', capacity: { storage: '1Gi' } };
    const old = claim({ volumeMode: 'Filesystem' }, { status });
    const violationsOfSize = (storage: string) =>
      lines(
        update(PVC, old, draft => {
          draft.spec = { ...(draft.spec as object), resources: { requests: { storage } } };
        }).violations,
      );
    expect(violationsOfSize('3Gi')).toEqual([]);
    expect(violationsOfSize('1500Mi')).toEqual([]);
    expect(violationsOfSize('1Gi')).toEqual([
      'spec.resources.requests.storage: Forbidden: field can not be less than status.capacity',
    ]);
  });
});

describe('ResourceQuota', () => {
  test.each([
    ['counts known resources', { hard: { pods: '1', 'count/jobs.batch': '2', 'requests.cpu': '1' } }, []],
    [
      'counts nothing unknown',
      { hard: { tea: '1' } },
      [
        'spec.hard[tea]: Invalid value: tea: must be a standard resource type or fully qualified',
        'spec.hard[tea]: Invalid value: tea: must be a standard resource for quota',
      ],
    ],
    ['has whole counts', { hard: { pods: '1500m' } }, [expect.stringContaining('must be an integer')]],
    [
      'has no negative amounts',
      { hard: { memory: '-1' } },
      ['spec.hard[memory]: Invalid value: "-1": must be greater than or equal to 0'],
    ],
    [
      'must have compatible scopes',
      { scopes: ['BestEffort', 'NotBestEffort'] },
      [expect.stringContaining('conflicting scopes')],
    ],
    [
      'must have scopes that match its resources',
      { hard: { cpu: '1' }, scopes: ['BestEffort'] },
      [expect.stringContaining('unsupported scope applied to resource')],
    ],
  ])('%s', (_, spec, expected) => {
    expect(lines(create('core/resourcequotas', object('ResourceQuota', { spec })).violations)).toEqual(expected);
  });

  test('cannot change its scopes, except for their order', () => {
    const old = object('ResourceQuota', { spec: { scopes: ['Terminating', 'NotBestEffort'] } });
    const scoped = (scopes: string[]) => update('core/resourcequotas', old, draft => void (draft.spec = { scopes }));
    expect(scoped(['NotBestEffort', 'Terminating']).violations).toEqual([]);
    expect(lines(scoped(['Terminating']).violations)).toEqual([expect.stringContaining('field is immutable')]);
  });
});

describe('LimitRange', () => {
  const violationsOfLimits = (...limits: object[]) =>
    lines(create('core/limitranges', object('LimitRange', { spec: { limits } })).violations);

  test('must have consistent amounts', () => {
    const [first, second] = violationsOfLimits({ type: 'Container', min: { cpu: '2' }, max: { cpu: '1' } });
    expect(first).toContain('spec.limits[0].min[cpu]');
    expect(first).toContain('min value 2 is greater than max value 1');
    expect(second).toContain('min value 2 is greater than default request value 1');
  });

  test('must limit a type only once, with the amounts that the type supports', () => {
    expect(violationsOfLimits({ type: 'Pod', default: { cpu: '1' } })).toEqual([
      "spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'",
    ]);
    expect(violationsOfLimits({ type: 'Pod' }, { type: 'Pod' })).toEqual([
      'spec.limits[1].type: Duplicate value: "Pod"',
    ]);
    expect(violationsOfLimits({ type: 'PersistentVolumeClaim' })).toEqual([
      'spec.limits[0].limits: Required value: either minimum or maximum storage value is required, but neither was provided',
    ]);
    expect(violationsOfLimits({ type: 'Tea' })).toEqual([
      'spec.limits[0].type: Invalid value: "Tea": must be a standard limit type or fully qualified',
    ]);
  });

  test('gets a name if it has none', () => {
    const nameless = { ...object('LimitRange', { spec: { limits: [] } }), metadata: {} };
    expect(create('core/limitranges', nameless).made.metadata.name).toMatch(/^[0-9a-f-]{36}$/);
  });
});
