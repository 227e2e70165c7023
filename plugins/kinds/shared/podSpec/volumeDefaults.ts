import {
  ensureRecord,
  isAbsent,
  isRecord,
  recordAt,
  recordsAt,
  setDefault,
  stringAt,
  type UnknownRecord,
} from '../../../../core/model/record.js';

/** `latest` or no tag pulls always; everything else only when absent (spec, "Container": imagePullPolicy). */
export function pullPolicyFor(image: string): string {
  if (image === '' || image.includes('@')) return 'IfNotPresent';
  const tag = image.slice(image.lastIndexOf('/') + 1).split(':')[1] ?? 'latest';
  return tag === 'latest' ? 'Always' : 'IfNotPresent';
}

const VOLUME_DEFAULTS: { readonly [source: string]: (source: UnknownRecord) => void } = {
  secret: s => setDefault(s, 'defaultMode', 420),
  configMap: s => setDefault(s, 'defaultMode', 420),
  downwardAPI: s => {
    setDefault(s, 'defaultMode', 420);
    setDownwardDefaults(s);
  },
  projected: s => {
    setDefault(s, 'defaultMode', 420);
    for (const source of recordsAt(s, 'sources')) {
      const token = recordAt(source, 'serviceAccountToken');
      if (token) setDefault(token, 'expirationSeconds', 3600);
      const downward = recordAt(source, 'downwardAPI');
      if (downward) setDownwardDefaults(downward);
    }
  },
  hostPath: s => {
    if (isAbsent(s.type)) s.type = '';
  },
  iscsi: s => setDefault(s, 'iscsiInterface', 'default'),
  rbd: s => {
    setDefault(s, 'pool', 'rbd');
    setDefault(s, 'user', 'admin');
    setDefault(s, 'keyring', '/etc/ceph/keyring');
  },
  azureDisk: s => {
    setDefault(s, 'cachingMode', 'ReadWrite');
    setDefault(s, 'fsType', 'ext4');
    setDefault(s, 'readOnly', false);
    setDefault(s, 'kind', 'Shared');
  },
  scaleIO: s => {
    setDefault(s, 'storageMode', 'ThinProvisioned');
    setDefault(s, 'fsType', 'xfs');
  },
  ephemeral: s => {
    const claim = recordAt(s, 'volumeClaimTemplate', 'spec');
    if (claim) setDefault(claim, 'volumeMode', 'Filesystem');
  },
  image: () => undefined,
};

function setDownwardDefaults(source: UnknownRecord): void {
  for (const item of recordsAt(source, 'items')) {
    const field = recordAt(item, 'fieldRef');
    if (field) setDefault(field, 'apiVersion', 'v1');
    const resource = recordAt(item, 'resourceFieldRef');
    if (resource) setDefault(resource, 'divisor', '0');
  }
}

function setImageVolumeDefaults(image: UnknownRecord): void {
  setDefault(image, 'pullPolicy', pullPolicyFor(stringAt(image, 'reference')));
}

/** Fills a source that volumes and persistent volumes share; `member` names it. */
export function setVolumeSourceDefaults(member: string, source: UnknownRecord): void {
  if (member === 'image') setImageVolumeDefaults(source);
  else if (Object.hasOwn(VOLUME_DEFAULTS, member)) VOLUME_DEFAULTS[member]?.(source);
}

export function setVolumeDefaults(volume: UnknownRecord): void {
  const sources = Object.keys(volume).filter(key => key !== 'name' && isRecord(volume[key]));
  if (sources.length === 0) volume.emptyDir = {};
  for (const member of sources) setVolumeSourceDefaults(member, ensureRecord(volume, member));
}
