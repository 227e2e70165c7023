import { setClaimSpecDefaults } from '../claimSpec.js';
import {
  ensureRecord,
  isAbsent,
  isRecord,
  recordAt,
  recordsAt,
  setDefault,
  type UnknownRecord,
} from '../../../../core/model/record.js';

const VOLUME_DEFAULTS: { readonly [source: string]: (source: UnknownRecord) => void } = {
  secret: source => setDefault(source, 'defaultMode', 420),
  configMap: source => setDefault(source, 'defaultMode', 420),
  downwardAPI: source => {
    setDefault(source, 'defaultMode', 420);
    setDownwardDefaults(source);
  },
  projected: source => {
    setDefault(source, 'defaultMode', 420);
    for (const projection of recordsAt(source, 'sources')) {
      const token = recordAt(projection, 'serviceAccountToken');
      if (token) setDefault(token, 'expirationSeconds', 3600);
      const downward = recordAt(projection, 'downwardAPI');
      if (downward) setDownwardDefaults(downward);
    }
  },
  hostPath: source => {
    if (isAbsent(source.type)) source.type = '';
  },
  iscsi: source => setDefault(source, 'iscsiInterface', 'default'),
  rbd: source => {
    setDefault(source, 'pool', 'rbd');
    setDefault(source, 'user', 'admin');
    setDefault(source, 'keyring', '/etc/ceph/keyring');
  },
  azureDisk: source => {
    setDefault(source, 'cachingMode', 'ReadWrite');
    setDefault(source, 'fsType', 'ext4');
    setDefault(source, 'readOnly', false);
    setDefault(source, 'kind', 'Shared');
  },
  scaleIO: source => {
    setDefault(source, 'storageMode', 'ThinProvisioned');
    setDefault(source, 'fsType', 'xfs');
  },
  ephemeral: source => {
    const claim = recordAt(source, 'volumeClaimTemplate', 'spec');
    if (claim) setClaimSpecDefaults(claim);
  },
};

function setDownwardDefaults(source: UnknownRecord): void {
  for (const item of recordsAt(source, 'items')) {
    const field = recordAt(item, 'fieldRef');
    if (field) setDefault(field, 'apiVersion', 'v1');
    const resource = recordAt(item, 'resourceFieldRef');
    if (resource) setDefault(resource, 'divisor', '0');
  }
}

/** Sets the defaults of a source of a volume or a persistent volume; `member` is its name. */
export function setVolumeSourceDefaults(member: string, source: UnknownRecord): void {
  if (Object.hasOwn(VOLUME_DEFAULTS, member)) VOLUME_DEFAULTS[member]?.(source);
}

/** A volume without a source is an empty directory. */
export function setVolumeDefaults(volume: UnknownRecord): void {
  const sources = Object.keys(volume).filter(key => key !== 'name' && isRecord(volume[key]));
  if (sources.length === 0) volume.emptyDir = {};
  for (const member of sources) setVolumeSourceDefaults(member, ensureRecord(volume, member));
}
