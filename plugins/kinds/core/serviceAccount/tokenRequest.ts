import type { BoundObjectReference, TokenRequest } from '../../../../kinds/authentication/v1.js';
import type { ApiObject } from '../../../../core/model/object.js';
import type { Time } from '../../../../core/model/scalars.js';
import type { Pod, ServiceAccount } from '../../../../kinds/v1.js';
import type { StrategyContext, SubresourceAnswer } from '../../../../core/api/strategy.js';
import type { Host } from '../../../../core/api/host.js';
import {
  badRequest,
  conflict,
  invalid,
  invalidObject,
  notFound,
  Refusal,
  type Violation,
} from '../../../../core/model/refusal.js';
import { checkNameParameter } from '../../../../core/model/nameParameter.js';
import { type NewToken, tokenIssuer, type TokenIssuer } from '../../../../core/api/tokens.js';

/** Bounds and default of the lifetime of a token, in seconds. */
const LEAST_SECONDS = 600;
const MOST_SECONDS = 2 ** 32;
const DEFAULT_SECONDS = 3600;
/**
 * The lifetime that node agents ask for on behalf of pods which did not choose one. Programs in such pods may not know
 * that tokens expire: these tokens are valid for a year, and state from when on they should have been replaced.
 */
const EXTENDABLE_SECONDS = 3607;
const EXTENDED_SECONDS = 365 * 24 * 3600;

const refuseInvalid = (group: string, name: string, violation: Violation): never => {
  throw invalidObject(group, 'TokenRequest', name, [violation]);
};

/** Throws 422 if the body names another account than the path. */
function checkNames({ metadata }: TokenRequest, account: ServiceAccount, group: string): void {
  for (const [member, what] of [
    ['name', 'name'],
    ['namespace', 'namespace'],
  ] as const) {
    const given = metadata[member];
    if (given && given !== account.metadata[member])
      refuseInvalid(
        group,
        account.metadata.name!,
        invalid(`metadata.${member}`, given, `must match the service account ${what} if specified`),
      );
  }
}

/** The lifetime that is asked for. Throws 422 outside of its bounds. */
function lifetimeOf(request: TokenRequest, group: string): number {
  const seconds = Number(request.spec.expirationSeconds ?? DEFAULT_SECONDS);
  const refuse = (why: string): never =>
    refuseInvalid(group, '', invalid('spec.expirationSeconds', seconds, `may not specify a duration ${why}`));
  if (seconds < LEAST_SECONDS) refuse('less than 10 minutes');
  if (seconds > MOST_SECONDS) refuse('larger than 2^32 seconds');
  return seconds;
}

/** The object that a token is bound to, in the part of a NewToken that names it. */
type Binding = Pick<NewToken, 'pod' | 'secret' | 'node'>;

function find(context: StrategyContext, resource: string, namespace: string, name: string): ApiObject {
  checkNameParameter(name);
  const found = context.lookup(`core/${resource}`, namespace, name);
  if (!found) throw notFound({ group: '', resource }, name);
  return found;
}

/** The node of a pod. One that does not exist is named without a uid. */
function nodeOf(pod: Pod, context: StrategyContext): ApiObject | undefined {
  const name = pod.spec.nodeName ?? '';
  if (name === '') return undefined;
  return context.lookup('core/nodes', '', name) ?? { apiVersion: 'v1', kind: 'Node', metadata: { name } };
}

function bindToPod(name: string, account: ServiceAccount, context: StrategyContext): Binding {
  const { namespace = '', name: accountName = '' } = account.metadata;
  const pod = find(context, 'pods', namespace, name) as Pod;
  if ((pod.spec.serviceAccountName ?? '') !== accountName)
    throw badRequest(
      `cannot bind token for serviceaccount ${JSON.stringify(accountName)} to pod running with different serviceaccount name.`,
    );
  return { pod, node: nodeOf(pod, context) };
}

/** The object that a reference names. Throws 400 for a kind that no token is bound to, 404, and 409 for another uid. */
function bind(reference: BoundObjectReference, account: ServiceAccount, context: StrategyContext): Binding {
  const { kind = '', apiVersion = '', name = '', uid = '' } = reference;
  const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/', 2) : ['', apiVersion];
  const { namespace = '' } = account.metadata;
  const binding: Binding | undefined =
    group !== ''
      ? undefined
      : kind === 'Pod'
        ? bindToPod(name, account, context)
        : kind === 'Secret'
          ? { secret: find(context, 'secrets', namespace, name) }
          : kind === 'Node'
            ? { node: find(context, 'nodes', '', name) }
            : undefined;
  if (!binding) throw badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${kind}`);
  const bound = binding.pod ?? binding.secret ?? binding.node!;
  if (uid !== '' && uid !== bound.metadata.uid)
    throw conflict(
      { group, resource: kind },
      name,
      `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  return binding;
}

/** When the token ends, and from when on it should have been replaced; in seconds since the epoch. */
function timesOf(
  seconds: number,
  audiences: readonly string[],
  { pod }: Binding,
  issuer: TokenIssuer,
  now: number,
): Pick<NewToken, 'issuedAt' | 'expiresAt' | 'warnAfter'> {
  const isOwn = audiences.every(audience => issuer.audiences.includes(audience));
  if (issuer.extend && pod && seconds === EXTENDABLE_SECONDS && isOwn)
    return { issuedAt: now, expiresAt: now + EXTENDED_SECONDS, warnAfter: now + seconds };
  return { issuedAt: now, expiresAt: now + seconds };
}

/** The lifetime, no longer than the server allows. A shorter one than was asked for is warned about. */
function boundLifetime(seconds: number, { maxSeconds }: TokenIssuer, context: StrategyContext): number {
  if (maxSeconds === undefined || seconds <= maxSeconds) return seconds;
  context.warn?.(`requested expiration of ${seconds} seconds shortened to ${maxSeconds} seconds`);
  return maxSeconds;
}

/** The id (`jti`) of a token; '' if it is not a JWT. */
function idOf(token: string): string {
  try {
    const payload = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8');
    const { jti } = JSON.parse(payload) as { readonly jti?: unknown };
    return typeof jti === 'string' ? jti : '';
  } catch {
    return '';
  }
}

const timestamp = (seconds: number): Time => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z` as Time;

/**
 * Answers a TokenRequest with a token of the account, for the audiences that it names or for this server. A token that
 * is bound to an object is valid while that exists.
 */
export const answerTokenRequest =
  (host: Pick<Host, 'at' | 'naming' | 'now'>): SubresourceAnswer<ServiceAccount> =>
  async (body, account, context) => {
    const request = body as TokenRequest;
    const issuer = host.at(tokenIssuer);
    if (!issuer) throw new Refusal('InternalError', 'Internal error occurred: no plugin makes tokens');
    const group = host.naming.group('authentication.orchestrator.io');
    checkNames(request, account, group);
    const asked = lifetimeOf(request, group);
    const given = request.spec.audiences ?? [];
    const audiences = given.length > 0 ? given : issuer.audiences;
    const reference = request.spec.boundObjectRef;
    const binding = reference ? bind(reference, account, context) : {};
    const seconds = boundLifetime(asked, issuer, context);
    const now = Math.floor(host.now() / 1000);
    const token = await issuer.issue({
      account,
      ...binding,
      audiences,
      ...timesOf(seconds, audiences, binding, issuer, now),
    });
    const id = idOf(token);
    if (id !== '')
      context.annotate?.(host.naming.label('authentication.orchestrator.io/issued-credential-id'), `JTI=${id}`);
    const { name, namespace } = account.metadata;
    const answer: TokenRequest = {
      ...request,
      metadata: { ...request.metadata, name, namespace, creationTimestamp: timestamp(now) },
      spec: { ...request.spec, audiences: [...audiences], expirationSeconds: seconds },
      status: { token, expirationTimestamp: timestamp(now + seconds) },
    };
    return answer;
  };
