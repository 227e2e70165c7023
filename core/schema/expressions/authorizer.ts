import type * as Cel from '../../cel/index.js';
import type { Authorization } from '../../api/access.js';
import type { Selector } from '../../model/selectors/selector.js';
import type { ResourceTarget, Target, Verb } from '../../model/target.js';
import type { User } from '../../model/user.js';
import { parseFieldSelector, parseLabelSelector } from '../../model/selectors/selectorSyntax.js';

/** The authorizers that decide for expressions, and the names by which they know groups. */
export interface DecisionSource {
  readonly authorization: Authorization;
  /** The neutral name of a group, given as clients name it. */
  neutralGroup(group: string): string;
}

const accountUser = ({ namespace, name }: { namespace: string; name: string }): User => ({
  name: `system:serviceaccount:${namespace}:${name}`,
  uid: '',
  groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
  extra: new Map(),
});

/** A selector of an expression. As in upstream, one that cannot be parsed is ignored. */
function selectorOf(text: string | undefined, parse: (text: string) => Selector): Selector | undefined {
  if (text === undefined) return undefined;
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

/** The request that a query asks about. */
function targetOf(query: Cel.AuthorizationQuery, source: DecisionSource): Target {
  if (query.path !== undefined) return { is: 'path', verb: query.verb, path: query.path };
  return {
    is: 'resource',
    verb: query.verb as Verb,
    group: source.neutralGroup(query.group ?? ''),
    version: '*',
    resource: query.resource ?? '',
    subresource: query.subresource ?? '',
    namespace: query.namespace ?? '',
    name: query.name ?? '',
    path: '',
    labelSelector: selectorOf(query.labelSelector, parseLabelSelector),
    fieldSelector: selectorOf(query.fieldSelector, parseFieldSelector),
  } satisfies ResourceTarget;
}

/** The value of `authorizer` for a user. It caches its decisions, so create one for each request. */
export function authorizerOf(cel: typeof Cel, user: User, source: DecisionSource): Cel.Authorizer {
  return new cel.Authorizer({
    async check(query) {
      const asked = query.serviceAccount ? accountUser(query.serviceAccount) : user;
      const { decision } = await source.authorization.authorize(asked, targetOf(query, source));
      return { allowed: decision.is === 'allow', ...(decision.reason ? { reason: decision.reason } : {}) };
    },
  });
}
