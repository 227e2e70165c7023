import { nearest } from '../../model/nearest.js';
import type { ResourceTarget } from '../../model/target.js';
import { groupSpellings, namingOf } from '../../naming.js';
import type { Match, Operation } from './match.js';

const OPERATIONS: readonly Operation[] = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'];

/** The members of a Match. */
const MATCH_MEMBERS = ['groups', 'resources', 'operations', 'subresources'] as const;

/**
 * The selection of a Match, for comparisons: undefined stands for everything. Groups are the result of
 * `groupsSelected`.
 */
export interface Selection {
  readonly groups: readonly string[] | undefined;
  readonly resources: readonly string[] | undefined;
  readonly operations: readonly string[] | undefined;
  readonly subresources: readonly string[] | undefined;
}

const unlessAll = (values: readonly string[] | undefined): readonly string[] | undefined =>
  values?.includes('*') ? undefined : values;

/**
 * The groups of targets that a group in a Match selects: itself and, if it is upstream's name, the neutral name, which
 * targets of built-in kinds have. A neutral name does not select upstream's name: in the neutral naming, only custom
 * kinds kept from an older store can have that.
 */
const groupsSelected = (group: string): readonly string[] =>
  groupSpellings(group).filter(one => one === group || one !== namingOf('kubernetes').group(group));

/** The selection of a valid Match. */
export const selectionOf = ({ groups, resources, operations, subresources = [''] }: Match): Selection => ({
  groups: unlessAll(groups)?.flatMap(groupsSelected),
  resources: unlessAll(resources),
  operations: unlessAll(operations),
  subresources: unlessAll(subresources),
});

/** Whether a change is selected. */
export const matches = (
  on: Selection,
  { operation, target }: { readonly operation: Operation; readonly target: ResourceTarget },
): boolean =>
  (on.operations?.includes(operation) ?? true) &&
  (on.groups?.includes(target.group) ?? true) &&
  (on.resources?.includes(target.resource) ?? true) &&
  (on.subresources?.includes(target.subresource) ?? true);

/**
 * Checks those properties of a plugin's selection that do not depend on the server: an unknown member would select more
 * than intended, and a string instead of a list would match substrings. Throws TypeError that names the member.
 */
export function checkMatch(on: Match, operations: readonly Operation[] = OPERATIONS): void {
  for (const member of Object.keys(on)) {
    if ((MATCH_MEMBERS as readonly string[]).includes(member)) continue;
    const best = nearest(member, MATCH_MEMBERS);
    throw new TypeError(
      `on.${member} is no member of on; ${best ? `did you mean on.${best}?` : `it has ${MATCH_MEMBERS.join(', ')}`}`,
    );
  }
  for (const member of MATCH_MEMBERS) {
    const list: unknown = on[member];
    if (list !== undefined && !(Array.isArray(list) && list.every(one => typeof one === 'string')))
      throw new TypeError(`on.${member} must be a list of texts`);
  }
  for (const [i, given] of (on.operations ?? []).entries()) {
    if (given === '*' || operations.includes(given)) continue;
    const why = OPERATIONS.includes(given) ? `it is never called for ${given}` : `not ${JSON.stringify(given)}`;
    throw new TypeError(`on.operations[${i}] must be ${operations.join(', ')} or *: ${why}`);
  }
}
