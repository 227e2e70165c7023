import type { JWTPayload } from 'jose';
import type { Host, TokenIssuer } from '../../../core/api/index.js';
import { randomUUID } from '../../../core/runtime/random.js';
import { claimsOf } from './claims.js';
import type { ServiceAccountConfig } from './config.js';
import { jose } from './jose.js';
import { legacyClaims, legacyIssuer } from './legacy.js';
import { tokenKeys } from './tokenKeys.js';

/** Signs tokens with the key of the configuration. */
export function tokenIssuerOf(config: ServiceAccountConfig, { naming }: Pick<Host, 'naming'>): TokenIssuer {
  const keys = tokenKeys(config);
  const sign = async (claims: JWTPayload): Promise<string> => {
    const { SignJWT } = await jose();
    const { kid, alg, key } = (await keys()).signing;
    return new SignJWT(claims).setProtectedHeader({ alg, kid }).sign(key);
  };
  return {
    audiences: config.audiences,
    maxSeconds: config.maxSeconds,
    extend: config.extend,
    issue: token => sign({ ...claimsOf(token, naming), iss: config.issuers[0]!, jti: randomUUID() }),
    issueLegacy: token => sign({ ...legacyClaims(token, naming), iss: legacyIssuer(naming) }),
  };
}
