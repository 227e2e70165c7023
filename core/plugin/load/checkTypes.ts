import { ConfigError } from '../../api/point.js';
import type { ResourceType, ResourceVersion } from '../../api/resource.js';
import { dns1123Label } from '../../model/names.js';
import { forbiddenField, invalid, type Violation } from '../../model/refusal.js';
import type { Naming } from '../../naming.js';
import { isLater, isRelease } from '../../model/text/releases.js';
import { loadEngine } from '../../schema/custom/engine.js';
import { nameProblems } from '../../schema/custom/kind.js';
import { isServed } from '../../schema/custom/releases.js';
import { structuralViolations } from '../../schema/custom/structural/structural.js';
import {
  columnViolations,
  scaleViolations,
  selectableFieldViolations,
} from '../../schema/custom/structural/versionParts.js';
import { stabilityOf, stabilityRank } from '../../schema/registry/versionNames.js';
import { groupRows } from '../../schema/table/resources.js';

/** Members of a strategy that only built-in kinds have, with the member that replaces them in custom types. */
const BUILT_IN_ONLY: ReadonlyMap<string, string> = new Map([
  ['hasStatus', 'give subresources.status to the versions that have a status'],
  ['scale', 'give subresources.scale to the versions that can be scaled'],
  ['actions', 'is for built-in kinds: use subresources'],
  ['answers', 'is for built-in kinds: use subresources'],
  ['review', 'is for built-in kinds: omit it'],
  ['actsOn', 'is for built-in kinds: use subresources'],
  ['connections', 'is for built-in kinds: omit it'],
]);

/** Names that subresources of the strategy must not have, because they are declared with the versions. */
const DEFINED_SUBRESOURCES = new Set(['status', 'scale']);

function strategyViolations({ strategy }: ResourceType): Violation[] {
  if (!strategy) return [];
  const names = [...(strategy.subresources?.keys() ?? [])];
  return [
    ...Object.keys(strategy).flatMap(member => {
      const advice = BUILT_IN_ONLY.get(member);
      return advice === undefined ? [] : [forbiddenField(`strategy.${member}`, advice)];
    }),
    ...names.flatMap(name => dns1123Label(name).map(why => invalid('strategy.subresources', name, why))),
    ...names
      .filter(name => DEFINED_SUBRESOURCES.has(name))
      .map(name => forbiddenField('strategy.subresources', `${name} is given by the subresources of the versions`)),
  ];
}

/** The names of a type, which must be unique in its group. */
const namesOf = ({ group, plural, kind }: Pick<ResourceType, 'group' | 'plural' | 'kind'>): string[] =>
  [plural, kind].map(name => `${group}/${name}`);

/** Group and name of every built-in resource and kind, in the naming of the server. */
function builtInNames(naming: Naming): string[] {
  return groupRows().flatMap(({ name, versions }) =>
    versions.flatMap(({ resources }) =>
      resources.flatMap(({ plural, kind }) => namesOf({ group: naming.group(name), plural, kind })),
    ),
  );
}

function versionViolations({
  name,
  schema,
  subresources,
  columns = [],
  selectableFields = [],
}: ResourceVersion): Violation[] {
  const base = `versions[${name}]`;
  return [
    ...structuralViolations(schema, `${base}.schema`),
    ...scaleViolations(subresources?.scale, `${base}.subresources.scale`),
    ...columnViolations(columns, `${base}.columns`),
    ...selectableFieldViolations(selectableFields, schema, `${base}.selectableFields`),
  ];
}

/** Violations in the deprecation of a version (spec, "Deprecation policy: rules"). */
function deprecationViolations(type: ResourceType, version: ResourceVersion): Violation[] {
  const { name, deprecated, removedIn, replacedBy } = version;
  const at = (member: string): string => `versions[${name}].${member}`;
  if (deprecated === undefined)
    return (
      (['removedIn', 'replacedBy'] as const)
        // Alpha versions may be removed without having been deprecated.
        .filter(member => version[member] !== undefined && !(member === 'removedIn' && stabilityOf(name) === 'alpha'))
        .map(member => forbiddenField(at(member), 'is for versions that are deprecated: give deprecated, too'))
    );
  const found: Violation[] = [];
  for (const [member, value] of Object.entries({ deprecated, removedIn }))
    if (value !== undefined && !isRelease(value)) found.push(invalid(at(member), value, 'must be a release, as 1.4'));
  if (removedIn !== undefined && found.length === 0 && !isLater(removedIn, deprecated))
    found.push(invalid(at('removedIn'), removedIn, `must be after ${deprecated}, in which it is deprecated`));
  if (replacedBy === undefined) return found;
  const [group, other = ''] = replacedBy.split('/');
  const isOwn = group === type.group;
  if (
    isOwn &&
    isServed(type, version) &&
    (other === name || !type.versions.some(one => one.name === other && isServed(type, one)))
  )
    found.push(invalid(at('replacedBy'), replacedBy, 'must be another version that is served'));
  else if (stabilityRank(other) < stabilityRank(name))
    found.push(invalid(at('replacedBy'), replacedBy, `must not be less stable than ${name}`));
  return found;
}

/**
 * Violations of preferences: one version of a group can be preferred. `preferred` contains those of the previous types.
 */
function preferenceViolations({ group, versions }: ResourceType, preferred: Map<string, string>): Violation[] {
  return versions
    .filter(version => version.preferred)
    .flatMap(({ name }) => {
      const before = preferred.get(group);
      preferred.set(group, name);
      if (before === undefined || before === name) return [];
      return [forbiddenField(`versions[${name}].preferred`, `${group} prefers ${before}: omit one of them`)];
    });
}

/** Violations of the release of a type: its storage version must be served in it. */
function releaseViolations(type: ResourceType): Violation[] {
  const { release, versions } = type;
  if (release === undefined) return [];
  if (!isRelease(release)) return [invalid('release', release, 'must be a release, as 1.4')];
  return versions
    .filter(version => version.storage && version.served && !isServed(type, version))
    .map(({ name, removedIn }) =>
      forbiddenField(
        `versions[${name}].removedIn`,
        `release ${release} stores objects in this version, which ${removedIn} removes: store another one`,
      ),
    );
}

/** Throws ConfigError for the first resource type that cannot be served, with all its problems. */
export async function checkTypes(types: readonly ResourceType[], naming: Naming): Promise<void> {
  if (types.length === 0) return;
  await loadEngine();
  const taken = new Set(builtInNames(naming));
  const preferred = new Map<string, string>();
  for (const type of types) {
    const found = type.versions.flatMap(version => [
      ...versionViolations(version),
      ...deprecationViolations(type, version),
    ]);
    found.push(...releaseViolations(type), ...preferenceViolations(type, preferred));
    if (type.versions.filter(version => version.storage).length !== 1)
      found.push(invalid('versions', type.versions.length, 'must have exactly one version marked as storage version'));
    for (const { field, message } of nameProblems(type)) found.push(invalid(field, type[field], message));
    for (const name of namesOf(type))
      if (taken.has(name)) found.push(forbiddenField('names', `${name} is the name of another type`));
    for (const name of namesOf(type)) taken.add(name);
    found.push(...strategyViolations(type));
    if (found.length > 0)
      throw new ConfigError(
        `resources[${type.plural}.${type.group}]`,
        found.map(({ field, message }) => `${field}: ${message}`).join('; '),
      );
  }
}

/** Types of the settings are sent to the threads as JSON. */
export function checkJson(types: readonly ResourceType[]): void {
  for (const type of types) {
    const code = (['validate', 'strategy'] as const).find(member => type[member]);
    if (code)
      throw new ConfigError(
        `resources[${type.plural}.${type.group}].${code}`,
        'functions cannot be sent to other threads: contribute the type with resourceType.of(() => type) in a plugin',
      );
  }
}
