import type { Host, HttpDocument } from '../../../core/api/index.js';
import type { ServiceAccountConfig } from './config.js';
import { toJwk } from './keys.js';
import { tokenKeys } from './tokenKeys.js';

/** Clients may cache the documents for an hour: keys must be published an hour before they are used. */
const CACHE = { 'cache-control': 'public, max-age=3600' };

/**
 * The discovery documents of the issuer (OpenID Connect Discovery 1.0), with which other services verify tokens of
 * service accounts. There are none for an issuer that is not an https URL, because clients could not discover it.
 */
export function issuerDocuments(config: ServiceAccountConfig, { log }: Pick<Host, 'log'>): readonly HttpDocument[] {
  const [issuer = ''] = config.issuers;
  if (!issuer.startsWith('https://')) {
    log.warn(
      { issuer },
      'the issuer of service account tokens is not an https URL: its discovery documents are not served',
    );
    return [];
  }
  const keys = tokenKeys(config);
  const configuration = async (port: number): Promise<object> => ({
    issuer,
    jwks_uri: config.jwksUri ?? `https://${config.host}:${port}/openid/v1/jwks`,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [...new Set((await keys()).verifying.map(key => key.alg))].sort(),
  });
  return [
    {
      path: '/.well-known/openid-configuration',
      contentType: 'application/json',
      headers: CACHE,
      openApi: { operationId: 'getServiceAccountIssuerOpenIDConfiguration', tag: 'WellKnown' },
      body: async ({ port }) => JSON.stringify(await configuration(port)),
    },
    {
      path: '/openid/v1/jwks',
      contentType: 'application/jwk-set+json',
      headers: CACHE,
      openApi: { operationId: 'getServiceAccountIssuerOpenIDKeyset', tag: 'openid' },
      body: async () => JSON.stringify({ keys: await Promise.all((await keys()).verifying.map(toJwk)) }),
    },
  ];
}
