import { ConfigError } from '../../api/point.js';
import type { ResourceType, ResourceVersion } from '../../api/resource.js';
import { dns1123Label } from '../../model/names.js';
import { forbiddenField, invalid, type Violation } from '../../model/refusal.js';
import type { Naming } from '../../naming.js';
import { loadEngine } from '../../schema/custom/engine.js';
import { nameProblems } from '../../schema/custom/kind.js';
import { structuralViolations } from '../../schema/custom/structural/structural.js';
import {
  columnViolations,
  scaleViolations,
  selectableFieldViolations,
} from '../../schema/custom/structural/versionParts.js';
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

const RELEASE = /^\d{1,9}\.\d{1,9}$/;
const STABILITY = /^v\d+(alpha|beta)?/;
/** From the least stable to the most stable. */
const STABILITIES = ['alpha', 'beta', undefined];

const stabilityOf = (version: string): number => STABILITIES.indexOf(STABILITY.exec(version)?.[1]);

function isLater(release: string, other: string): boolean {
  const [[major = 0, minor = 0], [otherMajor = 0, otherMinor = 0]] = [release, other].map(one =>
    one.split('.').map(Number),
  ) as [number[], number[]];
  return major === otherMajor ? minor > otherMinor : major > otherMajor;
}

/** Violations of what a version says of its deprecation (spec, "Deprecation policy: rules"). */
function deprecationViolations(type: ResourceType, version: ResourceVersion): Violation[] {
  const { name, deprecated, removedIn, replacedBy } = version;
  const at = (member: string): string => `versions[${name}].${member}`;
  if (deprecated === undefined)
    return (['removedIn', 'replacedBy'] as const)
      .filter(member => version[member] !== undefined)
      .map(member => forbiddenField(at(member), 'is for versions that are deprecated: give deprecated, too'));
  const found: Violation[] = [];
  for (const [member, value] of Object.entries({ deprecated, removedIn }))
    if (value !== undefined && !RELEASE.test(value))
      found.push(invalid(at(member), value, 'must be a release, as 1.4'));
  if (removedIn !== undefined && found.length === 0 && !isLater(removedIn, deprecated))
    found.push(invalid(at('removedIn'), removedIn, `must be after ${deprecated}, in which it is deprecated`));
  if (replacedBy === undefined) return found;
  const [group, other = ''] = replacedBy.split('/');
  const isOwn = group === type.group;
  if (isOwn && (other === name || !type.versions.some(one => one.name === other && one.served)))
    found.push(invalid(at('replacedBy'), replacedBy, 'must be another version that is served'));
  else if (stabilityOf(other) < stabilityOf(name))
    found.push(invalid(at('replacedBy'), replacedBy, `must not be less stable than ${name}`));
  return found;
}

/** Throws ConfigError for the first resource type that cannot be served, with all its problems. */
export async function checkTypes(types: readonly ResourceType[], naming: Naming): Promise<void> {
  if (types.length === 0) return;
  await loadEngine();
  const taken = new Set(builtInNames(naming));
  for (const type of types) {
    const found = type.versions.flatMap(version => [
      ...versionViolations(version),
      ...deprecationViolations(type, version),
    ]);
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
