import { dns1123Label, labelValue, qualifiedName } from '../../../../core/model/names.js';
import {
  isAbsent,
  numberAt,
  recordAt,
  recordsAt,
  stringAt,
  stringsAt,
  type UnknownRecord,
} from '../../../../core/model/record.js';
import { duplicate, forbiddenField, invalid, required, type Violation } from '../../../../core/model/refusal.js';
import { validateSelector } from '../labels.js';
import { toViolations, validateOneOf } from '../violations.js';

/** Violations of tolerations; `field` is the list. */
export function validateTolerations(tolerations: readonly UnknownRecord[], field: string): Violation[] {
  const found: Violation[] = [];
  for (const [i, toleration] of tolerations.entries()) {
    const where = `${field}[${i}]`;
    const [key, operator, value] = [
      stringAt(toleration, 'key'),
      stringAt(toleration, 'operator'),
      stringAt(toleration, 'value'),
    ];
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
          stringAt(toleration, 'effect'),
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

function validateNodeTerm(term: UnknownRecord, field: string): Violation[] {
  const found: Violation[] = [];
  for (const [i, expression] of recordsAt(term, 'matchExpressions').entries()) {
    const where = `${field}.matchExpressions[${i}]`;
    const [operator, count] = [stringAt(expression, 'operator'), stringsAt(expression, 'values').length];
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
    found.push(
      ...toViolations(`${where}.key`, stringAt(expression, 'key'), qualifiedName(stringAt(expression, 'key'))),
    );
  }
  for (const [i, expression] of recordsAt(term, 'matchFields').entries()) {
    const where = `${field}.matchFields[${i}]`;
    const [operator, key] = [stringAt(expression, 'operator'), stringAt(expression, 'key')];
    if (operator !== 'In' && operator !== 'NotIn')
      found.push(invalid(`${where}.operator`, operator, 'not a valid selector operator'));
    else if (stringsAt(expression, 'values').length !== 1) {
      found.push(
        required(
          `${where}.values`,
          "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
        ),
      );
    }
    if (key !== 'metadata.name') found.push(invalid(`${where}.key`, key, 'not a valid field selector key'));
  }
  return found;
}

const validateWeight = (owner: UnknownRecord, field: string): Violation[] => {
  const value = numberAt(owner, 'weight') ?? 0;
  return value < 1 || value > 100 ? [invalid(`${field}.weight`, value, 'must be in the range 1-100')] : [];
};

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';

const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

/** Violations of the node affinity of a pod. */
export function validateNodeAffinity(pod: UnknownRecord, field: string): Violation[] {
  const affinity = recordAt(pod, 'affinity', 'nodeAffinity');
  const where = `${field}.affinity.nodeAffinity`;
  const found: Violation[] = [];
  const must = recordAt(affinity, REQUIRED);
  if (must) {
    const terms = recordsAt(must, 'nodeSelectorTerms');
    if (terms.length === 0)
      found.push(required(`${where}.${REQUIRED}.nodeSelectorTerms`, 'must have at least one node selector term'));
    for (const [i, term] of terms.entries())
      found.push(...validateNodeTerm(term, `${where}.${REQUIRED}.nodeSelectorTerms[${i}]`));
  }
  for (const [i, wish] of recordsAt(affinity, PREFERRED).entries()) {
    const place = `${where}.${PREFERRED}[${i}]`;
    found.push(
      ...validateWeight(wish, place),
      ...validateNodeTerm(recordAt(wish, 'preference') ?? {}, `${place}.preference`),
    );
  }
  return found;
}

function validatePodTerm(term: UnknownRecord, field: string): Violation[] {
  const found = validateSelector(recordAt(term, 'labelSelector'), `${field}.labelSelector`);
  const key = stringAt(term, 'topologyKey');
  if (key === '') found.push(required(`${field}.topologyKey`, 'can not be empty'));
  found.push(...toViolations(`${field}.topologyKey`, key, qualifiedName(key)));
  for (const name of stringsAt(term, 'namespaces'))
    found.push(...toViolations(`${field}.namespace`, name, dns1123Label(name)));
  const mismatched = new Set(stringsAt(term, 'mismatchLabelKeys'));
  for (const [i, name] of stringsAt(term, 'matchLabelKeys').entries()) {
    if (mismatched.has(name)) {
      found.push(invalid(`${field}.matchLabelKeys[${i}]`, name, 'exists in both matchLabelKeys and mismatchLabelKeys'));
    }
  }
  return found;
}

/** Violations of the pod affinity of a pod; `kind` is `podAffinity` or `podAntiAffinity`. */
export function validatePodAffinity(pod: UnknownRecord, kind: string, field: string): Violation[] {
  const affinity = recordAt(pod, 'affinity', kind);
  const where = `${field}.affinity.${kind}`;
  return [
    ...recordsAt(affinity, REQUIRED).flatMap((term, i) => validatePodTerm(term, `${where}.${REQUIRED}[${i}]`)),
    ...recordsAt(affinity, PREFERRED).flatMap((wish, i) => {
      const place = `${where}.${PREFERRED}[${i}]`;
      return [
        ...validateWeight(wish, place),
        ...validatePodTerm(recordAt(wish, 'podAffinityTerm') ?? {}, `${place}.podAffinityTerm`),
      ];
    }),
  ];
}

/** Violations of the topology spread constraints of a pod. */
export function validateTopologySpread(pod: UnknownRecord, field: string): Violation[] {
  const found: Violation[] = [];
  const seen = new Set<string>();
  for (const [i, constraint] of recordsAt(pod, 'topologySpreadConstraints').entries()) {
    const where = `${field}.topologySpreadConstraints[${i}]`;
    const [skew, key, when] = [
      numberAt(constraint, 'maxSkew') ?? 0,
      stringAt(constraint, 'topologyKey'),
      stringAt(constraint, 'whenUnsatisfiable'),
    ];
    if (skew <= 0) found.push(invalid(`${where}.maxSkew`, skew, 'must be greater than zero'));
    if (key === '') found.push(required(`${where}.topologyKey`, 'can not be empty'));
    else found.push(...toViolations(`${where}.topologyKey`, key, qualifiedName(key)));
    found.push(
      ...validateOneOf(constraint, 'whenUnsatisfiable', `${where}.whenUnsatisfiable`, [
        'DoNotSchedule',
        'ScheduleAnyway',
      ]),
    );
    const pair = `{${key}, ${when}}`;
    if (seen.has(pair)) found.push(duplicate(`${where}.{topologyKey, whenUnsatisfiable}`, pair));
    seen.add(pair);
    const domains = numberAt(constraint, 'minDomains');
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
    for (const policy of ['nodeAffinityPolicy', 'nodeTaintsPolicy']) {
      if (!isAbsent(constraint[policy]))
        found.push(...validateOneOf(constraint, policy, `${where}.${policy}`, ['Honor', 'Ignore']));
    }
    if (stringsAt(constraint, 'matchLabelKeys').length > 0 && !recordAt(constraint, 'labelSelector')) {
      found.push(forbiddenField(`${where}.matchLabelKeys`, 'must not be specified when labelSelector is not set'));
    }
    found.push(...validateSelector(recordAt(constraint, 'labelSelector'), `${where}.labelSelector`));
  }
  return found;
}

/** Violations of the scheduling gates of a pod. */
export function validateSchedulingGates(pod: UnknownRecord, field: string): Violation[] {
  const found: Violation[] = [];
  const seen = new Set<string>();
  for (const [i, gate] of recordsAt(pod, 'schedulingGates').entries()) {
    const name = stringAt(gate, 'name');
    found.push(...toViolations(`${field}.schedulingGates[${i}]`, name, qualifiedName(name)));
    if (seen.has(name)) found.push(duplicate(`${field}.schedulingGates[${i}]`, name));
    seen.add(name);
  }
  return found;
}
