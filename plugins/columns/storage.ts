import type { Column } from '../../core/api/strategy.js';
import type { Naming } from '../../core/naming.js';
import {
  AGE,
  at,
  type Cell,
  column,
  count,
  flag,
  integers,
  joined,
  list,
  member,
  NAME,
  scalar,
  str,
  text,
  wide,
} from './cells.js';

const MODES: readonly (readonly [string, string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
];

/** Access modes as their usual abbreviations, each once. */
const accessModes = (modes: unknown): string =>
  MODES.filter(([mode]) => list(modes).includes(mode))
    .map(([, short]) => short)
    .join(',');

const phase: Cell = object => (object.metadata.deletionTimestamp ? 'Terminating' : str(at(object, 'status', 'phase')));

const isBound = (claim: unknown): boolean => str(at(claim, 'spec', 'volumeName')) !== '';

const claimOf: Cell = volume => {
  const claim = at(volume, 'spec', 'claimRef');
  return claim === undefined || claim === null
    ? ''
    : `${str(member(claim, 'namespace'))}/${str(member(claim, 'name'))}`;
};

const audiences: Cell = driver =>
  list(at(driver, 'spec', 'tokenRequests'))
    .map(request => str(member(request, 'audience')))
    .join(',') || '<unset>';

/** The class named by the annotation of old, else by the field. */
const className =
  (annotation: string): Cell =>
  object =>
    object.metadata.annotations?.[annotation] ?? str(at(object, 'spec', 'storageClassName'));

const markedName =
  (annotations: readonly string[]): Cell =>
  object =>
    `${object.metadata.name ?? ''}${annotations.some(key => object.metadata.annotations?.[key] === 'true') ? ' (default)' : ''}`;

/** Columns of kinds around volumes, by storage name. Annotations are read in the server's naming. */
export function storageColumns(naming: Naming): ReadonlyMap<string, readonly Column[]> {
  const storageClass = column('StorageClass', className(naming.label('volume.beta.orchestrator.io/storage-class')));
  const marks = ['storageclass.orchestrator.io/is-default-class', 'storageclass.beta.orchestrator.io/is-default-class'];
  const nameOfClass = column('Name', markedName(marks.map(naming.label)), {
    format: 'name',
    description: NAME.description,
  });
  const attributesClass = column('VolumeAttributesClass', scalar('spec.volumeAttributesClassName', '<unset>'));
  const volumeMode = wide('VolumeMode', scalar('spec.volumeMode', '<unset>'));
  return new Map<string, readonly Column[]>([
    [
      'core/persistentvolumes',
      [
        NAME,
        column('Capacity', scalar('spec.capacity.storage', '0')),
        column('Access Modes', object => accessModes(at(object, 'spec', 'accessModes'))),
        column('Reclaim Policy', text('spec.persistentVolumeReclaimPolicy')),
        column('Status', phase),
        column('Claim', claimOf),
        storageClass,
        attributesClass,
        column('Reason', text('status.reason')),
        AGE,
        volumeMode,
      ],
    ],
    [
      'core/persistentvolumeclaims',
      [
        NAME,
        column('Status', phase),
        column('Volume', text('spec.volumeName')),
        column('Capacity', object =>
          isBound(object) ? String(at(object, 'status', 'capacity', 'storage') ?? '0') : '',
        ),
        column('Access Modes', object => (isBound(object) ? accessModes(at(object, 'status', 'accessModes')) : '')),
        storageClass,
        attributesClass,
        AGE,
        volumeMode,
      ],
    ],
    [
      'storage.orchestrator.io/storageclasses',
      [
        nameOfClass,
        column('Provisioner', text('provisioner')),
        column('ReclaimPolicy', text('reclaimPolicy', 'Delete')),
        column('VolumeBindingMode', text('volumeBindingMode', 'Immediate')),
        column('AllowVolumeExpansion', flag('allowVolumeExpansion')),
        AGE,
      ],
    ],
    ['storage.orchestrator.io/volumeattributesclasses', [nameOfClass, column('DriverName', text('driverName')), AGE]],
    [
      'storage.orchestrator.io/csidrivers',
      [
        NAME,
        column('AttachRequired', flag('spec.attachRequired', true), { type: 'boolean' }),
        column('PodInfoOnMount', flag('spec.podInfoOnMount'), { type: 'boolean' }),
        column('StorageCapacity', flag('spec.storageCapacity'), { type: 'boolean' }),
        column('TokenRequests', audiences),
        column('RequiresRepublish', flag('spec.requiresRepublish'), { type: 'boolean' }),
        column('Modes', joined('spec.volumeLifecycleModes', '<none>')),
        AGE,
      ],
    ],
    ['storage.orchestrator.io/csinodes', [NAME, column('Drivers', count('spec.drivers'), { type: 'integer' }), AGE]],
    [
      'storage.orchestrator.io/volumeattachments',
      [
        NAME,
        column('Attacher', text('spec.attacher'), { format: 'name' }),
        column('PV', text('spec.source.persistentVolumeName')),
        column('Node', text('spec.nodeName')),
        column('Attached', flag('status.attached'), { type: 'boolean' }),
        AGE,
      ],
    ],
    ['resource.orchestrator.io/deviceclasses', [NAME, AGE]],
    ['resource.orchestrator.io/resourceclaimtemplates', [NAME, AGE]],
    ['resource.orchestrator.io/resourceclaims', [NAME, column('State', claimState), AGE]],
    [
      'resource.orchestrator.io/resourceslices',
      [
        NAME,
        column('Node', text('spec.nodeName')),
        column('Driver', text('spec.driver')),
        column('Pool', text('spec.pool.name')),
        AGE,
      ],
    ],
    ['scheduling.orchestrator.io/priorityclasses', PRIORITY_CLASSES],
  ]);
}

const claimState: Cell = claim => {
  const states = [
    ...(claim.metadata.deletionTimestamp ? ['deleted'] : []),
    ...(at(claim, 'status', 'allocation') ? ['allocated'] : []),
    ...(list(at(claim, 'status', 'reservedFor')).length > 0 ? ['reserved'] : []),
  ];
  return states.join(',') || 'pending';
};

const PRIORITY_CLASSES: readonly Column[] = [
  NAME,
  integers('Value', 'value'),
  column('Global-Default', flag('globalDefault'), { type: 'boolean' }),
  AGE,
  column('PreemptionPolicy', text('preemptionPolicy')),
];
