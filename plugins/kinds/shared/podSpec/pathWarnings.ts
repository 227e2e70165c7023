import type { PodSpec, ProjectedVolumeSource, Volume, VolumeProjection } from '../../../../kinds/v1.js';

/** A file of a volume; `source` says in messages what a projected volume takes it from. */
interface FilePath {
  readonly path: string;
  readonly source: string;
}

const shown = ({ path, source }: FilePath): string => JSON.stringify(path) + (source === '' ? '' : ` (${source})`);

const overlap = (a: string, b: string): boolean => a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`);

/** Warnings about files whose paths are equal to others, or lead through them. */
const overlapWarnings = (files: readonly FilePath[], known: readonly FilePath[], volume: string): string[] =>
  files.flatMap((file, i) =>
    [...known, ...files.slice(0, i)]
      .filter(other => overlap(file.path, other.path))
      .map(other => `${volume}: overlapping paths: ${shown(file)} with ${shown(other)}`),
  );

const itemPaths = (source: { readonly items?: readonly { readonly path: string }[] }, name: string): FilePath[] =>
  (source.items ?? []).map(({ path }) => ({ path, source: name }));

/** The paths of a source of a projected volume. `previous` if it has all keys of an object, whose names are unknown. */
function pathsOf(source: VolumeProjection, previous: readonly FilePath[]): readonly FilePath[] | undefined {
  const token = source.serviceAccountToken;
  if (token) return [{ path: token.path, source: 'ServiceAccountToken' }];
  if (source.downwardAPI) return itemPaths(source.downwardAPI, 'DownwardAPI');
  for (const [member, word] of [
    ['configMap', 'ConfigMap'],
    ['secret', 'Secret'],
  ] as const) {
    const object = source[member];
    if (!object) continue;
    const paths = itemPaths(object, `${word} ${JSON.stringify(object.name ?? '')}`);
    return paths.length > 0 ? paths : previous;
  }
  return undefined;
}

/** Like upstream, compares the files of the source before again if a source does not say which files it has. */
function projectedWarnings(volume: Volume, projected: ProjectedVolumeSource): string[] {
  const name = `volume ${JSON.stringify(volume.name)} (Projected)`;
  const known: FilePath[] = [];
  let previous: readonly FilePath[] = [];
  return (projected.sources ?? []).flatMap(source => {
    const paths = pathsOf(source, previous);
    if (!paths) return [`${name} has no sources provided`];
    previous = paths;
    const found = overlapWarnings(paths, known, name);
    known.push(...paths);
    return found;
  });
}

/** Warnings about files of volumes with overlapping paths. */
export const pathWarnings = (pod: PodSpec): string[] =>
  (pod.volumes ?? []).flatMap(volume => {
    const name = `volume ${JSON.stringify(volume.name)}`;
    const { secret, configMap: config, downwardAPI: fields, projected } = volume;
    if (secret)
      return overlapWarnings(itemPaths(secret, ''), [], `${name} (Secret ${JSON.stringify(secret.secretName ?? '')})`);
    if (config)
      return overlapWarnings(itemPaths(config, ''), [], `${name} (ConfigMap ${JSON.stringify(config.name ?? '')})`);
    if (fields) return overlapWarnings(itemPaths(fields, ''), [], `${name} (DownwardAPI)`);
    return projected ? projectedWarnings(volume, projected) : [];
  });
