import { recordAt, recordsAt, stringAt, type UnknownRecord } from '../../../../core/model/record.js';

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

const itemPaths = (source: unknown, name: string): FilePath[] =>
  recordsAt(source, 'items').map(item => ({ path: stringAt(item, 'path'), source: name }));

/** The paths of a source of a projected volume. `previous` if it has all keys of an object, whose names are unknown. */
function pathsOf(source: UnknownRecord, previous: readonly FilePath[]): readonly FilePath[] | undefined {
  const token = recordAt(source, 'serviceAccountToken');
  if (token) return [{ path: stringAt(token, 'path'), source: 'ServiceAccountToken' }];
  if (recordAt(source, 'downwardAPI')) return itemPaths(source.downwardAPI, 'DownwardAPI');
  for (const [member, word] of [
    ['configMap', 'ConfigMap'],
    ['secret', 'Secret'],
  ] as const) {
    const object = recordAt(source, member);
    if (!object) continue;
    const paths = itemPaths(object, `${word} ${JSON.stringify(stringAt(object, 'name'))}`);
    return paths.length > 0 ? paths : previous;
  }
  return undefined;
}

/** Like upstream, compares the files of the source before again if a source does not say which files it has. */
function projectedWarnings(volume: UnknownRecord, projected: UnknownRecord): string[] {
  const name = `volume ${JSON.stringify(stringAt(volume, 'name'))} (Projected)`;
  const known: FilePath[] = [];
  let previous: readonly FilePath[] = [];
  return recordsAt(projected, 'sources').flatMap(source => {
    const paths = pathsOf(source, previous);
    if (!paths) return [`${name} has no sources provided`];
    previous = paths;
    const found = overlapWarnings(paths, known, name);
    known.push(...paths);
    return found;
  });
}

/** Warnings about files of volumes with overlapping paths. */
export const pathWarnings = (pod: UnknownRecord): string[] =>
  recordsAt(pod, 'volumes').flatMap(volume => {
    const name = `volume ${JSON.stringify(stringAt(volume, 'name'))}`;
    const [secret, config, fields, projected] = ['secret', 'configMap', 'downwardAPI', 'projected'].map(member =>
      recordAt(volume, member),
    );
    if (secret)
      return overlapWarnings(
        itemPaths(secret, ''),
        [],
        `${name} (Secret ${JSON.stringify(stringAt(secret, 'secretName'))})`,
      );
    if (config)
      return overlapWarnings(
        itemPaths(config, ''),
        [],
        `${name} (ConfigMap ${JSON.stringify(stringAt(config, 'name'))})`,
      );
    if (fields) return overlapWarnings(itemPaths(fields, ''), [], `${name} (DownwardAPI)`);
    return projected ? projectedWarnings(volume, projected) : [];
  });
