import { isGivenByName } from '../../../core/model/wellKnown/namedPaths.js';
import { withoutTrailing } from '../../../core/model/text/trailing.js';
import type { PolicyRule } from './policy.js';

const orOne = (list: readonly string[] | undefined): readonly (string | undefined)[] =>
  list?.length ? list : [undefined];

/** Splits a rule into rules with one verb and one resource or URL each. A rule without verbs permits nothing. */
function* splitRule(rule: Partial<PolicyRule>): Generator<PolicyRule> {
  for (const verb of rule.verbs ?? []) {
    for (const url of rule.nonResourceURLs ?? []) yield { verbs: [verb], nonResourceURLs: [url] };
    for (const group of rule.apiGroups ?? [])
      for (const resource of rule.resources ?? [])
        for (const name of orOne(rule.resourceNames))
          yield {
            verbs: [verb],
            apiGroups: [group],
            resources: [resource],
            ...(name === undefined ? {} : { resourceNames: [name] }),
          };
  }
}

const includes = (list: readonly string[] | undefined, word: string): boolean =>
  list !== undefined && (list.includes(word) || list.includes('*'));

function coversResource(have: PolicyRule, resource: string): boolean {
  if (includes(have.resources, resource)) return true;
  const slash = resource.indexOf('/');
  return slash >= 0 && (have.resources?.includes(`*${resource.slice(slash)}`) ?? false);
}

function coversUrl(have: PolicyRule, url: string): boolean {
  return (have.nonResourceURLs ?? []).some(
    own => own === url || (!isGivenByName(url) && own.endsWith('*') && url.startsWith(withoutTrailing(own, '*'))),
  );
}

function coversAtom(have: PolicyRule, want: PolicyRule): boolean {
  if (!includes(have.verbs, want.verbs[0] as string)) return false;
  if (want.nonResourceURLs) return coversUrl(have, want.nonResourceURLs[0] as string);
  if (have.resourceNames?.length && !have.resourceNames.includes(want.resourceNames?.[0] ?? '')) return false;
  return includes(have.apiGroups, want.apiGroups?.[0] as string) && coversResource(have, want.resources?.[0] as string);
}

/**
 * The permissions in `want` that `have` does not include, each as a rule with one verb and one resource or URL:
 * escalation checks refuse them, and reconciliation adds them.
 */
export function missingPermissions(have: readonly PolicyRule[], want: readonly PolicyRule[]): PolicyRule[] {
  const found: PolicyRule[] = [];
  for (const rule of want)
    for (const atom of splitRule(rule)) if (!have.some(own => coversAtom(own, atom))) found.push(atom);
  return found;
}
