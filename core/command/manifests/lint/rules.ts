import { releasesBetween } from '../../../model/text/releases.js';
import { parseVersionName, stabilityRank } from '../../../schema/registry/versionNames.js';
import { type ApiKind, type ApiVersion, type Breach, isAlpha, isBefore, isStable, parentOf } from './api.js';
import { fieldChanges } from './changes.js';

/**
 * The rules of the deprecation policy for versions of a kind (spec, "Deprecation policy: rules"). Periods in months
 * cannot be checked, only those in releases.
 */

/** The largest number of releases before a beta version is deprecated, and the smallest number after that. */
const BETA_RELEASES = 3;

const breach = (rule: string, field: string, message: string, fix: string): Breach => ({ rule, field, message, fix });

const servedVersions = ({ versions }: ApiKind): readonly ApiVersion[] => versions.filter(({ isServed }) => isServed);

/** Whether a version is deprecated in a major version and removed in a later one. */
const endsWithMajor = ({ deprecatedIn, removedIn }: ApiVersion): boolean =>
  deprecatedIn !== undefined && removedIn !== undefined && releasesBetween(deprecatedIn, removedIn) === Infinity;

/** Rule 4a: how long versions must be supported. */
function lifeBreaches(version: ApiVersion): Breach[] {
  const { name, field, introducedIn, deprecatedIn, removedIn } = version;
  if (isAlpha(version)) return [];
  const found: Breach[] = [];
  if (introducedIn !== undefined && deprecatedIn !== undefined && !isStable(version)) {
    const lived = releasesBetween(introducedIn, deprecatedIn);
    if (lived > BETA_RELEASES)
      found.push(
        breach(
          '4a',
          field,
          `${name} is deprecated ${lived} releases after ${introducedIn}, which introduced it`,
          `deprecate it within ${BETA_RELEASES} releases`,
        ),
      );
  }
  if (removedIn === undefined) return found;
  if (isStable(version) && !endsWithMajor(version))
    return [
      ...found,
      breach('4a', field, `${name} is stable, and ends in ${removedIn}`, 'keep it in this major version'),
    ];
  if (deprecatedIn !== undefined && releasesBetween(deprecatedIn, removedIn) < BETA_RELEASES)
    found.push(
      breach(
        '4a',
        field,
        `${name} ends in ${removedIn}, less than ${BETA_RELEASES} releases after ${deprecatedIn}, which deprecates it`,
        'let it end later',
      ),
    );
  return found;
}

/** Rule 3: a deprecated version or field needs a replacement that is at least as stable. */
function replacementBreaches(kind: ApiKind): Breach[] {
  const lasting = servedVersions(kind).filter(({ isDeprecated }) => !isDeprecated);
  return servedVersions(kind)
    .filter(({ isDeprecated }) => isDeprecated)
    .filter(({ name }) => !lasting.some(other => stabilityRank(other.name) >= stabilityRank(name)))
    .map(({ name, field }) =>
      breach(
        '3',
        `${field}.deprecated`,
        `${name} is deprecated, and no version that is as stable stays`,
        'serve a version that is as stable before you deprecate this one',
      ),
    );
}

/**
 * Rule 2: if versions differ only in their names, a field of one must be in all others. The first version that lacks it
 * is reported.
 */
function roundTripBreaches(kind: ApiKind): Breach[] {
  if (!kind.convertsByName) return [];
  const versions = servedVersions(kind);
  return versions.flatMap(version =>
    [...version.fields].flatMap(([path, { type }]) => {
      const other = versions.find(one => isLost(path, type, one));
      if (!other) return [];
      const there = other.fields.get(path)?.type;
      return [
        breach(
          '2',
          version.fieldPath(path),
          `${path} is ${type} in ${version.name}, and ${there ?? 'absent'} in ${other.name}: it is lost on the way`,
          'give it to all versions, or convert with a webhook',
        ),
      ];
    }),
  );
}

/**
 * Whether a version loses a field of another one. If a field is lost together with those below it, only this field is
 * reported.
 */
function isLost(path: string, type: string, { fields }: ApiVersion): boolean {
  const parent = fields.get(parentOf(path));
  return fields.get(path)?.type !== type && parent?.isOpen === false;
}

/** Breaches that can be found in a definition alone. */
export function kindBreaches(kind: ApiKind): Breach[] {
  const stored = kind.versions.filter(({ isStored }) => isStored);
  return [
    ...kind.versions
      .filter(({ name }) => parseVersionName(name) === undefined)
      .map(({ name, field }) =>
        breach('4a', `${field}.name`, `${name} does not say how stable it is`, 'name it as v1, v1beta1 or v1alpha1'),
      ),
    ...(stored.length === 1
      ? []
      : [breach('4b', 'spec.versions', `${stored.length} versions are stored`, 'set storage: true on exactly one')]),
    ...kind.versions.flatMap(lifeBreaches),
    ...replacementBreaches(kind),
    ...roundTripBreaches(kind),
  ];
}

/** Rule 4a: which versions may be removed. */
function removalBreaches(old: ApiKind, kind: ApiKind): Breach[] {
  return servedVersions(old).flatMap(version => {
    const now = kind.versions.find(({ name }) => name === version.name);
    if (now?.isServed || isAlpha(version)) return [];
    const field = now ? `${now.field}.served` : 'spec.versions';
    if (isStable(version) && endsWithMajor(version)) return [];
    if (isStable(version))
      return [breach('4a', field, `${version.name} is stable, and is not served any more`, 'serve it again')];
    if (version.isDeprecated) return [];
    return [
      breach(
        '4a',
        field,
        `${version.name} is not served any more, and was not deprecated before`,
        `serve it with deprecated: true for ${BETA_RELEASES} releases`,
      ),
    ];
  });
}

/** Objects may be stored in a version that was the stored one: it must stay known. */
function storedBreaches(old: ApiKind, kind: ApiKind): Breach[] {
  const before = old.versions.find(({ isStored }) => isStored);
  const now = kind.versions.find(({ isStored }) => isStored);
  if (!before || !now || before.name === now.name) return [];
  const found: Breach[] = [];
  const inOld = old.versions.find(({ name }) => name === now.name);
  if (!isAlpha(before) && !inOld?.isServed)
    found.push(
      breach(
        '4b',
        `${now.field}.storage`,
        `${now.name} is stored at once: the release before cannot read it after a rollback`,
        `store ${before.name} in the first release that serves ${now.name}`,
      ),
    );
  if (!kind.versions.some(({ name }) => name === before.name))
    found.push(
      breach(
        '4b',
        'spec.versions',
        `${before.name} is gone, and objects may be stored in it`,
        `keep it with served: false until a migration has removed it from status.storedVersions`,
      ),
    );
  return found;
}

/** A new version must not be less stable than an existing one of the same number. */
function orderBreaches(old: ApiKind, kind: ApiKind): Breach[] {
  return kind.versions
    .filter(({ name }) => !old.versions.some(one => one.name === name))
    .flatMap(version => {
      const stable = servedVersions(old).find(other => isBefore(version, other));
      if (!stable) return [];
      const message = `${version.name} is added after ${stable.name}, which is stable`;
      return [breach('3', `${version.field}.name`, message, 'give it a higher number')];
    });
}

/** Changes of a kind that break its objects and clients in all versions. */
function identityBreaches(old: ApiKind, kind: ApiKind): Breach[] {
  return (['kind', 'scope'] as const)
    .filter(member => old[member] !== kind[member])
    .map(member =>
      breach(
        '1',
        member === 'kind' ? 'spec.names.kind' : 'spec.scope',
        `was ${old[member]}, and is ${kind[member]}`,
        'define another kind, and keep this one',
      ),
    );
}

/** Breaches that can be found by comparing a definition with that of the previous release. */
export function changeBreaches(old: ApiKind, kind: ApiKind): Breach[] {
  const sameVersions = servedVersions(old).flatMap(before => {
    const now = servedVersions(kind).find(({ name }) => name === before.name);
    return now && !isAlpha(now) ? [[before, now] as const] : [];
  });
  return [
    ...identityBreaches(old, kind),
    ...removalBreaches(old, kind),
    ...storedBreaches(old, kind),
    ...orderBreaches(old, kind),
    ...sameVersions.flatMap(([before, now]) => fieldChanges(before, now)),
  ];
}
