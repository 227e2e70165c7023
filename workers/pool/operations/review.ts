import { InvalidCredentials, type Received as Credentials } from '../../../core/api/access.js';
import type { ReviewContext, ReviewedToken } from '../../../core/api/strategy.js';
import { completeUser } from '../../../core/access/identity.js';
import type { Target } from '../../../core/model/target.js';
import type { Registry } from '../../../core/schema/resource.js';
import { type Context, strategyContextOf } from '../context.js';
import { managersOfNew, setManagers } from '../stages/managers.js';
import { clearSystemMetadata, dropRepeatedOwners } from '../stages/metadata.js';
import type { AuthorizedRequest, DecodedObject, Review } from '../types.js';

/** POST on a kind that is answered and never stored. */
export function reviewDraft(context: Context, { request, options, object: draft }: DecodedObject): Review {
  dropRepeatedOwners(draft, request.warnings, false);
  const managedFields = setManagers(draft, managersOfNew(context, request, draft));
  clearSystemMetadata(draft);
  return { is: 'review', request, dryRun: options.dryRun, draft, managedFields };
}

/** A request whose only content is a bearer token. */
const requestWith = (token: string, path: string, audiences: readonly string[]): Credentials => ({
  header: name => (name === 'authorization' ? `Bearer ${token}` : undefined),
  headers: () => [['authorization', `Bearer ${token}`]],
  remoteAddress: '',
  path,
  ...(audiences.length > 0 ? { audiences } : {}),
  warn: () => {},
});

/** The user of a token, if it is valid. */
async function review({ authentication }: Context, request: Credentials): Promise<ReviewedToken> {
  try {
    const { user, audiences } = await authentication.authenticate(request);
    return user ? { user: completeUser(user), ...(audiences ? { audiences } : {}) } : { reasons: [] };
  } catch (thrown) {
    if (thrown instanceof InvalidCredentials) return { reasons: thrown.reasons };
    throw thrown;
  }
}

/** A target as authorizers know it: with the neutral name of its group. */
const toNeutral = (registry: Registry, target: Target): Target =>
  target.is === 'resource'
    ? { ...target, group: registry.groups.get(target.group)?.neutralName ?? target.group }
    : target;

/** Returns the functions that the review of a request may call. */
export function reviewContext(context: Context, request: AuthorizedRequest, dryRun: boolean): ReviewContext {
  const { authorization, registry } = context;
  return {
    ...strategyContextOf(context, request, dryRun),
    authenticate: (token, audiences) => review(context, requestWith(token, request.target.path, audiences)),
    authorize: async (user, target) => (await authorization.authorize(user, toNeutral(registry, target))).decision,
    explain: (user, target) => authorization.explain(user, toNeutral(registry, target)),
    rulesFor: (user, namespace) => authorization.rulesFor(user, namespace),
  };
}
