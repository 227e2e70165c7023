import type { PolicyRule } from '../rbac/policy.js';

/** A default role, in neutral names. Without `namespace` it is a cluster role. */
export interface RoleSpec {
  readonly name: string;
  readonly namespace?: string;
  readonly rules: readonly PolicyRule[];
  /** The aggregating role (`admin`, `edit`, `view`) that collects this one. */
  readonly aggregateTo?: string;
  /** This role collects those with its own `aggregate-to-…` label. */
  readonly aggregates?: boolean;
}

/**
 * A default binding, in neutral names. Subjects are `User:<name>`, `Group:<name>` or
 * `ServiceAccount:<namespace>/<name>`.
 */
export interface BindingSpec {
  readonly name: string;
  readonly namespace?: string;
  readonly role: string;
  readonly subjects: readonly string[];
}

const sorted = (text: string): string[] => [...new Set(text.split(' '))].sort();

/**
 * A rule of space-separated words; `core` is the group of no name. Words are sorted, as every published copy of these
 * roles has them.
 */
export function on(groups: string, resources: string, verbs: string, ...names: string[]): PolicyRule {
  return {
    verbs: sorted(verbs),
    apiGroups: groups
      .split(' ')
      .map(group => (group === 'core' ? '' : group))
      .sort(),
    resources: sorted(resources),
    ...(names.length ? { resourceNames: names } : {}),
  };
}

/** A rule on paths outside the resources. */
export const onUrls = (urls: string, verbs = 'get'): PolicyRule => ({
  verbs: sorted(verbs),
  nonResourceURLs: sorted(urls),
});

/** Verb sets the default roles are made of. */
export const READ = 'get list watch';
export const WRITE = 'create update patch delete deletecollection';
export const READ_WRITE = `${READ} ${WRITE}`;
export const READ_UPDATE = `${READ} update patch`;

/** What everything that reports events may do. */
export const EVENTS = on('core events.orchestrator.io', 'events', 'create update patch');

/** System namespaces, in neutral names. */
export const SYSTEM = 'orchestrator-system';
export const PUBLIC = 'orchestrator-public';
