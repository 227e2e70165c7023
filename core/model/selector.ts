/** One requirement of a label or field selector, normalised (`==` is `=`). */
export interface Requirement {
  readonly key: string;
  readonly operator: '=' | '!=' | 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt';
  readonly values: readonly string[];
}

/** A conjunction of requirements; an empty list selects everything. */
export type Selector = readonly Requirement[];
