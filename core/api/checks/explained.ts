import type { ApiObject } from '../../model/object.js';
import { copyJson } from '../../model/text/json.js';
import type { Explanation, NearRule, UserRules } from '../observe/explain.js';

/** A copy of the explanation of an authorizer. Throws TypeError for anything else. */
export function checkExplanation(explanation: Explanation): Explanation {
  const { rules, grant } = explanation ?? {};
  const isRule = (rule: NearRule): boolean =>
    typeof rule?.source === 'string' &&
    typeof rule.rule === 'string' &&
    Array.isArray(rule.missing) &&
    rule.missing.every(part => typeof part === 'string');
  if (Array.isArray(rules) && rules.every(isRule) && (grant === undefined || areObjects(grant)))
    return {
      rules: rules.map(({ source, rule, missing }) => ({ source, rule, missing: [...missing] })),
      ...(grant && { grant: copyJson(grant, 'grant') as unknown as readonly ApiObject[] }),
    };
  throw new TypeError('explain must return { rules: [{ source, rule, missing: […] }, …], grant?: [object, …] }');
}

const areObjects = (grant: readonly unknown[]): boolean =>
  Array.isArray(grant) && grant.every(object => typeof object === 'object' && object !== null);

/** Throws TypeError unless an authorizer listed rules. */
export function checkRules(rules: UserRules): UserRules {
  const { resourceRules, pathRules, incomplete = false } = rules ?? {};
  if (Array.isArray(resourceRules) && Array.isArray(pathRules) && typeof incomplete === 'boolean') return rules;
  throw new TypeError('rulesFor must return { resourceRules: […], pathRules: […], incomplete?: boolean }');
}
