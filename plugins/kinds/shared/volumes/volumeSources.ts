import type { TextMember } from '../values/members.js';
import type {
  RBDVolumeSource,
  AzureDiskVolumeSource,
  CSIPersistentVolumeSource,
  FCVolumeSource,
  FlockerVolumeSource,
  GCEPersistentDiskVolumeSource,
  HostPathVolumeSource,
  ISCSIPersistentVolumeSource,
  NFSVolumeSource,
  PersistentVolumeSource,
  QuobyteVolumeSource,
  SecretReference,
  StorageOSVolumeSource,
  VolumeSource,
  PersistentVolumeSpec,
} from '../../../../kinds/v1.js';
import { dns1123Label } from '../../../../core/model/names.js';
import { isAbsent } from '../../../../core/model/record.js';
import { goStrings } from '../../../../core/model/text/goText.js';
import { forbiddenField, invalid, notSupported, required, type Violation } from '../../../../core/model/refusal.js';
import { validateDriverName } from './csiDrivers.js';
import {
  rangeText,
  toViolations,
  validateLabelIfSet,
  validateOneOf,
  validatePresent,
  validateRequired,
  validateSubdomainIfSet,
} from '../violations.js';

/** Violations of a source of a volume, at a field. */
export type CheckSource<Source> = (source: Source, field: string) => Violation[];

/** The checks of some members of `Owner`, which are sources of volumes. */
export type SourceChecks<Owner, Name extends keyof Owner> = {
  readonly [N in Name]-?: CheckSource<NonNullable<Owner[N]>>;
};

/** Checks the source in the member `name` of `owner`, which has it; `field` is that of the owner. */
export const checkSource = <Owner extends object, Name extends keyof Owner & string>(
  checks: SourceChecks<Owner, Name>,
  owner: Owner,
  name: Name,
  field: string,
): Violation[] => checks[name](owner[name] as NonNullable<Owner[Name]>, `${field}.${name}`);

/** Checks that members are set. */
export const needs =
  <Source extends object>(...members: readonly TextMember<Source>[]): CheckSource<Source> =>
  (source, field) =>
    members.flatMap(member => validateRequired(source, member, `${field}.${member}`));

const needsMonitors: CheckSource<{ readonly monitors: readonly string[] | null }> = ({ monitors }, field) =>
  (monitors ?? []).length === 0 ? [required(`${field}.monitors`)] : [];

/** All violations of several checks. */
const all =
  <Source>(...checks: readonly CheckSource<Source>[]): CheckSource<Source> =>
  (source, field) =>
    checks.flatMap(check => check(source, field));

/** A reference to a Secret. */
type SecretParts = Partial<SecretReference>;

/** Checks the members of a reference to a Secret, if there is one. */
const checkSecretRef = (
  reference: SecretParts | undefined,
  field: string,
  parts: readonly (keyof SecretParts)[],
): Violation[] => (reference ? needs<SecretParts>(...parts)(reference, field) : []);

/** Partitions and units have numbers below 256. That of a partition may be 0 although the message says 1. */
const inRange =
  <Member extends 'lun' | 'partition'>(member: Member): CheckSource<{ readonly [M in Member]?: number }> =>
  (source, field) => {
    const value = source[member];
    return value === undefined || (value >= 0 && value <= 255)
      ? []
      : [invalid(`${field}.${member}`, value, rangeText(member === 'partition' ? 1 : 0, 255))];
  };

/** Checks that a path does not lead to a folder above. */
const checkBacksteps = (path: string, field: string): Violation[] =>
  path.split('/').includes('..') ? [invalid(field, path, "must not contain '..'")] : [];

/** Checks that a path is relative and does not lead to a folder above. */
export const checkLocalPath = (path: string, field: string): Violation[] => [
  ...(path.startsWith('/') ? [invalid(field, path, 'must be a relative path')] : []),
  ...checkBacksteps(path, field),
];

const HOST_PATH_TYPES = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
];

const checkHostPath: CheckSource<HostPathVolumeSource> = (source, field) => {
  const path = source.path;
  return path === ''
    ? [required(`${field}.path`)]
    : [
        ...checkBacksteps(path, `${field}.path`),
        ...(isAbsent(source.type) ? [] : validateOneOf(source, 'type', `${field}.type`, HOST_PATH_TYPES)),
      ];
};

const checkNfs: CheckSource<NFSVolumeSource> = (source, field) => {
  const path = source.path;
  return [
    ...needs<NFSVolumeSource>('server', 'path')(source, field),
    ...(path.startsWith('/') ? [] : [invalid(`${field}.path`, path, 'must be an absolute path')]),
  ];
};

const IQN = /^iqn\.\d{4}-\d{2}\.[\w-]+(?:\.[\w-]+)*\.?:[^,;*&$|\s]+$/;
const EUI = /^eui\.[0-9A-Fa-f]{16}$/;
const NAA = /^naa\.[0-9A-Fa-f]{32}$/;

/** Checks the name of an iSCSI node (RFC 3720, section 3.2.6.3). `prefixText` is the message about its prefix. */
function checkIscsiName(name: string, field: string, prefixText: string): Violation[] {
  if (!/^(iqn|eui|naa)/.test(name)) return [invalid(field, name, prefixText)];
  return (name.startsWith('iqn') ? IQN : name.startsWith('eui') ? EUI : NAA).test(name)
    ? []
    : [invalid(field, name, 'must be valid format')];
}

/** `prefixText` is the message about the prefix of a name; a reference to a Secret needs the members `secretParts`. */
const checkIscsi =
  (prefixText: string, ...secretParts: readonly (keyof SecretParts)[]): CheckSource<ISCSIPersistentVolumeSource> =>
  (source, field) => {
    const iqn = source.iqn;
    const needsSecret = source.chapAuthDiscovery === true || source.chapAuthSession === true;
    return [
      ...needs<ISCSIPersistentVolumeSource>('targetPortal')(source, field),
      ...(iqn === '' ? [required(`${field}.iqn`)] : checkIscsiName(iqn, `${field}.iqn`, prefixText)),
      ...inRange('lun')(source, field),
      ...(needsSecret && !source.secretRef ? [required(`${field}.secretRef`)] : []),
      ...checkSecretRef(source.secretRef, `${field}.secretRef`, secretParts),
      ...(isAbsent(source.initiatorName)
        ? []
        : checkIscsiName(source.initiatorName, `${field}.initiatorname`, prefixText)),
    ];
  };

const checkFlocker: CheckSource<FlockerVolumeSource> = (source, field) => {
  const [name, uuid] = [source.datasetName ?? '', source.datasetUUID ?? ''];
  return [
    ...(name === '' && uuid === '' ? [required(field, 'one of datasetName and datasetUUID is required')] : []),
    ...(name !== '' && uuid !== ''
      ? [invalid(field, 'resource', 'datasetName and datasetUUID can not be specified simultaneously')]
      : []),
    ...(name.includes('/') ? [invalid(`${field}.datasetName`, name, "must not contain '/'")] : []),
  ];
};

const REGISTRY = 'must be a host:port pair or multiple pairs separated by commas';

const checkQuobyte: CheckSource<QuobyteVolumeSource> = (source, field) => {
  const [registry, tenant] = [source.registry, source.tenant ?? ''];
  const found: Violation[] = [];
  if (registry === '') found.push(required(`${field}.registry`, REGISTRY));
  else if (tenant.length >= 65)
    found.push(required(`${field}.tenant`, 'must be a UUID and may not exceed a length of 64 characters'));
  else if (registry.split(',').some(pair => !/^[^:]*:[^:]*$/.test(pair)))
    found.push(invalid(`${field}.registry`, registry, REGISTRY));
  return [...found, ...needs<QuobyteVolumeSource>('volume')(source, field)];
};

const checkFc: CheckSource<FCVolumeSource> = (source, field) => {
  const [targets, ids] = [source.targetWWNs ?? [], source.wwids ?? []];
  const found: Violation[] = [];
  if (targets.length === 0 && ids.length === 0)
    found.push(required(`${field}.targetWWNs`, 'must specify either targetWWNs or wwids, but not both'));
  if (targets.length > 0 && ids.length > 0)
    found.push(
      invalid(`${field}.targetWWNs`, goStrings(targets), 'targetWWNs and wwids can not be specified simultaneously'),
    );
  const { lun } = source;
  if (targets.length > 0 && lun === undefined)
    found.push(required(`${field}.lun`, 'lun is required if targetWWNs is specified'));
  else if (targets.length > 0 && (lun! < 0 || lun! > 255)) found.push(invalid(`${field}.lun`, lun, rangeText(0, 255)));
  return found;
};

const MANAGED = '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}';
const UNMANAGED = 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd';

const checkAzureDisk: CheckSource<AzureDiskVolumeSource> = (source, field) => {
  const [uri, isManaged] = [source.diskURI, source.kind === 'Managed'];
  return [
    ...needs<AzureDiskVolumeSource>('diskName', 'diskURI')(source, field),
    ...(isAbsent(source.cachingMode)
      ? []
      : validateOneOf(source, 'cachingMode', `${field}.cachingMode`, ['None', 'ReadOnly', 'ReadWrite'])),
    ...(isAbsent(source.kind)
      ? []
      : validateOneOf(source, 'kind', `${field}.kind`, ['Dedicated', 'Managed', 'Shared'])),
    ...(isManaged && !uri.startsWith('/subscriptions/') ? [notSupported(`${field}.diskURI`, uri, [MANAGED])] : []),
    ...(!isManaged && !uri.startsWith('https://') ? [notSupported(`${field}.diskURI`, uri, [UNMANAGED])] : []),
  ];
};

type StorageOSSource = Omit<StorageOSVolumeSource, 'secretRef'> & { readonly secretRef?: SecretParts };

const checkStorageOs =
  (...secretParts: readonly (keyof SecretParts)[]): CheckSource<StorageOSSource> =>
  (source, field) => {
    const [name, namespace] = [source.volumeName ?? '', source.volumeNamespace ?? ''];
    return [
      ...(name === ''
        ? [required(`${field}.volumeName`)]
        : toViolations(`${field}.volumeName`, name, dns1123Label(name))),
      ...(namespace === '' ? [] : toViolations(`${field}.volumeNamespace`, namespace, dns1123Label(namespace))),
      ...checkSecretRef(source.secretRef, `${field}.secretRef`, secretParts),
    ];
  };

/** The sources that pods and PersistentVolumes have. */
type SharedName = keyof VolumeSource & keyof PersistentVolumeSource;

/** The sources that are checked in the same way for both. */
type CommonName = Exclude<SharedName, 'iscsi' | 'cinder' | 'storageos' | 'csi'>;

const COMMON: SourceChecks<VolumeSource, CommonName> = {
  hostPath: checkHostPath,
  // Upstream names it so in messages.
  gcePersistentDisk: (source, field) =>
    all<GCEPersistentDiskVolumeSource>(needs('pdName'), inRange('partition'))(
      source,
      field.replace(/gcePersistentDisk$/, 'persistentDisk'),
    ),
  awsElasticBlockStore: all(needs('volumeID'), inRange('partition')),
  nfs: checkNfs,
  glusterfs: needs('endpoints', 'path'),
  flocker: checkFlocker,
  rbd: all<RBDVolumeSource>(needsMonitors, needs('image')),
  cephfs: needsMonitors,
  quobyte: checkQuobyte,
  fc: checkFc,
  flexVolume: needs('driver'),
  azureFile: needs('secretName', 'shareName'),
  vsphereVolume: needs('volumePath'),
  photonPersistentDisk: needs('pdID'),
  portworxVolume: needs('volumeID'),
  azureDisk: checkAzureDisk,
  scaleIO: needs('gateway', 'system', 'volumeName'),
};

/** The sources of volumes of pods that PersistentVolumes have too. */
export const SHARED_SOURCES: SourceChecks<VolumeSource, SharedName> = {
  ...COMMON,
  iscsi: checkIscsi('must be valid format starting with iqn, eui, or naa'),
  cinder: all(needs('volumeID'), (source, field) => checkSecretRef(source.secretRef, `${field}.secretRef`, ['name'])),
  storageos: checkStorageOs('name'),
  csi: (source, field) => [
    ...validateDriverName(source.driver, `${field}.driver`),
    ...checkSecretRef(source.nodePublishSecretRef, `${field}.nodePublishSecretRef`, ['name']),
    // Upstream leaves the reference out of the field.
    ...validateSubdomainIfSet(source.nodePublishSecretRef, 'name', `${field}.name`),
  ],
};

const CSI_SECRETS = [
  'controllerPublishSecretRef',
  'nodePublishSecretRef',
  'controllerExpandSecretRef',
  'nodeExpandSecretRef',
] as const;

const PERSISTENT: SourceChecks<PersistentVolumeSource, keyof PersistentVolumeSource> = {
  ...COMMON,
  iscsi: checkIscsi('must be valid format', 'name'),
  cinder: all(needs('volumeID'), (source, field) =>
    checkSecretRef(source.secretRef, `${field}.secretRef`, ['name', 'namespace']),
  ),
  storageos: checkStorageOs('name', 'namespace'),
  glusterfs: (source, field) => [
    ...COMMON.glusterfs(source, field),
    ...validatePresent(source, 'endpointsNamespace', `${field}.endpointsNamespace`, name =>
      name === '' ? ['if the endpointnamespace is set, it must be a valid namespace name'] : dns1123Label(name),
    ),
  ],
  azureFile: (source, field) => [
    ...COMMON.azureFile(source, field),
    ...(source.secretNamespace === '' ? [required(`${field}.secretNamespace`)] : []),
  ],
  local: (source, field) => {
    const path = source.path;
    return path === '' ? [required(`${field}.path`)] : checkBacksteps(path, `${field}.path`);
  },
  csi: (source, field) => [
    ...validateDriverName(source.driver, `${field}.driver`),
    ...needs<CSIPersistentVolumeSource>('volumeHandle')(source, field),
    ...CSI_SECRETS.flatMap(member => [
      ...checkSecretRef(source[member], `${field}.${member}`, ['name', 'namespace']),
      ...validateSubdomainIfSet(source[member], 'name', `${field}.${member}.name`),
      ...validateLabelIfSet(source[member], 'namespace', `${field}.${member}.namespace`),
    ]),
  ],
};

/** The sources of a PersistentVolume in the order in which they are looked for: only the first one counts. */
export const PERSISTENT_SOURCES = [
  'hostPath',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'flocker',
  'nfs',
  'rbd',
  'quobyte',
  'cephfs',
  'iscsi',
  'cinder',
  'fc',
  'flexVolume',
  'azureFile',
  'vsphereVolume',
  'photonPersistentDisk',
  'portworxVolume',
  'azureDisk',
  'scaleIO',
  'local',
  'storageos',
  'csi',
] as const;

/** The longest name of a volume together with the portal of its iSCSI target, joined by a colon. */
const LONGEST_TARGET = 64;

/** Message about the name of a volume with an iSCSI target that is used by a named initiator; empty if it is valid. */
export function iscsiNameComplaints(iscsi: ISCSIPersistentVolumeSource | undefined, name: string): string[] {
  if (!iscsi || isAbsent(iscsi.initiatorName)) return [];
  return Buffer.byteLength(`${name}:${iscsi.targetPortal}`) > LONGEST_TARGET
    ? [
        `Total length of <volume name>:<iscsi.targetPortal> must be under ${LONGEST_TARGET} characters if iscsi.initiatorName is specified.`,
      ]
    : [];
}

/** The name of a source in the message that there is more than one. Upstream writes some differently there. */
export const extraSourceName = (source: string): string =>
  source === 'cephfs' ? 'cephFS' : source === 'downwardAPI' ? 'downwarAPI' : source;

/**
 * Checks that the spec of the volume `name` has exactly one source, and validates it. `hasAffinity`: it may have an
 * affinity to nodes, and has one.
 */
export function validatePersistentSource(
  spec: PersistentVolumeSpec,
  field: string,
  name: string,
  hasAffinity: boolean,
): Violation[] {
  const [first, ...others] = PERSISTENT_SOURCES.filter(source => spec[source]);
  if (!first) return [required(field, 'must specify a volume type')];
  const validate = (member: keyof PersistentVolumeSource): Violation[] => {
    const { iscsi } = spec;
    const targetComplaints = member === 'iscsi' ? iscsiNameComplaints(iscsi, name) : [];
    return [
      ...checkSource(PERSISTENT, spec, member, field),
      ...toViolations(`${field}.iscsi.targetportal`, iscsi?.targetPortal, targetComplaints),
      ...(member === 'local' && !hasAffinity
        ? [required(`${field}.nodeAffinity`, 'Local volume requires node affinity')]
        : []),
    ];
  };
  return [
    ...validate(first),
    // Upstream allows a flex volume together with another source.
    ...others.flatMap(other =>
      other === 'flexVolume'
        ? validate(other)
        : [forbiddenField(`${field}.${extraSourceName(other)}`, 'may not specify more than 1 volume type')],
    ),
  ];
}
