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

/** Verbs that read objects. */
export const READ = 'get list watch';
/** Verbs that write objects. */
export const WRITE = 'create update patch delete deletecollection';
/** All verbs of the default roles that read and write. */
export const READ_WRITE = `${READ} ${WRITE}`;
/** Verbs of components that update objects which others create. */
export const READ_UPDATE = `${READ} update patch`;

/** The rule of everything that reports events. */
export const EVENTS = on('core events.orchestrator.io', 'events', 'create update patch');

/** The system namespace, in neutral names. */
export const SYSTEM = 'orchestrator-system';
/** The namespace that everybody can read, in neutral names. */
export const PUBLIC = 'orchestrator-public';
