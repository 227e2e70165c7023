import type { DependsOn } from '../../core/api/access.js';
import { identify } from '../../core/access/identity.js';
import { impersonated } from '../../core/access/impersonate.js';
import { forbidden } from '../../core/access/messages.js';
import type { Route } from '../../core/request/route.js';
import type { Target } from '../../core/model/target.js';
import type { User } from '../../core/model/user.js';
import type { Grant, Job } from '../../core/threads/messages.js';
import type { Context } from './context.js';

/**
 * Stage 1: who sent it, or on whose behalf. The front end's cache may have known already. Throws 401, and 403 to who
 * may not act as another.
 */
export async function authenticate(
  context: Context,
  job: Job,
  route: Route,
  warnings: string[],
): Promise<{ user: User; identityFor: Grant['identityFor'] }> {
  if (job.user) return { user: job.user, identityFor: 'never' };
  const { headers, certificate, remoteAddress } = job.credentials!;
  // The front end knows credentials by these two alone: an identity found by anything else must not be remembered under
  // them.
  let elsewhere = false;
  const received = {
    header(name: string) {
      elsewhere ||= name !== 'authorization';
      // The first of several, as the front end has it: what is found is remembered for that one.
      return headers.find(([given]) => given === name)?.[1];
    },
    certificate,
    get remoteAddress() {
      elsewhere = true;
      return remoteAddress;
    },
    get path() {
      elsewhere = true;
      return job.path;
    },
    // What is told with every answer is not remembered for later ones.
    warn(text: string) {
      elsewhere = true;
      warnings.push(text);
    },
  };
  const { user: found, cacheFor } = await context.authentication.authenticate(received);
  const user = identify(found, { enabled: context.anonymous }, route.target.path);
  const other = await impersonated(headers, target => authorize(context, user, target));
  return other ? { user: other, identityFor: 'never' } : { user, identityFor: elsewhere ? 'never' : cacheFor };
}

/** The question upstream asks for this request; `system:masters` and modes are plugins. */
export async function authorize(context: Context, user: User, target: Target): Promise<DependsOn> {
  const { decision, dependsOn } = await context.authorization.authorize(user, target);
  if (decision.is === 'allow') return dependsOn;
  throw forbidden(user, target, decision.reason ?? '', context.naming);
}

/** An update on an absent object creates it: that needs the permission to create as well. */
export async function authorizeCreate(context: Context, user: User, target: Target): Promise<void> {
  if (target.is === 'resource') await authorize(context, user, { ...target, verb: 'create' });
}
