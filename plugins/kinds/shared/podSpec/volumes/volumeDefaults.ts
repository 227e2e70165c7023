import type { Quantity } from '../../../../../core/model/scalars.js';
import type { DownwardAPIVolumeFile, PersistentVolumeSpec, Volume } from '../../../../../kinds/v1.js';
import { setClaimSpecDefaults } from '../../volumes/claimSpec.js';
import { isAbsent, setDefault } from '../../../../../core/model/record.js';
import { setIfAbsent } from '../../values/defaults.js';

/** The default divisor of a reference to a resource: as in upstream, 0, which means 1. */
export const NO_DIVISOR = '0' as Quantity;

/** Sources of volumes of pods, and of persistent volumes, by name. */
type Sources = Required<Omit<Volume, 'name'> & PersistentVolumeSpec>;

const VOLUME_DEFAULTS: { readonly [Name in keyof Sources]?: (source: Sources[Name]) => void } = {
  secret: source => setDefault(source, 'defaultMode', 420),
  configMap: source => setDefault(source, 'defaultMode', 420),
  downwardAPI: source => {
    setDefault(source, 'defaultMode', 420);
    setDownwardDefaults(source);
  },
  projected: source => {
    setDefault(source, 'defaultMode', 420);
    for (const projection of source.sources ?? []) {
      const token = projection.serviceAccountToken;
      if (token) setDefault(token, 'expirationSeconds', 3600);
      const downward = projection.downwardAPI;
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
    setIfAbsent(source, 'cachingMode', 'ReadWrite');
    setIfAbsent(source, 'fsType', 'ext4');
    setDefault(source, 'readOnly', false);
    setIfAbsent(source, 'kind', 'Shared');
  },
  scaleIO: source => {
    setDefault(source, 'storageMode', 'ThinProvisioned');
    setDefault(source, 'fsType', 'xfs');
  },
  ephemeral: source => {
    const claim = source.volumeClaimTemplate?.spec;
    if (claim) setClaimSpecDefaults(claim);
  },
};

function setDownwardDefaults(source: { readonly items?: readonly DownwardAPIVolumeFile[] }): void {
  for (const item of source.items ?? []) {
    const field = item.fieldRef;
    if (field) setDefault(field, 'apiVersion', 'v1');
    const resource = item.resourceFieldRef;
    if (resource) setDefault(resource, 'divisor', NO_DIVISOR);
  }
}

/** Sets the defaults of the sources of a volume or a persistent volume. */
export function setVolumeSourceDefaults(owner: Omit<Volume, 'name'> | PersistentVolumeSpec): void {
  const set = <Name extends keyof Sources>(name: Name): void => {
    const source = (owner as Partial<Sources>)[name];
    if (source) VOLUME_DEFAULTS[name]?.(source);
  };
  for (const name of Object.keys(VOLUME_DEFAULTS) as (keyof Sources)[]) set(name);
}

/** A volume without a source is an empty directory. */
export function setVolumeDefaults(volume: Volume): void {
  const { name: _name, ...sources } = volume;
  if (Object.values(sources).every(isAbsent)) volume.emptyDir = {};
  setVolumeSourceDefaults(volume);
}
