import { type Host, nameOf, type Target, type User } from '../../../core/api/index.js';
import type { Rbac } from './evaluate.js';

const quote = (text: string): string => JSON.stringify(text);

/** Returns the description of a request for a denial in the log. */
function describeOperation(target: Target, naming: Host['naming']): string {
  if (target.is === 'path') return `${quote(target.verb)} nonResourceURL ${quote(target.path)}`;
  const { verb, resource, subresource } = target;
  const group = naming.group(target.group);
  const name = nameOf(target);
  const full = `${resource}${group && `.${group}`}${subresource && `/${subresource}`}`;
  return `${quote(verb)} resource ${quote(full)}${name && ` named ${quote(name)}`}`;
}

/** Returns upstream's log text for a request that no rule allows. */
function describeDenial(user: User, target: Target, naming: Host['naming']): string {
  const scope =
    target.is === 'resource' && target.namespace ? `in namespace ${quote(target.namespace)}` : 'cluster-wide';
  const groups = `[${user.groups.map(quote).join(' ')}]`;
  const operation = describeOperation(target, naming);
  return `RBAC: no rules authorize user ${quote(user.name)} with groups ${groups} to ${operation} ${scope}`;
}

/** The same decisions, with a record in the log for each request that no rule allows (spec, "RBAC rules"). */
export const withLoggedDenials = (rbac: Rbac, { log, naming }: Pick<Host, 'log' | 'naming'>): Rbac => ({
  ...rbac,
  authorize(user, target) {
    const decision = rbac.authorize(user, target);
    if (decision.is !== 'allow') log.debug({}, describeDenial(user, target, naming));
    return decision;
  },
});
