import { dns1123Label, dns1123Subdomain } from '../../../../core/model/names.js';
import { compareQuantities, quantityOf, ZERO_QUANTITY } from '../../../../core/model/quantity.js';
import {
  entriesAt,
  isAbsent,
  recordAt,
  recordsAt,
  stringAt,
  type UnknownRecord,
} from '../../../../core/model/record.js';
import { duplicate, forbiddenField, invalid, required, type Violation } from '../../../../core/model/refusal.js';
import { validateClaimSpec } from '../claimSpec.js';
import { validateAnnotations, validateLabels } from '../labels.js';
import { toViolations } from '../violations.js';
import {
  checkLocalPath,
  type CheckSource,
  extraSourceName,
  iscsiNameComplaints,
  needs,
  SHARED_SOURCES,
} from '../volumeSources.js';
import { validateFieldFiles, validateFileMode, validateItems, validateProjected } from './projections.js';

/** A named volume claims storage in the name of its pod; `podName` is empty if the pod has no name yet. */
function validateUse(volume: UnknownRecord, name: string, where: string, podName: string): Violation[] {
  const found: Violation[] = [];
  found.push(...toViolations(`${where}.name`, name, iscsiNameComplaints(recordAt(volume, 'iscsi'), name)));
  if (podName !== '' && name !== '' && recordAt(volume, 'ephemeral')) {
    const claim = `${podName}-${name}`;
    const text = `PVC name ${JSON.stringify(claim)}: `;
    found.push(...dns1123Subdomain(claim).map(why => invalid(`${where}.name`, name, text + why)));
  }
  return found;
}

/** Violations of each volume, in the order of the volumes. */
export function validateVolumes(pod: UnknownRecord, field: string, podName: string): Violation[][] {
  const names = new Set<string>();
  return recordsAt(pod, 'volumes').map((volume, i) => {
    const where = `${field}.volumes[${i}]`;
    const found = [...validateSource(volume, where), ...validateUse(volume, stringAt(volume, 'name'), where, podName)];
    const name = stringAt(volume, 'name');
    if (name === '') found.push(required(`${where}.name`));
    else found.push(...toViolations(`${where}.name`, name, dns1123Label(name)));
    if (names.has(name)) found.push(duplicate(`${where}.name`, name));
    if (found.length === 0) names.add(name);
    return found;
  });
}

/** The sources of a volume in the order in which the first one counts. */
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
];

const checkKeys =
  (name: string): CheckSource =>
  (source, field) => [
    ...needs(name)(source, field),
    ...validateFileMode(source, 'defaultMode', field),
    ...validateItems(source, `${field}.items`),
  ];

/** A template has labels and annotations, and no other metadata. */
function validateTemplateMetadata(metadata: UnknownRecord | undefined, field: string): Violation[] {
  return [
    ...validateLabels(entriesAt(metadata, 'labels'), `${field}.labels`),
    ...validateAnnotations(metadata, `${field}.annotations`),
    ...entriesAt(metadata)
      .filter(([member, value]) => !['labels', 'annotations'].includes(member) && !isAbsent(value) && value !== '')
      .map(([member]) => forbiddenField(`${field}.${member}`, 'cannot be set')),
  ];
}

/** The sources that only pods have. */
const POD_SOURCES: Readonly<Record<string, CheckSource>> = {
  emptyDir: (source, field) =>
    compareQuantities(quantityOf(source.sizeLimit), ZERO_QUANTITY) < 0
      ? [forbiddenField(`${field}.sizeLimit`, 'SizeLimit field must be a valid resource quantity')]
      : [],
  gitRepo: (source, field) => [
    ...needs('repository')(source, field),
    ...checkLocalPath(stringAt(source, 'directory'), `${field}.directory`),
  ],
  secret: checkKeys('secretName'),
  configMap: checkKeys('name'),
  persistentVolumeClaim: needs('claimName'),
  downwardAPI: (source, field) => [
    ...validateFileMode(source, 'defaultMode', field),
    ...validateFieldFiles(source, field),
  ],
  projected: validateProjected,
  ephemeral: (source, field) => {
    const template = recordAt(source, 'volumeClaimTemplate');
    const where = `${field}.volumeClaimTemplate`;
    if (!template) return [required(where)];
    return [
      ...validateTemplateMetadata(recordAt(template, 'metadata'), `${where}.metadata`),
      ...validateClaimSpec(recordAt(template, 'spec') ?? {}, `${where}.spec`),
    ];
  },
};

/** Violations of the source of a volume; only the first one is validated. */
function validateSource(volume: UnknownRecord, where: string): Violation[] {
  const [first, ...others] = SOURCES.filter(source => recordAt(volume, source));
  if (first === undefined) return [required(where, 'must specify a volume type')];
  const check = POD_SOURCES[first] ?? SHARED_SOURCES[first];
  return [
    ...(check?.(recordAt(volume, first)!, `${where}.${first}`) ?? []),
    ...others.map(extra =>
      forbiddenField(`${where}.${extraSourceName(extra)}`, 'may not specify more than 1 volume type'),
    ),
  ];
}
