import type { StrategyContext } from '../../../../../core/api/strategy.js';
import type { PodSpec, ProjectedVolumeSource, Volume, VolumeProjection } from '../../../../../kinds/v1.js';

/** A file of a volume; `source` is the source of a projected volume in messages. */
interface FilePath {
  readonly path: string;
  readonly source: string;
}

/** A source of a volume whose items are files. */
interface FileSource {
  readonly items?: readonly { readonly path: string }[];
}

const shown = ({ path, source }: FilePath): string => JSON.stringify(path) + (source === '' ? '' : ` (${source})`);

const overlap = (a: string, b: string): boolean => a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`);

/** Largest number of warnings. Clients see fewer: the warnings of an answer are limited in size. */
const MOST_WARNINGS = 200;

/** The paths of files as a tree, in which the files that a path overlaps are found in time linear in its length. */
class PathTree {
  /** Ids of nodes by the id of their parent and their name. */
  readonly #nodes = new Map<string, number>();
  readonly #files = new Set<number>();
  readonly #folders = new Set<number>();

  /** Adds a path. Returns whether it is equal to an earlier one, leads through it, or is a folder of it. */
  add(path: string): boolean {
    let isOverlapping = false;
    let node = 0;
    for (const name of path.split('/')) {
      this.#folders.add(node);
      const key = `${node}/${name}`;
      node = this.#nodes.get(key) ?? this.#nodes.size + 1;
      this.#nodes.set(key, node);
      isOverlapping ||= this.#files.has(node);
    }
    isOverlapping ||= this.#folders.has(node);
    this.#files.add(node);
    return isOverlapping;
  }
}

/** The files of a volume, and warnings about those whose paths are equal to others, or lead through them. */
class Files {
  readonly warnings: string[] = [];
  readonly #files: FilePath[] = [];
  readonly #tree = new PathTree();

  /** `volume` begins the warnings. */
  constructor(private readonly volume: string) {}

  add(files: readonly FilePath[]): void {
    for (const file of files) {
      if (this.warnings.length >= MOST_WARNINGS) return;
      if (this.#tree.add(file.path)) this.#warnAbout(file);
      this.#files.push(file);
    }
  }

  #warnAbout(file: FilePath): void {
    for (const other of this.#files)
      if (overlap(file.path, other.path) && this.warnings.length < MOST_WARNINGS)
        this.warnings.push(`${this.volume}: overlapping paths: ${shown(file)} with ${shown(other)}`);
  }
}

/** Warnings about the files of a volume whose source is one object. */
function overlapWarnings(source: FileSource, volume: string): string[] {
  const files = new Files(volume);
  files.add(itemPaths(source, ''));
  return files.warnings;
}

const itemPaths = (source: FileSource, name: string): FilePath[] =>
  (source.items ?? []).map(({ path }) => ({ path, source: name }));

/**
 * The paths of a source of a projected volume; `previous` if it selects all keys of an object, whose names are unknown.
 * `isEmptied`: an empty list of items was sent, which selects no keys.
 */
function pathsOf(
  source: VolumeProjection,
  previous: readonly FilePath[],
  isEmptied: boolean,
): readonly FilePath[] | undefined {
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
    return paths.length > 0 || isEmptied ? paths : previous;
  }
  return undefined;
}

/** Like upstream, compares the files of the previous source again if a source does not say which files it has. */
function projectedWarnings(
  volume: Volume,
  projected: ProjectedVolumeSource,
  emptied: ReadonlySet<number> | undefined,
): string[] {
  const name = `volume ${JSON.stringify(volume.name)} (Projected)`;
  const files = new Files(name);
  let previous: readonly FilePath[] = [];
  for (const [i, source] of (projected.sources ?? []).entries()) {
    const paths = pathsOf(source, previous, emptied?.has(i) === true);
    if (!paths) {
      files.warnings.push(`${name} has no sources provided`);
      continue;
    }
    previous = paths;
    files.add(paths);
  }
  return files.warnings;
}

/**
 * The sources of projected volumes that were sent with an empty list of items: their indexes, by the index of the
 * volume. `at` is the place of the pod's spec in the object.
 */
function emptiedSources({ eachEmptied }: StrategyContext, at: string): ReadonlyMap<number, ReadonlySet<number>> {
  const found = new Map<number, Set<number>>();
  const depth = at.split('.').length;
  eachEmptied?.(place => {
    const [volumes, volume, projected, sources, source, , items] = place.slice(depth);
    if (volumes !== 'volumes' || projected !== 'projected' || sources !== 'sources' || items !== 'items') return;
    if (place.slice(0, depth).join('.') !== at) return;
    const within = found.get(Number(volume)) ?? new Set();
    found.set(Number(volume), within.add(Number(source)));
  });
  return found;
}

/** Warnings about files of volumes with overlapping paths. `field`: that of the pod's spec. */
export function pathWarnings(pod: PodSpec, field: string, context: StrategyContext): string[] {
  const emptied = pod.volumes ? emptiedSources(context, field) : undefined;
  return (pod.volumes ?? []).flatMap((volume, i) => {
    const name = `volume ${JSON.stringify(volume.name)}`;
    const { secret, configMap: config, downwardAPI: fields, projected } = volume;
    if (secret) return overlapWarnings(secret, `${name} (Secret ${JSON.stringify(secret.secretName ?? '')})`);
    if (config) return overlapWarnings(config, `${name} (ConfigMap ${JSON.stringify(config.name ?? '')})`);
    if (fields) return overlapWarnings(fields, `${name} (DownwardAPI)`);
    return projected ? projectedWarnings(volume, projected, emptied?.get(i)) : [];
  });
}
