import { type Condition, withCondition } from '../../../core/api/index.js';

/** The names of a definition. */
export interface AcceptedNames {
  readonly plural: string;
  readonly singular?: string;
  readonly shortNames?: readonly string[];
  readonly kind: string;
  readonly listKind?: string;
  readonly categories?: readonly string[];
}

const NONE: AcceptedNames = { plural: '', kind: '' };

const inUseMessage = (name: string): string => `${JSON.stringify(name)} is already in use`;

/**
 * Accepts the requested names of a definition unless `taken` (the accepted names of other definitions in its group)
 * contains them, and returns the accepted names and the resulting conditions. In case of a conflict, previously
 * accepted names are kept. A definition becomes Established when all its names are accepted for the first time, and
 * stays so. It does not become Established while `isBundleValid` is false: the CA bundle of its conversion webhook has
 * no certificates then.
 */
export function acceptNames(
  requested: AcceptedNames,
  accepted: AcceptedNames = NONE,
  taken: readonly AcceptedNames[],
  conditions: readonly Condition[],
  now: string,
  isBundleValid = true,
): { names: AcceptedNames; conditions: readonly Condition[] } {
  const resources = new Set(
    taken.flatMap(names => [names.plural, names.singular, ...(names.shortNames ?? [])].filter(Boolean)),
  );
  const kinds = new Set(taken.flatMap(names => [names.kind, names.listKind].filter(Boolean)));
  let conflict: { readonly reason: string; readonly message: string } | undefined;
  const acceptName = (
    reason: string,
    wanted: string | undefined,
    previous: string | undefined,
    inUse: ReadonlySet<string | undefined>,
  ) => {
    if (wanted === previous || !wanted || !inUse.has(wanted)) return wanted;
    conflict = { reason, message: inUseMessage(wanted) };
    return previous;
  };
  const plural = acceptName('PluralConflict', requested.plural, accepted.plural, resources) ?? '';
  const singular = acceptName('SingularConflict', requested.singular, accepted.singular, resources);
  const conflicting = (requested.shortNames ?? []).filter(
    name => !accepted.shortNames?.includes(name) && resources.has(name),
  );
  const [first] = conflicting;
  if (first !== undefined)
    conflict = {
      reason: 'ShortNamesConflict',
      message: conflicting.length === 1 ? inUseMessage(first) : `[${conflicting.map(inUseMessage).join(', ')}]`,
    };
  const shortNames = first === undefined ? requested.shortNames : accepted.shortNames;
  const kind = acceptName('KindConflict', requested.kind, accepted.kind, kinds) ?? '';
  const listKind = acceptName('ListKindConflict', requested.listKind, accepted.listKind, kinds);
  const names: AcceptedNames = {
    plural,
    ...(singular ? { singular } : {}),
    ...(shortNames ? { shortNames } : {}),
    kind,
    ...(listKind ? { listKind } : {}),
    ...(requested.categories ? { categories: requested.categories } : {}),
  };
  return { names, conditions: nextConditions(conditions, conflict, now, isBundleValid) };
}

function nextConditions(
  conditions: readonly Condition[],
  conflict: { readonly reason: string; readonly message: string } | undefined,
  now: string,
  isBundleValid: boolean,
): readonly Condition[] {
  const { reason, message } = conflict ?? { reason: 'NoConflicts', message: 'no conflicts found' };
  const status = conflict ? 'False' : 'True';
  const withNamesAccepted = withCondition(conditions, { type: 'NamesAccepted', status, reason, message }, now);
  if (withNamesAccepted.some(condition => condition.type === 'Established' && condition.status === 'True'))
    return withNamesAccepted;
  const why = conflict
    ? { reason: 'NotAccepted', message: 'not all names are accepted' }
    : isBundleValid
      ? { reason: 'InitialNamesAccepted', message: 'the initial names have been accepted' }
      : { reason: 'InvalidCABundle', message: 'The conversion webhook CABundle is invalid' };
  const isEstablished = conflict === undefined && isBundleValid;
  const established = { type: 'Established', status: isEstablished ? 'True' : 'False', ...why };
  return withCondition(withNamesAccepted, established, now);
}
