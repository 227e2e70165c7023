import type { PolicyRule } from '../rbac/policy.js';

/** A default role, in neutral names. Without `namespace` it is a cluster role. */
export interface RoleSpec {
  readonly name: string;
  readonly namespace?: string;
  readonly rules: readonly PolicyRule[];
  /** The aggregating role (`admin`, `edit`, `view`) that selects this role. */
  readonly aggregateTo?: string;
  /** This role selects those with its own `aggregate-to-…` label. */
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

const sortWords = (text: string): string[] => [...new Set(text.split(' '))].sort();

/**
 * A rule. Its arguments are words separated by spaces; `core` means the group without a name. Words are sorted, as in
 * upstream's published roles.
 */
export function on(groups: string, resources: string, verbs: string, ...names: string[]): PolicyRule {
  return {
    verbs: sortWords(verbs),
    apiGroups: groups
      .split(' ')
      .map(group => (group === 'core' ? '' : group))
      .sort(),
    resources: sortWords(resources),
    ...(names.length ? { resourceNames: names } : {}),
  };
}

/** A rule for non-resource URLs. */
export const onUrls = (urls: string, verbs = 'get'): PolicyRule => ({
  verbs: sortWords(verbs),
  nonResourceURLs: sortWords(urls),
});

/** Verbs that read objects. */
export const READ = 'get list watch';
/** Verbs that write objects. */
export const WRITE = 'create update patch delete deletecollection';
/** All verbs of the default roles that read and write. */
export const READ_WRITE = `${READ} ${WRITE}`;
/** Verbs of components that update objects which others create. */
export const READ_UPDATE = `${READ} update patch`;

/** The rule of components that report events. */
export const EVENTS = on('core events.orchestrator.io', 'events', 'create update patch');

/** The system namespace, in neutral names. */
export const SYSTEM = 'orchestrator-system';
/** The namespace that all users can read, in neutral names. */
export const PUBLIC = 'orchestrator-public';
