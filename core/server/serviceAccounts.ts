import { existsSync } from 'node:fs';
import { ConfigError } from '../api/point.js';
import { namingOf } from '../naming.js';
import type { ServiceAccountConfig } from '../../plugins/authn/serviceAccount/config.js';
import { readSigningKey, readVerificationKeys } from '../../plugins/authn/serviceAccount/keys.js';
import { atFlag } from '../settings/atFlag.js';
import type { Settings } from '../settings/settings.js';

const HOUR = 3_600_000;
/** Upstream's bound of a token's lifetime, in seconds. */
const MAX_SECONDS = 2 ** 32;

const isUrl = (text: string): boolean => URL.canParse(text);

function checkIssuers(issuers: readonly string[]): void {
  const seen = new Set<string>();
  for (const issuer of issuers) {
    if (seen.has(issuer))
      throw new ConfigError('--service-account-issuer', `${JSON.stringify(issuer)} is given twice: omit one`);
    if (issuer.includes(':') && !isUrl(issuer))
      throw new ConfigError(
        '--service-account-issuer',
        `${JSON.stringify(issuer)} has a ":" but is not a URL; write it like https://issuer.example.com`,
      );
    seen.add(issuer);
  }
}

function checkJwksUri(uri: string): void {
  if (!isUrl(uri) || new URL(uri).protocol !== 'https:')
    throw new ConfigError('--service-account-jwks-uri', `must be a URL that begins with https://, not ${uri}`);
}

function checkMaxExpiration(milliseconds: number): void {
  if (milliseconds !== 0 && (milliseconds < HOUR || milliseconds / 1000 > MAX_SECONDS))
    throw new ConfigError('--service-account-max-token-expiration', 'must be between 1 hour and 2^32 seconds');
}

function checkKeyFile(flag: string, file: string, read: (file: string) => unknown): void {
  if (!existsSync(file)) throw new ConfigError(flag, `there is no file ${file}`);
  atFlag(flag, () => read(file));
}

/** Checks the settings of service accounts. Throws ConfigError, which names the flag and the fix. */
export function checkServiceAccounts(settings: Settings): Settings {
  const { serviceAccountIssuer, serviceAccountJwksUri, serviceAccountMaxTokenExpiration } = settings;
  if (serviceAccountIssuer) checkIssuers(serviceAccountIssuer);
  if (serviceAccountJwksUri !== undefined) checkJwksUri(serviceAccountJwksUri);
  if (serviceAccountMaxTokenExpiration !== undefined) checkMaxExpiration(serviceAccountMaxTokenExpiration);
  for (const file of settings.serviceAccountKeyFile ?? [])
    checkKeyFile('--service-account-key-file', file, readVerificationKeys);
  const { serviceAccountSigningKeyFile: signing } = settings;
  if (signing !== undefined) checkKeyFile('--service-account-signing-key-file', signing, readSigningKey);
  return settings;
}

/** The issuer of the server's own tokens, followed by other issuers that are accepted like it. */
export const ownIssuersOf = ({ serviceAccountIssuer, naming }: Settings): readonly string[] =>
  serviceAccountIssuer ?? [`https://${namingOf(naming).product}.default.svc`];

/**
 * The configuration of the plugin. Without an issuer, tokens are those of the server's own Service. Key files replace
 * the keys that verify tokens by default: the signing key, and the key of the serving certificate if one was given
 * (A193). The server's own key always verifies tokens as long as it signs them.
 */
export function serviceAccountConfig(settings: Settings, ownKey: string, host: string): ServiceAccountConfig {
  const issuers = ownIssuersOf(settings);
  const servingKey = settings.tlsPrivateKeyFile === undefined ? [] : [settings.tlsPrivateKeyFile];
  const signingKeyFile = settings.serviceAccountSigningKeyFile ?? ownKey;
  const maxMs = settings.serviceAccountMaxTokenExpiration ?? 0;
  return {
    issuers,
    audiences: settings.apiAudiences ?? issuers,
    keyFiles:
      settings.serviceAccountKeyFile && settings.serviceAccountSigningKeyFile
        ? settings.serviceAccountKeyFile
        : [signingKeyFile, ...(settings.serviceAccountKeyFile ?? servingKey)],
    signingKeyFile,
    makesKey: settings.serviceAccountSigningKeyFile === undefined,
    ...(maxMs > 0 ? { maxSeconds: Math.floor(maxMs / 1000) } : {}),
    extend: settings.serviceAccountExtendTokenExpiration,
    lookup: settings.serviceAccountLookup,
    ...(settings.serviceAccountJwksUri === undefined ? {} : { jwksUri: settings.serviceAccountJwksUri }),
    host,
  };
}
