import type { ObjectMeta } from '../../../../../core/model/object.js';
import type { TextMember } from '../../values/members.js';
import type {
  ConfigMapVolumeSource,
  GitRepoVolumeSource,
  SecretVolumeSource,
  VolumeSource,
  PodSpec,
  Volume,
} from '../../../../../kinds/v1.js';
import { dns1123Label, dns1123Subdomain } from '../../../../../core/model/names.js';
import { compareQuantities, quantityOf, ZERO_QUANTITY } from '../../../../../core/model/quantity.js';
import { isAbsent } from '../../../../../core/model/record.js';
import { duplicate, forbiddenField, invalid, required, type Violation } from '../../../../../core/model/refusal.js';
import { validateClaimSpec } from '../../volumes/claimSpec.js';
import { validateAnnotations, validateLabels } from '../../labels.js';
import { toViolations } from '../../violations.js';
import {
  checkSource,
  type SourceChecks,
  checkLocalPath,
  type CheckSource,
  extraSourceName,
  iscsiNameComplaints,
  needs,
  SHARED_SOURCES,
} from '../../volumes/volumeSources.js';
import { validateFieldFiles, validateFileMode, validateItems, validateProjected } from './projections.js';

/**
 * Checks the names that are made of the name of a volume: that of its iSCSI target, and that of the claim of an
 * ephemeral volume. `podName` is empty if the pod has no name yet.
 */
function validateUse(volume: Volume, name: string, where: string, podName: string): Violation[] {
  const found: Violation[] = [];
  found.push(...toViolations(`${where}.name`, name, iscsiNameComplaints(volume.iscsi, name)));
  if (podName !== '' && name !== '' && volume.ephemeral) {
    const claim = `${podName}-${name}`;
    const text = `PVC name ${JSON.stringify(claim)}: `;
    found.push(...dns1123Subdomain(claim).map(why => invalid(`${where}.name`, name, text + why)));
  }
  return found;
}

/** Violations of each volume, in the order of the volumes. */
export function validateVolumes(pod: PodSpec, field: string, podName: string): Violation[][] {
  const names = new Set<string>();
  return (pod.volumes ?? []).map((volume, i) => {
    const where = `${field}.volumes[${i}]`;
    const found = [...validateSource(volume, where), ...validateUse(volume, volume.name, where, podName)];
    const name = volume.name;
    if (name === '') found.push(required(`${where}.name`));
    else found.push(...toViolations(`${where}.name`, name, dns1123Label(name)));
    if (names.has(name)) found.push(duplicate(`${where}.name`, name));
    if (found.length === 0) names.add(name);
    return found;
  });
}

/** The sources of a volume in the order in which they are looked for: only the first one counts. */
const SOURCES = [
  'emptyDir',
  'hostPath',
  'gitRepo',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'secret',
  'nfs',
  'iscsi',
  'glusterfs',
  'flocker',
  'persistentVolumeClaim',
  'rbd',
  'cinder',
  'cephfs',
  'quobyte',
  'downwardAPI',
  'fc',
  'flexVolume',
  'configMap',
  'azureFile',
  'vsphereVolume',
  'photonPersistentDisk',
  'portworxVolume',
  'azureDisk',
  'storageos',
  'projected',
  'scaleIO',
  'csi',
  'ephemeral',
  'image',
] as const;

const checkKeys =
  <Source extends SecretVolumeSource | ConfigMapVolumeSource>(name: TextMember<Source>): CheckSource<Source> =>
  (source, field) => [
    ...needs<Source>(name)(source, field),
    ...validateFileMode(source, 'defaultMode', field),
    ...validateItems(source, `${field}.items`),
  ];

/** A template has labels and annotations, and no other metadata. */
function validateTemplateMetadata(metadata: ObjectMeta, field: string): Violation[] {
  return [
    ...validateLabels(Object.entries(metadata.labels ?? {}), `${field}.labels`),
    ...validateAnnotations(metadata, `${field}.annotations`),
    ...Object.entries(metadata)
      .filter(([member, value]) => !['labels', 'annotations'].includes(member) && !isAbsent(value) && value !== '')
      .map(([member]) => forbiddenField(`${field}.${member}`, 'cannot be set')),
  ];
}

/** The checks of all sources; those that are here are of pods only. */
const CHECKS: SourceChecks<VolumeSource, (typeof SOURCES)[number]> = {
  ...SHARED_SOURCES,
  emptyDir: (source, field) =>
    compareQuantities(quantityOf(source.sizeLimit), ZERO_QUANTITY) < 0
      ? [forbiddenField(`${field}.sizeLimit`, 'SizeLimit field must be a valid resource quantity')]
      : [],
  gitRepo: (source, field) => [
    ...needs<GitRepoVolumeSource>('repository')(source, field),
    ...checkLocalPath(source.directory ?? '', `${field}.directory`),
  ],
  secret: checkKeys('secretName'),
  configMap: checkKeys('name'),
  persistentVolumeClaim: needs('claimName'),
  downwardAPI: (source, field) => [
    ...validateFileMode(source, 'defaultMode', field),
    ...validateFieldFiles(source, field),
  ],
  projected: validateProjected,
  image: () => [],
  ephemeral: (source, field) => {
    const template = source.volumeClaimTemplate;
    const where = `${field}.volumeClaimTemplate`;
    if (!template) return [required(where)];
    return [
      ...validateTemplateMetadata(template.metadata, `${where}.metadata`),
      ...validateClaimSpec(template.spec, `${where}.spec`),
    ];
  },
};

/** Violations of the source of a volume; only the first one is validated. */
function validateSource(volume: Volume, where: string): Violation[] {
  const [first, ...others] = SOURCES.filter(source => volume[source]);
  if (first === undefined) return [required(where, 'must specify a volume type')];
  return [
    ...checkSource(CHECKS, volume, first, where),
    ...others.map(extra =>
      forbiddenField(`${where}.${extraSourceName(extra)}`, 'may not specify more than 1 volume type'),
    ),
  ];
}
