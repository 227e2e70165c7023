/** Sources of volumes that are deprecated or removed, in the order of warnings. */
const OLD_SOURCES = [
  ['photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['gitRepo', 'deprecated in v1.11'],
  ['scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['flocker', 'deprecated in v1.22, non-functional in v1.25+'],
  ['storageos', 'deprecated in v1.22, non-functional in v1.25+'],
  ['quobyte', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['rbd', 'deprecated in v1.28, non-functional in v1.31+'],
] as const;

/** The sources of a volume that warnings are about. */
type OldSources = { readonly [Name in (typeof OLD_SOURCES)[number][0]]?: unknown };

/**
 * Warnings about deprecated or removed sources of a volume of a pod, or of the spec of a PersistentVolume, at `field`.
 */
export const sourceWarnings = (volume: OldSources, field: string): string[] =>
  OLD_SOURCES.filter(([source]) => volume[source]).map(
    ([source, why]) => `${field}.${source === 'storageos' ? 'storageOS' : source}: ${why}`,
  );
