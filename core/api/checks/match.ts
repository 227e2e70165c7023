/**
 * The operations of admission.
 *
 * @example
 * const on: Match = { operations: ['CREATE', 'UPDATE'] };
 */
export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/**
 * The changes for which a mutator or validator is called. An absent member, and one that contains `'*'`, matches
 * everything, except for subresources. The server does not start with a member that does not exist, or a name that
 * nothing can have. It logs a warning for a name that only a custom resource definition can add.
 *
 * @example
 * const on: Match = { groups: ['apps'], resources: ['deployments'], subresources: ['', 'scale'] };
 */
export interface Match {
  /** API groups without their versions, in either naming; `''` is that of pods. */
  readonly groups?: readonly string[];
  /** Plural names. */
  readonly resources?: readonly string[];
  /** Mutators are called for CREATE and UPDATE only. */
  readonly operations?: readonly (Operation | '*')[];
  /** Subresources; `''` is the main resource, `'*'` stands for all. Absent: only the main resource. */
  readonly subresources?: readonly string[];
  /** Not a member. Declared because TypeScript does not report unknown members in the result of a function. */
  readonly group?: never;
  /** Not a member. */
  readonly resource?: never;
  /** Not a member. */
  readonly operation?: never;
  /** Not a member. */
  readonly verbs?: never;
  /** Not a member. */
  readonly subresource?: never;
}
