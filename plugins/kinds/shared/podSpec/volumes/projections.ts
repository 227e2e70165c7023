import type {
  ConfigMapProjection,
  DownwardAPIVolumeFile,
  DownwardAPIVolumeSource,
  KeyToPath,
  ProjectedVolumeSource,
  SecretProjection,
  ServiceAccountTokenProjection,
  VolumeProjection,
} from '../../../../../kinds/v1.js';
import { forbiddenField, invalid, required, type Violation } from '../../../../../core/model/refusal.js';
import { checkLocalPath } from '../../volumes/volumeSources.js';
import { FILE_FIELDS, validateFieldRef, validateResourceFieldRef } from './fieldReferences.js';

/** Checks the permissions of a file, if set. */
export function validateFileMode<Member extends 'mode' | 'defaultMode'>(
  owner: { readonly [M in Member]?: number },
  member: Member,
  field: string,
): Violation[] {
  const mode: number | undefined = owner[member];
  return mode === undefined || (mode >= 0 && mode <= 0o777)
    ? []
    : [invalid(`${field}.${member}`, mode, 'must be a number between 0 and 0777 (octal), both inclusive')];
}

/** Checks the path of a file in a volume. Names that begin with `..` are used by node agents. */
const checkFilePath = (path: string, field: string): Violation[] => [
  ...checkLocalPath(path, field),
  ...(path.startsWith('..') && !path.startsWith('../') ? [invalid(field, path, "must not start with '..'")] : []),
];

const validateFilePath = (path: string, field: string): Violation[] =>
  path === '' ? [required(field)] : checkFilePath(path, field);

/** Violations of the keys of a Secret or ConfigMap with their files; `field` is the list. */
export const validateItems = (source: { readonly items?: readonly KeyToPath[] }, field: string): Violation[] =>
  (source.items ?? []).flatMap((item, i) => {
    const where = `${field}[${i}]`;
    return [
      ...(item.key === '' ? [required(`${where}.key`)] : []),
      ...validateFilePath(item.path, `${where}.path`),
      ...validateFileMode(item, 'mode', where),
    ];
  });

/** Violations of a file with a field of the pod. Upstream leaves the position of the file out of the field. */
function validateFieldFile(file: DownwardAPIVolumeFile, field: string): Violation[] {
  const [fieldRef, resource] = [file.fieldRef, file.resourceFieldRef];
  const found = [...validateFilePath(file.path, `${field}.path`), ...validateFileMode(file, 'mode', field)];
  if (fieldRef) {
    found.push(...validateFieldRef(fieldRef, `${field}.fieldRef`, FILE_FIELDS));
    if (resource)
      found.push(invalid(field, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously'));
  } else if (resource) found.push(...validateResourceFieldRef(resource, `${field}.resourceFieldRef`, true));
  else found.push(required(field, 'one of fieldRef and resourceFieldRef is required'));
  return found;
}

/** Violations of the files with fields of the pod. */
export const validateFieldFiles = (source: DownwardAPIVolumeSource, field: string): Violation[] =>
  (source.items ?? []).flatMap(file => validateFieldFile(file, field));

const SHORTEST_TOKEN = 600;

function validateToken(token: ServiceAccountTokenProjection, field: string, volume: string): Violation[] {
  const seconds = token.expirationSeconds ?? 0;
  const where = `${field}.expirationSeconds`;
  return [
    ...(seconds < SHORTEST_TOKEN ? [invalid(where, seconds, 'may not specify a duration less than 10 minutes')] : []),
    ...(seconds > 2 ** 32 ? [invalid(where, seconds, 'may not specify a duration larger than 2^32 seconds')] : []),
    ...validateFilePath(token.path, `${volume}.path`),
  ];
}

/**
 * Violations of a source at its field; `volume` is the field of the volume, which some messages have, and `repeat`
 * reports the paths of its files that another file has.
 */
type CheckProjection<Source> = (
  source: Source,
  field: string,
  volume: string,
  repeat: (path: string, shown: string) => Violation[],
) => Violation[];

const validateKeys: CheckProjection<SecretProjection | ConfigMapProjection> = (source, field, _, repeat) => [
  ...((source.name ?? '') === '' ? [required(`${field}.name`)] : []),
  ...validateItems(source, `${field}.items`),
  ...(source.items ?? []).flatMap(item => repeat(item.path, source.name ?? '')),
];

/** The projections that are checked. */
type Checked = Omit<VolumeProjection, 'clusterTrustBundle'>;

type ProjectionChecks<Name extends keyof Checked> = {
  readonly [N in Name]: CheckProjection<NonNullable<Checked[N]>>;
};

const PROJECTIONS: ProjectionChecks<keyof Checked> = {
  secret: validateKeys,
  configMap: validateKeys,
  downwardAPI: (source, field, _, repeat) =>
    (source.items ?? []).flatMap(file => [...validateFieldFile(file, field), ...repeat(file.path, file.path)]),
  serviceAccountToken: (source, field, volume) => validateToken(source, field, volume),
};

/** Violations of a volume with files of several sources. */
export function validateProjected(volume: ProjectedVolumeSource, field: string): Violation[] {
  const paths = new Set<string>();
  const repeat = (path: string, shown: string): Violation[] => {
    if (path === '') return [];
    const known = paths.has(path);
    paths.add(path);
    return known ? [invalid(field, shown, 'conflicting duplicate paths')] : [];
  };
  const check = <Name extends keyof Checked>(kind: Name, source: VolumeProjection, where: string): Violation[] => {
    const checks: ProjectionChecks<Name> = PROJECTIONS;
    return checks[kind](source[kind] as NonNullable<Checked[Name]>, `${where}.${kind}`, field, repeat);
  };
  return [
    ...validateFileMode(volume, 'defaultMode', field),
    ...(volume.sources ?? []).flatMap((source, i) => {
      const where = `${field}.sources[${i}]`;
      const kinds = (Object.keys(PROJECTIONS) as (keyof Checked)[]).filter(kind => source[kind]);
      return [
        ...kinds.flatMap(kind => check(kind, source, where)),
        ...(kinds.length > 1 ? [forbiddenField(where, 'may not specify more than 1 volume type per source')] : []),
      ];
    }),
  ];
}
