import type { StoredObject } from '../../../core/api/access.js';
import { identify } from '../../../core/access/identity.js';
import { impersonatedUser } from '../../../core/access/impersonate.js';
import { forbidden } from '../../../core/access/messages.js';
import { objectKey } from '../../../core/request/keys.js';
import { OWN_PAGE_HEADER } from '../../../core/model/wellKnown/ownPage.js';
import type { Target } from '../../../core/model/target.js';
import type { User } from '../../../core/model/user.js';
import type { ObjectRevision } from '../../../core/threads/messages/messages.js';
import type { Context } from '../context.js';
import type { RequestTrail } from '../trail.js';
import type { AuthorizedRequest, Permission, Received, Sender } from '../types.js';

/**
 * Authenticates the sender of a request, and the user on whose behalf it was sent. The front end may have found both in
 * its cache. `refusal` is for a sender that may not act as another user. Throws 401.
 */
export async function findSender(context: Context, received: Received): Promise<Sender> {
  const { job, route, warnings, trail } = received;
  if (job.user) return { user: job.user, identityFor: 'never', objects: [] };
  const { headers, certificate, hasInvalidCertificate = false, remoteAddress } = job.credentials!;
  // The front end knows credentials by the Authorization header, the certificate, and whether the sender is a page of
  // the server: an identity that depends on anything else must not be remembered under them.
  let dependsOnMore = false;
  const credentials = {
    header(name: string) {
      dependsOnMore ||= name !== 'authorization' && name !== OWN_PAGE_HEADER;
      // The first of several, as for the front end, which remembers the identity for that one.
      return headers.find(([given]) => given === name)?.[1];
    },
    headers() {
      dependsOnMore = true;
      return headers;
    },
    certificate,
    hasInvalidCertificate,
    get remoteAddress() {
      dependsOnMore = true;
      return remoteAddress;
    },
    get path() {
      dependsOnMore = true;
      return job.path;
    },
    // Every answer must carry the warning, so the identity has to be found each time.
    warn(text: string) {
      dependsOnMore = true;
      warnings.push(String(text));
    },
  };
  const authenticated = await context.authentication.authenticate(credentials);
  const { user: found, cacheFor, objects, use, by: authenticator } = authenticated;
  const user = identify(found, context.anonymous, route.target.path);
  const uncached = { identityFor: 'never', objects: [], use, authenticator } as const;
  try {
    const other = await impersonatedUser(headers, target => checkPermission(context, user, target, trail));
    if (other) return { user: other, ...uncached, impersonator: user };
  } catch (refusal) {
    // The sender is known nevertheless, and recorded.
    return { user, ...uncached, refusal };
  }
  // Without credentials, whether the request is anonymous may depend on the path.
  dependsOnMore ||= !found && context.anonymous.paths !== undefined;
  const identityFor = dependsOnMore ? 'never' : cacheFor;
  return { user, identityFor, objects: objects.map(revisionOf), use, authenticator };
}

/** The revision of an object that an identity depends on. */
const revisionOf = ({ storageName, object: { metadata } }: StoredObject): ObjectRevision => ({
  key: objectKey(storageName, metadata.namespace ?? '', metadata.name ?? ''),
  revision: Number(metadata.resourceVersion),
});

/** Asks the authorizers. Throws 403 unless one of them allows the request. Notes their opinions in the trail. */
export async function checkPermission(
  context: Context,
  user: User,
  target: Target,
  trail: RequestTrail,
): Promise<Permission> {
  const { decision, cacheFor, resources, opinions } = await context.authorization.authorize(user, target);
  if (decision.is === 'allow') {
    const { reason } = decision;
    return { allowedFor: cacheFor, resources, reason, allowedBy: opinions.at(-1)?.plugin };
  }
  trail.deny(opinions, target);
  throw forbidden(user, target, decision.reason ?? '', context.naming);
}

/** Throws 403 for an update of an object that does not exist, unless the sender may create it as well. */
export async function checkCreatePermission(
  context: Context,
  { user, target, trail }: AuthorizedRequest,
): Promise<void> {
  await checkPermission(context, user, { ...target, verb: 'create' }, trail);
}
