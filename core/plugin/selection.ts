import { mutator, validator } from '../api/admission.js';
import type { Match, Operation } from '../api/checks/match.js';
import { selectionOf } from '../api/checks/matching.js';
import { dns1123Label, dns1123Subdomain } from '../model/names.js';
import { nearest } from '../model/nearest.js';
import { groupSpellings } from '../naming.js';
import type { Group, Registry, Resource } from '../schema/resource.js';
import type { Plugins } from './load/load.js';

/** A fault of an entry of a selection. `mayCome`: a definition or a setting could make the entry valid. */
interface Problem {
  readonly entry: string;
  readonly why: string;
  readonly mayCome: boolean;
}

/** The operation of each verb of a resource. */
const OPERATION_OF: ReadonlyMap<string, Operation> = new Map([
  ['create', 'CREATE'],
  ['update', 'UPDATE'],
  ['patch', 'UPDATE'],
  ['delete', 'DELETE'],
  ['deletecollection', 'DELETE'],
]);

/** Subresources that definitions can give to a kind. */
const DEFINABLE: ReadonlySet<string> = new Set(['status', 'scale']);

const quote = (text: string): string => JSON.stringify(text);

const suggestion = (best: string | undefined): string => (best === undefined ? '' : `; did you mean ${quote(best)}?`);

const groupsNamed = ({ groups }: Registry, spellings: readonly string[]): Group[] =>
  [...groups.values()].filter(({ name, neutralName = name }) => spellings.includes(neutralName));

const servedIn = ({ versions }: Group): Resource[] =>
  versions.flatMap(({ served, resources }) => (served ? [...resources.values()] : []));

/** Whether a definition may add kinds to a group: its name must be a domain, and not that of a built-in group. */
const isDefinable = (group: string, known: readonly Group[]): boolean =>
  group.includes('.') && dns1123Subdomain(group).length === 0 && known.every(({ neutralName }) => !neutralName);

function groupProblem(registry: Registry, group: string): Omit<Problem, 'entry'> | undefined {
  const known = groupsNamed(registry, groupSpellings(group));
  if (known.some(one => servedIn(one).length > 0)) return undefined;
  if (known.length > 0) return { why: 'is not served: --runtime-config can change that', mayCome: true };
  const [name, ...version] = group.split('/');
  if (version.length > 0) return { why: `must be a group without its version${suggestion(name)}`, mayCome: false };
  const names = [...registry.groups.values()].map(one => one.name).filter(one => one !== '');
  const best = group === 'core' ? '' : nearest(group, names);
  if (isDefinable(group, known))
    return { why: `is not served, until a definition has this group${suggestion(best)}`, mayCome: true };
  return { why: `is no group, and no definition can have it${suggestion(best)}`, mayCome: false };
}

/** The served kinds that a selection selects. */
interface Selected {
  /** The resources of its groups. */
  readonly inGroups: readonly Resource[];
  /** The resources of its groups that it names. */
  readonly resources: readonly Resource[];
  /** Whether definitions can add resources to its groups. */
  readonly isOpen: boolean;
}

function selectedBy(registry: Registry, on: Match): Selected {
  const { groups, resources } = selectionOf(on);
  const known = groups ? groupsNamed(registry, groups) : [...registry.groups.values()];
  const inGroups = known.flatMap(servedIn);
  return {
    inGroups,
    resources: resources ? inGroups.filter(({ plural }) => resources.includes(plural)) : inGroups,
    isOpen: groups?.some(group => isDefinable(group, groupsNamed(registry, groupSpellings(group)))) ?? true,
  };
}

/** The plural name that another name of a resource, or a misspelt one, means. */
function pluralFor(given: string, resources: readonly Resource[]): string | undefined {
  const lower = given.toLowerCase();
  const meant = resources.find(
    ({ plural, singular, kind, shortNames }) =>
      [plural, singular, kind.toLowerCase()].includes(lower) || shortNames.includes(lower),
  );
  return meant?.plural ?? nearest(lower, new Set(resources.map(({ plural }) => plural)));
}

/** Whether a resource is built in, in one of the groups, but not served. */
const isUnserved = (registry: Registry, { groups }: Match, resource: string): boolean => {
  const { groups: named } = selectionOf({ groups });
  const known = named ? groupsNamed(registry, named) : [...registry.groups.values()];
  return known.some(({ versions }) => versions.some(({ resources }) => resources.has(resource)));
};

function resourceProblem(
  registry: Registry,
  on: Match,
  { inGroups, isOpen }: Selected,
  resource: string,
): Omit<Problem, 'entry'> | undefined {
  if (inGroups.some(({ plural }) => plural === resource)) return undefined;
  if (isUnserved(registry, on, resource))
    return { why: 'is not served: --runtime-config can change that', mayCome: true };
  const [name = '', subresource] = resource.split('/');
  if (subresource !== undefined)
    return {
      why: `must be the resource alone: write resources: [${quote(name)}], subresources: [${quote(subresource)}]`,
      mayCome: false,
    };
  const best = suggestion(pluralFor(resource, inGroups));
  if (isOpen && dns1123Label(resource).length === 0)
    return { why: `is not served, until a definition has this plural name${best}`, mayCome: true };
  return { why: `is no resource of these groups, and no definition can bring it${best}`, mayCome: false };
}

function subresourceProblem({ resources, isOpen }: Selected, subresource: string): Omit<Problem, 'entry'> | undefined {
  if (subresource === '' || resources.some(one => one.subresources.has(subresource))) return undefined;
  if (resources.length === 0 || (isOpen && DEFINABLE.has(subresource))) return undefined;
  const names = [...new Set(resources.flatMap(one => [...one.subresources.keys()]))];
  return {
    why: `is a subresource of nothing that is selected${suggestion(nearest(subresource, names))}`,
    mayCome: false,
  };
}

/** The operations of a resource or a subresource. */
const operationsOf = (verbs: readonly string[]): (Operation | undefined)[] => verbs.map(verb => OPERATION_OF.get(verb));

function isMade(operation: string, subresource: string | undefined, { verbs, subresources }: Resource): boolean {
  const named = [...subresources.values()].filter(({ name }) => (subresource ?? name) === name);
  if (
    named.some(one =>
      one.connect ? operation === 'CONNECT' : operationsOf(one.verbs).includes(operation as Operation),
    )
  )
    return true;
  return !subresource && operationsOf(verbs).includes(operation as Operation);
}

function operationProblem(
  on: Match,
  { resources, isOpen }: Selected,
  operation: string,
): Omit<Problem, 'entry'> | undefined {
  const { subresources = [undefined] } = selectionOf(on);
  if (resources.length === 0 || (isOpen && operation !== 'CONNECT')) return undefined;
  if (resources.some(resource => subresources.some(name => isMade(operation, name, resource)))) return undefined;
  const connected = resources.flatMap(one => [...one.subresources.values()].filter(({ connect }) => connect));
  const names = [...new Set(connected.map(({ name }) => quote(name)))];
  const advice =
    operation === 'CONNECT' && names.length > 0 ? `: add subresources: [${names.join(', ')}], or some of these` : '';
  return { why: `is an operation of nothing that is selected${advice}`, mayCome: false };
}

/** All faults of the entries of a selection. */
function problemsOf(registry: Registry, on: Match): Problem[] {
  const selected = selectedBy(registry, on);
  const check = (member: keyof Match, problemOf: (entry: string) => Omit<Problem, 'entry'> | undefined): Problem[] => {
    const list: readonly string[] | undefined = on[member];
    if (list?.length === 0)
      return [{ entry: `on.${member}`, why: 'is empty, which selects nothing: omit it to select all', mayCome: false }];
    return (list ?? []).flatMap((value, i) => {
      const problem = value === '*' ? undefined : problemOf(value);
      return problem ? [{ entry: `on.${member}[${i}] ${quote(value)}`, ...problem }] : [];
    });
  };
  return [
    ...check('groups', group => groupProblem(registry, group)),
    ...check('resources', resource => resourceProblem(registry, on, selected, resource)),
    ...check('subresources', subresource => subresourceProblem(selected, subresource)),
    ...check('operations', operation => operationProblem(on, selected, operation)),
  ];
}

/**
 * Checks that the resources which mutators and validators of the configuration select can exist: a policy that selects
 * a misspelt name would silently have no effect. Throws an Error that names the plugin for a resource that no
 * definition can add. Returns warnings about those that a definition could add.
 */
export function checkSelections(plugins: Pick<Plugins, 'configured'>, registry: Registry): string[] {
  const warnings: string[] = [];
  const parts = [
    ...plugins.configured(mutator).map(({ plugin, value }) => ({ plugin, is: 'mutator', on: value.on })),
    ...plugins.configured(validator).map(({ plugin, value }) => ({ plugin, is: 'validator', on: value.on })),
  ];
  for (const { plugin, is, on } of parts)
    for (const { entry, why, mayCome } of problemsOf(registry, on)) {
      const message = `plugin ${plugin}: ${entry} of a ${is} ${why}`;
      if (!mayCome) throw new Error(message);
      warnings.push(message);
    }
  return warnings;
}
