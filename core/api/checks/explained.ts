import type { Explanation, NearRule, UserRules } from '../observe/explain.js';

/** Throws TypeError unless an authorizer has explained itself. */
export function checkExplanation(explanation: Explanation): Explanation {
  const { rules, grant } = explanation ?? {};
  const isRule = (rule: NearRule): boolean =>
    typeof rule?.source === 'string' &&
    typeof rule.rule === 'string' &&
    Array.isArray(rule.missing) &&
    rule.missing.every(part => typeof part === 'string');
  if (Array.isArray(rules) && rules.every(isRule) && (grant === undefined || Array.isArray(grant))) return explanation;
  throw new TypeError('explain must return { rules: [{ source, rule, missing: […] }, …], grant?: [object, …] }');
}

/** Throws TypeError unless an authorizer listed rules. */
export function checkRules(rules: UserRules): UserRules {
  const { resourceRules, pathRules, incomplete = false } = rules ?? {};
  if (Array.isArray(resourceRules) && Array.isArray(pathRules) && typeof incomplete === 'boolean') return rules;
  throw new TypeError('rulesFor must return { resourceRules: […], pathRules: […], incomplete?: boolean }');
}
