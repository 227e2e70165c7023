import type { JWTPayload } from 'jose';
import type { Authenticator, Host, Identified } from '../../../core/api/index.js';
import { bearerToken, unknownToken } from '../bearer.js';
import { accountUser, readClaims } from './claims.js';
import type { ServiceAccountConfig } from './config.js';
import { jose } from './jose.js';
import { candidates, readSigningKey, readVerificationKeys, type VerificationKey } from './keys.js';
import { legacyIssuer, readLegacyToken } from './legacy.js';
import { LEEWAY, TokenObjects } from './objects.js';

/** The public keys of the configuration, each once. */
export function verificationKeys({ keyFiles, signingKeyFile }: ServiceAccountConfig): readonly VerificationKey[] {
  const all = [...readVerificationKeys(signingKeyFile), ...keyFiles.flatMap(readVerificationKeys)];
  // Checked here as well, so that a server that could not sign does not start.
  readSigningKey(signingKeyFile);
  return [...new Map(all.map(key => [key.kid, key])).values()];
}

/** The claims of a token that one of the keys has signed and whose time has come and not passed. Throws 401. */
async function verify(token: string, keys: readonly VerificationKey[], now: number): Promise<JWTPayload> {
  const { jwtVerify, decodeProtectedHeader, errors } = await jose();
  try {
    for (const { key, alg } of candidates(keys, decodeProtectedHeader(token).kid)) {
      const options = { algorithms: [alg], currentDate: new Date(now), clockTolerance: LEEWAY };
      try {
        return (await jwtVerify(token, key, options)).payload;
      } catch (thrown) {
        const { JWSSignatureVerificationFailed, JOSEAlgNotAllowed } = errors;
        if (!(thrown instanceof JWSSignatureVerificationFailed || thrown instanceof JOSEAlgNotAllowed)) throw thrown;
      }
    }
  } catch (thrown) {
    // What is no JWT, or no valid one, has a class of the library; the decoder of headers throws TypeError.
    if (!(thrown instanceof errors.JOSEError || thrown instanceof TypeError)) throw thrown;
  }
  throw unknownToken();
}

/** The issuer that a token claims to have; undefined for what is no JWT. */
async function issuerIn(token: string): Promise<string | undefined> {
  try {
    return (await jose()).decodeJwt(token).iss;
  } catch {
    return undefined;
  }
}

const audiencesIn = ({ aud = [] }: JWTPayload): readonly string[] => (Array.isArray(aud) ? aud : [aud]);

/**
 * Authenticates the tokens of service accounts. Bound tokens are valid while their
 * account, and the pod, secret or node that they are bound to, exist under the uid that they name.
 */
export function serviceAccountTokens(
  config: ServiceAccountConfig,
  host: Pick<Host<'request'>, 'informer' | 'now' | 'naming' | 'log'>,
): Authenticator {
  const { naming, now } = host;
  const keys = verificationKeys(config);
  const objects = new TokenObjects(host);

  function authenticateBound(payload: JWTPayload, asked: readonly string[]): Identified {
    const claims = readClaims(payload, naming);
    const own = audiencesIn(payload);
    const audiences = asked.filter(audience => own.includes(audience));
    if (!claims || audiences.length === 0) throw unknownToken();
    const { iat, exp, jti } = payload;
    if (iat !== undefined && iat > now() / 1000 + LEEWAY) throw unknownToken();
    const { namespace, account, pod, secret, node } = claims;
    const found = [objects.live('core/serviceaccounts', namespace, account)];
    if (secret) found.push(objects.live('core/secrets', namespace, secret));
    if (pod) found.push(objects.live('core/pods', namespace, pod));
    // The node of a pod is told and not checked: the token ends with the pod.
    else if (node) found.push(objects.live('core/nodes', '', node));
    return {
      user: accountUser(claims, typeof jti === 'string' ? jti : '', naming),
      objects: found,
      audiences,
      ...(exp === undefined ? {} : { cacheFor: (exp + LEEWAY) * 1000 - now() }),
    };
  }

  return {
    cacheFor: 'forever',
    async authenticate(request) {
      const token = bearerToken(request);
      if (token === undefined) return null;
      const issuer = await issuerIn(token);
      const isLegacy = issuer === legacyIssuer(naming);
      if (issuer === undefined || !(isLegacy || config.issuers.includes(issuer))) throw unknownToken();
      const payload = await verify(token, keys, now());
      return isLegacy
        ? readLegacyToken(token, payload, objects, config, host, request)
        : authenticateBound(payload, request.audiences ?? config.audiences);
    },
  };
}
