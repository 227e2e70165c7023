import { isGivenByName } from '../../../core/model/wellKnown/namedPaths.js';
import { withoutTrailing } from '../../../core/model/text/trailing.js';
import type { PolicyRule } from './policy.js';

/** A request in the form that rules are matched with. Names are in the naming of the server. */
export interface RuleRequest {
  readonly verb: string;
  readonly group: string;
  /** `pods` or `pods/log`. */
  readonly resource: string;
  /** The subresource of any resource (`*` + `/log`); empty for a main resource. */
  readonly anySubresource: string;
  readonly name: string;
}

type Words = ReadonlySet<string> | 'all';

interface ResourceRule {
  readonly verbs: Words;
  readonly groups: Words;
  readonly names: Words;
}

interface UrlRule {
  readonly verbs: Words;
  readonly exact: ReadonlySet<string>;
  readonly prefixes: readonly string[];
}

/** The compiled rules of one role. */
export interface CompiledRules {
  readonly byResource: ReadonlyMap<string, readonly ResourceRule[]>;
  readonly urls: readonly UrlRule[];
}

const words = (list: readonly string[] | undefined): Words => (list?.includes('*') ? 'all' : new Set(list));
const has = (set: Words, word: string): boolean => set === 'all' || set.has(word);

function urlRule(verbs: Words, urls: readonly string[]): UrlRule {
  const prefixes = urls.filter(url => url.endsWith('*')).map(url => withoutTrailing(url, '*'));
  return { verbs, exact: new Set(urls), prefixes };
}

/** Compiles rules: groups them by resource. Done once per version of a role. */
export function compileRules(rules: readonly PolicyRule[] | undefined): CompiledRules {
  const byResource = new Map<string, ResourceRule[]>();
  const urls: UrlRule[] = [];
  for (const rule of rules ?? []) {
    const verbs = words(rule.verbs);
    if (rule.nonResourceURLs?.length) urls.push(urlRule(verbs, rule.nonResourceURLs));
    // In resource names, `*` is not a wildcard.
    const names: Words = rule.resourceNames?.length ? new Set(rule.resourceNames) : 'all';
    const compiled: ResourceRule = { verbs, groups: words(rule.apiGroups), names };
    for (const resource of new Set(rule.resources)) {
      const list = byResource.get(resource);
      if (list) list.push(compiled);
      else byResource.set(resource, [compiled]);
    }
  }
  return { byResource, urls };
}

function anyAllows(rules: readonly ResourceRule[] | undefined, request: RuleRequest): boolean {
  if (!rules) return false;
  for (const rule of rules) {
    if (has(rule.verbs, request.verb) && has(rule.groups, request.group) && has(rule.names, request.name)) return true;
  }
  return false;
}

/**
 * Whether rules allow a resource request: by the exact resource, by its subresource on any resource (`*` + `/log`), or
 * by `*` (spec, "RBAC objects").
 */
export function allowsResource(rules: CompiledRules, request: RuleRequest): boolean {
  const { byResource } = rules;
  return (
    anyAllows(byResource.get(request.resource), request) ||
    (request.anySubresource !== '' && anyAllows(byResource.get(request.anySubresource), request)) ||
    anyAllows(byResource.get('*'), request)
  );
}

/**
 * Whether rules allow a request outside the resource paths; only a trailing `*` is a wildcard, and it does not include
 * the paths that are given by name.
 */
export function allowsPath(rules: CompiledRules, verb: string, path: string): boolean {
  const byName = isGivenByName(path);
  for (const { verbs, exact, prefixes } of rules.urls) {
    if (!has(verbs, verb)) continue;
    if (exact.has(path) || (!byName && prefixes.some(prefix => path.startsWith(prefix)))) return true;
  }
  return false;
}
