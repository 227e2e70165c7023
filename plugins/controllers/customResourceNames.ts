import { type Condition, withCondition } from './conditions.js';

/** Names of a definition, asked for or accepted. */
export interface AcceptedNames {
  readonly plural: string;
  readonly singular?: string;
  readonly shortNames?: readonly string[];
  readonly kind: string;
  readonly listKind?: string;
  readonly categories?: readonly string[];
}

const NONE: AcceptedNames = { plural: '', kind: '' };

const inUse = (name: string): string => `${JSON.stringify(name)} is already in use`;

/**
 * Which of the names that a definition asks for it gets, after those that other definitions of its group have, and the
 * conditions that follow. A name once accepted stays; a definition is established when all of its names are accepted
 * for the first time, and for good.
 */
export function judgeNames(
  asked: AcceptedNames,
  accepted: AcceptedNames = NONE,
  taken: readonly AcceptedNames[],
  conditions: readonly Condition[],
  now: string,
): { names: AcceptedNames; conditions: readonly Condition[] } {
  const resources = new Set(
    taken.flatMap(names => [names.plural, names.singular, ...(names.shortNames ?? [])].filter(Boolean)),
  );
  const kinds = new Set(taken.flatMap(names => [names.kind, names.listKind].filter(Boolean)));
  let conflict: { readonly reason: string; readonly message: string } | undefined;
  const settle = (
    reason: string,
    wanted: string | undefined,
    had: string | undefined,
    used: ReadonlySet<string | undefined>,
  ) => {
    if (wanted === had || !wanted || !used.has(wanted)) return wanted;
    conflict = { reason, message: inUse(wanted) };
    return had;
  };
  const plural = settle('PluralConflict', asked.plural, accepted.plural, resources) ?? '';
  const singular = settle('SingularConflict', asked.singular, accepted.singular, resources);
  const clashing = (asked.shortNames ?? []).filter(name => !accepted.shortNames?.includes(name) && resources.has(name));
  const [first] = clashing;
  if (first !== undefined)
    conflict = {
      reason: 'ShortNamesConflict',
      message: clashing.length === 1 ? inUse(first) : `[${clashing.map(inUse).join(', ')}]`,
    };
  const shortNames = first === undefined ? asked.shortNames : accepted.shortNames;
  const kind = settle('KindConflict', asked.kind, accepted.kind, kinds) ?? '';
  const listKind = settle('ListKindConflict', asked.listKind, accepted.listKind, kinds);
  const names: AcceptedNames = {
    plural,
    ...(singular ? { singular } : {}),
    ...(shortNames ? { shortNames } : {}),
    kind,
    ...(listKind ? { listKind } : {}),
    ...(asked.categories ? { categories: asked.categories } : {}),
  };
  return { names, conditions: conditionsOf(conditions, conflict, now) };
}

function conditionsOf(
  conditions: readonly Condition[],
  conflict: { readonly reason: string; readonly message: string } | undefined,
  now: string,
): readonly Condition[] {
  const { reason, message } = conflict ?? { reason: 'NoConflicts', message: 'no conflicts found' };
  const status = conflict ? 'False' : 'True';
  const judged = withCondition(conditions, { type: 'NamesAccepted', status, reason, message }, now);
  if (judged.some(condition => condition.type === 'Established' && condition.status === 'True')) return judged;
  const why = conflict
    ? { reason: 'NotAccepted', message: 'not all names are accepted' }
    : { reason: 'InitialNamesAccepted', message: 'the initial names have been accepted' };
  return withCondition(judged, { type: 'Established', status, ...why }, now);
}
