import type { ApiObject } from '../../model/object.js';

/**
 * The permissions of a user as RBAC rules. Groups are in the naming of the server.
 *
 * @example
 * const readers: UserRules = { resourceRules: [{ verbs: ['get'], apiGroups: [''], resources: ['*'] }], pathRules: [] };
 */
export interface UserRules {
  readonly resourceRules: readonly {
    readonly verbs: readonly string[];
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    /** Absent or empty: objects of any name. */
    readonly resourceNames?: readonly string[];
  }[];
  readonly pathRules: readonly { readonly verbs: readonly string[]; readonly nonResourceURLs: readonly string[] }[];
  /** Whether the user may have permissions that these rules do not show. */
  readonly incomplete?: boolean;
  /** The text of reviews about rules that could not be read, or that are not shown; absent if there are none. */
  readonly error?: string;
}

/**
 * A rule of an authorizer that allows a request, or nearly does. Names are in the naming of the server.
 *
 * @example
 * const near: NearRule = { source: 'role "view"', rule: '{"verbs":["get"]}', missing: ['verb'] };
 */
export interface NearRule {
  /** The origin of the rule, such as a binding with its role. */
  readonly source: string;
  /** The rule as a text that people can read, such as JSON. */
  readonly rule: string;
  /**
   * The parts of the request that the rule does not match: `verb`, `resource`, `namespace`. Empty: the rule allows the
   * request.
   */
  readonly missing: readonly string[];
}

/**
 * The answer of an authorizer to the question why it allows a request or not.
 *
 * @example
 * const explanation: Explanation = { rules: [near], grant: [role, binding] };
 */
export interface Explanation {
  /** The rules that allow the request or, if none does, those that are nearest to it, the nearest first. */
  readonly rules: readonly NearRule[];
  /**
   * The smallest objects that would allow the request once they are created. Absent: the authorizer has no such
   * objects.
   */
  readonly grant?: readonly ApiObject[];
}

/**
 * The decision of one authorizer about a request.
 *
 * @example
 * const opinion: Opinion = { plugin: 'rbac', is: 'noOpinion' };
 */
export interface Opinion {
  readonly plugin: string;
  readonly is: 'allow' | 'deny' | 'noOpinion';
  readonly reason?: string | undefined;
}

/**
 * The decision of one authorizer with its explanation. `error`: the authorizer failed to explain its decision or, if it
 * denies without a reason, to decide at all, which refuses the request.
 *
 * @example
 * const said: ExplainedOpinion = { plugin: 'rbac', is: 'noOpinion', explanation: { rules: [near] } };
 */
export interface ExplainedOpinion extends Opinion {
  readonly explanation?: Explanation | undefined;
  readonly error?: string;
}
