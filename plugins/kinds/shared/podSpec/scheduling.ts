import type { LabelSelector, LabelSelectorRequirement } from '../../../../kinds/meta/v1.js';
import type {
  WeightedPodAffinityTerm,
  PodAffinityTerm,
  PodSpec,
  Toleration,
  TopologySpreadConstraint,
  NodeSelector,
  PreferredSchedulingTerm,
  NodeSelectorTerm,
} from '../../../../kinds/v1.js';
import { dns1123Label, dns1123Subdomain, labelValue, qualifiedName } from '../../../../core/model/names.js';
import { isAbsent } from '../../../../core/model/record.js';
import { duplicate, forbiddenField, invalid, required, type Violation } from '../../../../core/model/refusal.js';
import { validateSelector } from '../labels.js';
import { toViolations, validateOneOf } from '../violations.js';

/** Violations of tolerations; `field` is the list. */
export function validateTolerations(tolerations: readonly Toleration[], field: string): Violation[] {
  const found: Violation[] = [];
  for (const [i, toleration] of tolerations.entries()) {
    const where = `${field}[${i}]`;
    const [key, operator, value] = [toleration.key ?? '', toleration.operator ?? '', toleration.value ?? ''];
    if (key !== '') found.push(...toViolations(`${where}.key`, key, qualifiedName(key)));
    if (key === '' && operator !== 'Exists') {
      found.push(
        invalid(
          `${where}.operator`,
          operator,
          'operator must be Exists when `key` is empty, which means "match all values and all keys"',
        ),
      );
    }
    if (toleration.tolerationSeconds !== undefined && toleration.effect !== 'NoExecute') {
      found.push(
        invalid(
          `${where}.effect`,
          toleration.effect ?? '',
          "effect must be 'NoExecute' when `tolerationSeconds` is set",
        ),
      );
    }
    if (operator === 'Exists') {
      if (value !== '')
        found.push(invalid(`${where}.operator`, value, "value must be empty when `operator` is 'Exists'"));
    } else if (operator === '' || operator === 'Equal')
      found.push(...toViolations(`${where}.operator`, value, labelValue(value)));
    else found.push(...validateOneOf(toleration, 'operator', `${where}.operator`, ['Equal', 'Exists']));
    found.push(
      ...validateOneOf(toleration, 'effect', `${where}.effect`, ['NoSchedule', 'PreferNoSchedule', 'NoExecute'], false),
    );
  }
  return found;
}

function validateNodeTerm(term: NodeSelectorTerm, field: string): Violation[] {
  const found: Violation[] = [];
  for (const [i, expression] of (term.matchExpressions ?? []).entries()) {
    const where = `${field}.matchExpressions[${i}]`;
    const [operator, count] = [expression.operator, (expression.values ?? []).length];
    if (['In', 'NotIn'].includes(operator) && count === 0) {
      found.push(required(`${where}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
    } else if (['Exists', 'DoesNotExist'].includes(operator) && count > 0) {
      found.push(
        forbiddenField(`${where}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
      );
    } else if (['Gt', 'Lt'].includes(operator) && count !== 1) {
      found.push(required(`${where}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'"));
    } else if (!['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'].includes(operator)) {
      found.push(invalid(`${where}.operator`, operator, 'not a valid selector operator'));
    }
    found.push(...toViolations(`${where}.key`, expression.key, qualifiedName(expression.key)));
  }
  for (const [i, expression] of (term.matchFields ?? []).entries()) {
    const where = `${field}.matchFields[${i}]`;
    const [operator, key] = [expression.operator, expression.key];
    if (operator !== 'In' && operator !== 'NotIn')
      found.push(invalid(`${where}.operator`, operator, 'not a valid selector operator'));
    else if ((expression.values ?? []).length !== 1) {
      found.push(
        required(
          `${where}.values`,
          "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
        ),
      );
    }
    if (key !== 'metadata.name') found.push(invalid(`${where}.key`, key, 'not a valid field selector key'));
    else
      for (const [j, value] of (expression.values ?? []).entries())
        found.push(...toViolations(`${where}.values[${j}]`, value, dns1123Subdomain(value)));
  }
  return found;
}

const validateWeight = (owner: PreferredSchedulingTerm | WeightedPodAffinityTerm, field: string): Violation[] => {
  const value = owner.weight;
  return value < 1 || value > 100 ? [invalid(`${field}.weight`, value, 'must be in the range 1-100')] : [];
};

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';

const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

/** Violations of a selector of nodes. */
export function validateNodeSelector(selector: NodeSelector, field: string): Violation[] {
  const terms = selector.nodeSelectorTerms ?? [];
  return [
    ...(terms.length === 0
      ? [required(`${field}.nodeSelectorTerms`, 'must have at least one node selector term')]
      : []),
    ...terms.flatMap((term, i) => validateNodeTerm(term, `${field}.nodeSelectorTerms[${i}]`)),
  ];
}

/** Violations of the node affinity of a pod. */
export function validateNodeAffinity(pod: PodSpec, field: string): Violation[] {
  const affinity = pod.affinity?.nodeAffinity;
  const where = `${field}.affinity.nodeAffinity`;
  const found: Violation[] = [];
  const must = affinity?.[REQUIRED];
  if (must) found.push(...validateNodeSelector(must, `${where}.${REQUIRED}`));
  for (const [i, wish] of (affinity?.[PREFERRED] ?? []).entries()) {
    const place = `${where}.${PREFERRED}[${i}]`;
    found.push(...validateWeight(wish, place), ...validateNodeTerm(wish.preference, `${place}.preference`));
  }
  return found;
}

/** Checks the keys of labels that a selector gets from the labels of the pod. */
function validateLabelKeys<Member extends 'matchLabelKeys' | 'mismatchLabelKeys'>(
  owner: { readonly labelSelector?: LabelSelector } & { readonly [M in Member]?: string[] },
  member: Member,
  field: string,
): Violation[] {
  const keys: readonly string[] = owner[member] ?? [];
  if (keys.length > 0 && !owner.labelSelector)
    return [forbiddenField(field, 'must not be specified when labelSelector is not set')];
  return keys.flatMap((key, i) => toViolations(`${field}[${i}]`, key, qualifiedName(key)));
}

/**
 * Checks that the selector of a term does not name a key of `matchLabelKeys` itself. The requirements that were made of
 * these keys are part of the selector, so the key must be in it once.
 */
function validateSelectedTwice({ labelSelector, matchLabelKeys }: PodAffinityTerm, field: string): Violation[] {
  const indexes = new Map((matchLabelKeys ?? []).map((key, i) => [key, i]));
  const selected = new Set(Object.keys(labelSelector?.matchLabels ?? {}));
  return (labelSelector?.matchExpressions ?? []).flatMap(({ key }) => {
    const index = indexes.get(key);
    const isTwice = index !== undefined && selected.has(key);
    selected.add(key);
    return isTwice ? [invalid(`${field}[${index}]`, key, 'exists in both matchLabelKeys and labelSelector')] : [];
  });
}

/**
 * Adds to the selectors of a new pod's affinity the requirements of their `matchLabelKeys` and `mismatchLabelKeys`: the
 * values of these labels of the pod. Keys of labels that the pod does not have are ignored.
 */
export function selectByOwnLabels({ affinity }: PodSpec, labels: { readonly [key: string]: string }): void {
  for (const kind of ['podAffinity', 'podAntiAffinity'] as const) {
    const wishes = affinity?.[kind]?.[PREFERRED] ?? [];
    for (const term of [...(affinity?.[kind]?.[REQUIRED] ?? []), ...wishes.map(wish => wish.podAffinityTerm)]) {
      if (!term.labelSelector) continue;
      const requirements = (keys: readonly string[] | undefined, operator: string): LabelSelectorRequirement[] =>
        (keys ?? []).flatMap(key => (Object.hasOwn(labels, key) ? [{ key, operator, values: [labels[key]!] }] : []));
      const added = [...requirements(term.matchLabelKeys, 'In'), ...requirements(term.mismatchLabelKeys, 'NotIn')];
      if (added.length > 0)
        term.labelSelector.matchExpressions = [...(term.labelSelector.matchExpressions ?? []), ...added];
    }
  }
}

function validatePodTerm(term: PodAffinityTerm, field: string): Violation[] {
  const found = (['labelSelector', 'namespaceSelector'] as const).flatMap(member =>
    validateSelector(term[member], `${field}.${member}`),
  );
  const key = term.topologyKey;
  if (key === '') found.push(required(`${field}.topologyKey`, 'can not be empty'));
  found.push(...toViolations(`${field}.topologyKey`, key, qualifiedName(key)));
  for (const name of term.namespaces ?? []) found.push(...toViolations(`${field}.namespace`, name, dns1123Label(name)));
  for (const member of ['matchLabelKeys', 'mismatchLabelKeys'] as const)
    found.push(...validateLabelKeys(term, member, `${field}.${member}`));
  found.push(...validateSelectedTwice(term, field));
  const mismatched = new Set(term.mismatchLabelKeys ?? []);
  for (const [i, name] of (term.matchLabelKeys ?? []).entries()) {
    if (mismatched.has(name)) {
      found.push(invalid(`${field}.matchLabelKeys[${i}]`, name, 'exists in both matchLabelKeys and mismatchLabelKeys'));
    }
  }
  return found;
}

/** Violations of the pod affinity of a pod; `kind` is `podAffinity` or `podAntiAffinity`. */
export function validatePodAffinity(pod: PodSpec, kind: 'podAffinity' | 'podAntiAffinity', field: string): Violation[] {
  const affinity = pod.affinity?.[kind];
  const where = `${field}.affinity.${kind}`;
  return [
    ...(affinity?.[REQUIRED] ?? []).flatMap((term, i) => validatePodTerm(term, `${where}.${REQUIRED}[${i}]`)),
    ...(affinity?.[PREFERRED] ?? []).flatMap((wish, i) => {
      const place = `${where}.${PREFERRED}[${i}]`;
      return [...validateWeight(wish, place), ...validatePodTerm(wish.podAffinityTerm, `${place}.podAffinityTerm`)];
    }),
  ];
}

/** Checks that a constraint does not select by labels twice: in its selector and by the labels of the pod. */
function validateDistinctKeys(constraint: TopologySpreadConstraint, field: string): Violation[] {
  const selected = new Set([
    ...Object.entries(constraint.labelSelector?.matchLabels ?? {}).map(([key]) => key),
    ...(constraint.labelSelector?.matchExpressions ?? []).map(term => term.key),
  ]);
  return (constraint.matchLabelKeys ?? []).flatMap((key, i) =>
    selected.has(key) ? [invalid(`${field}[${i}]`, key, 'exists in both matchLabelKeys and labelSelector')] : [],
  );
}

/** A key of a topology can be used once for each behavior. */
const pairText = (constraint: TopologySpreadConstraint): string =>
  `{${constraint.topologyKey}, ${constraint.whenUnsatisfiable}}`;

/** Violations of the topology spread constraints of a pod. */
export function validateTopologySpread(pod: PodSpec, field: string): Violation[] {
  const found: Violation[] = [];
  const constraints = pod.topologySpreadConstraints ?? [];
  const lastIndexes = new Map(constraints.map((constraint, i) => [pairText(constraint), i]));
  for (const [i, constraint] of constraints.entries()) {
    const where = `${field}.topologySpreadConstraints[${i}]`;
    const [skew, key, when] = [constraint.maxSkew, constraint.topologyKey, constraint.whenUnsatisfiable];
    if (skew <= 0) found.push(invalid(`${where}.maxSkew`, skew, 'must be greater than zero'));
    if (key === '') found.push(required(`${where}.topologyKey`, 'can not be empty'));
    found.push(
      ...validateOneOf(constraint, 'whenUnsatisfiable', `${where}.whenUnsatisfiable`, [
        'DoNotSchedule',
        'ScheduleAnyway',
      ]),
    );
    const pair = pairText(constraint);
    // Upstream names the earlier of the two.
    if (lastIndexes.get(pair)! > i) found.push(duplicate(`${where}.{topologyKey, whenUnsatisfiable}`, pair));
    const domains = constraint.minDomains;
    if (domains !== undefined && domains <= 0)
      found.push(invalid(`${where}.minDomains`, domains, 'must be greater than zero'));
    if (domains !== undefined && when !== 'DoNotSchedule') {
      found.push(
        invalid(
          `${where}.minDomains`,
          domains,
          `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${when}`,
        ),
      );
    }
    for (const policy of ['nodeAffinityPolicy', 'nodeTaintsPolicy'] as const) {
      if (!isAbsent(constraint[policy]))
        found.push(...validateOneOf(constraint, policy, `${where}.${policy}`, ['Honor', 'Ignore']));
    }
    found.push(...validateLabelKeys(constraint, 'matchLabelKeys', `${where}.matchLabelKeys`));
    found.push(...validateDistinctKeys(constraint, `${where}.matchLabelKeys`));
    found.push(...validateSelector(constraint.labelSelector, `${where}.labelSelector`));
  }
  return found;
}

/** Violations of the scheduling gates of a pod. */
export function validateSchedulingGates(pod: PodSpec, field: string): Violation[] {
  const found: Violation[] = [];
  const seen = new Set<string>();
  for (const [i, gate] of (pod.schedulingGates ?? []).entries()) {
    const name = gate.name;
    found.push(...toViolations(`${field}.schedulingGates[${i}]`, name, qualifiedName(name)));
    if (seen.has(name)) found.push(duplicate(`${field}.schedulingGates[${i}]`, name));
    seen.add(name);
  }
  return found;
}
