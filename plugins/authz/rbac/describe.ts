import type { PolicyRule } from './policy.js';

/** Rules of one verb each on one resource become one rule for each resource and name, with all verbs. */
function joinVerbs(rules: readonly PolicyRule[]): readonly PolicyRule[] {
  const joined = new Map<string, PolicyRule>();
  for (const rule of rules) {
    const { verbs, ...rest } = rule;
    const key = JSON.stringify(rule.nonResourceURLs ? rule : rest);
    const known = rule.nonResourceURLs ? undefined : joined.get(key);
    joined.set(key, { ...rule, verbs: [...(known?.verbs ?? []), ...verbs] });
  }
  return [...joined.values()];
}

const MEMBERS = [
  ['APIGroups', 'apiGroups'],
  ['Resources', 'resources'],
  ['NonResourceURLs', 'nonResourceURLs'],
  ['ResourceNames', 'resourceNames'],
  ['Verbs', 'verbs'],
] as const;

function describeRule(rule: PolicyRule): string {
  const parts = MEMBERS.flatMap(([label, member]) => {
    const values = rule[member];
    return values?.length ? `${label}:[${values.map(value => JSON.stringify(value)).join(' ')}]` : [];
  });
  return `{${parts.join(', ')}}`;
}

/** Describes rules of one verb on one thing each, in upstream's words: sorted, one line for each thing. */
export const describeRules = (rules: readonly PolicyRule[]): string =>
  [...new Set(joinVerbs(rules).map(describeRule))].sort().join('\n');
