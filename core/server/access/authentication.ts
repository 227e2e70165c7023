import { existsSync } from 'node:fs';
import { authenticatorOfFlags, type JwtConfig, type OidcFlags } from '../../../plugins/authn/jwt/config.js';
import { readAuthenticationFile } from '../../../plugins/authn/jwt/file.js';
import type { AuthenticationConfiguration, Issuer } from '../../../plugins/authn/jwt/types.js';
import { readAuthorities } from '../../../plugins/authn/authorities.js';
import type { RequestHeaderConfig } from '../../../plugins/authn/requestHeader.js';
import type { TokenWebhookConfig } from '../../../plugins/authn/webhook/config.js';
import type { AnonymousPolicy } from '../../access/identity.js';
import { ConfigError } from '../../api/point.js';
import { featureGates } from '../../features/gates.js';
import { readBounded } from '../../files/watchedFile.js';
import { CONFIG_FILE_BYTES } from '../../limits.js';
import { namingOf } from '../../naming.js';
import { atFlag } from '../../settings/atFlag.js';
import type { Settings } from '../../settings/settings.js';
import { readWebhookFile } from '../../services/webhooks/kubeconfig.js';
import { ownIssuersOf } from '../serviceAccounts.js';

/** The optional flags of OpenID Connect, besides the two required ones. */
const OIDC = {
  oidcUsernameClaim: '--oidc-username-claim',
  oidcUsernamePrefix: '--oidc-username-prefix',
  oidcGroupsClaim: '--oidc-groups-claim',
  oidcGroupsPrefix: '--oidc-groups-prefix',
  oidcRequiredClaim: '--oidc-required-claim',
  oidcCaFile: '--oidc-ca-file',
  oidcSigningAlgs: '--oidc-signing-algs',
} as const;

/** The optional flags of the authenticating proxy, besides the two required ones. */
const REQUEST_HEADER = {
  requestheaderAllowedNames: '--requestheader-allowed-names',
  requestheaderUidHeaders: '--requestheader-uid-headers',
  requestheaderGroupHeaders: '--requestheader-group-headers',
  requestheaderExtraHeadersPrefix: '--requestheader-extra-headers-prefix',
} as const;

const isOn = (settings: Settings, gate: string): boolean => featureGates(settings).enabled.includes(gate);

/** Returns whether any flag of a group is given. Throws ConfigError if one is, and a required one is missing. */
function checkTogether(
  settings: Settings,
  required: readonly (readonly [keyof Settings, flag: string])[],
  others: Readonly<Record<string, string>>,
): boolean {
  const given = (name: string): boolean => settings[name as keyof Settings] !== undefined;
  const set = [...required, ...Object.entries(others)].filter(([name]) => given(name));
  if (set.length === 0) return false;
  const missing = required.filter(([name]) => !given(name)).map(([, flag]) => flag);
  if (missing.length > 0) throw new ConfigError(set[0]![1], `needs ${missing.join(' and ')} too`);
  return true;
}

/** Whether the flags of OpenID Connect are given. Throws ConfigError if they are incomplete. */
const usesOidc = (settings: Settings): boolean =>
  checkTogether(
    settings,
    [
      ['oidcIssuerUrl', '--oidc-issuer-url'],
      ['oidcClientId', '--oidc-client-id'],
    ],
    OIDC,
  );

const oidcFlags = (settings: Settings): OidcFlags => ({
  issuerUrl: settings.oidcIssuerUrl!,
  clientId: settings.oidcClientId!,
  usernameClaim: settings.oidcUsernameClaim,
  usernamePrefix: settings.oidcUsernamePrefix,
  groupsClaim: settings.oidcGroupsClaim,
  groupsPrefix: settings.oidcGroupsPrefix,
  requiredClaims: settings.oidcRequiredClaim,
  caFile: settings.oidcCaFile,
  signingAlgs: settings.oidcSigningAlgs,
});

/** The configuration of the plugin for tokens of identity providers; undefined without any. */
export function jwtConfig(settings: Settings): JwtConfig | undefined {
  const { authenticationConfig: file } = settings;
  const ownIssuers = ownIssuersOf(settings);
  if (file !== undefined) return { file, ownIssuers };
  return settings.oidcIssuerUrl === undefined ? undefined : { flags: oidcFlags(settings), ownIssuers };
}

/** The configuration of the plugin for authenticating proxies; undefined without one. */
export function requestHeaderConfig(settings: Settings): RequestHeaderConfig | undefined {
  const { requestheaderClientCaFile: clientCaFile } = settings;
  if (clientCaFile === undefined) return undefined;
  const lower = (names: readonly string[] = []): string[] => names.map(name => name.toLowerCase());
  return {
    clientCaFile,
    allowedNames: settings.requestheaderAllowedNames ?? [],
    usernameHeaders: lower(settings.requestheaderUsernameHeaders),
    uidHeaders: lower(settings.requestheaderUidHeaders),
    groupHeaders: lower(settings.requestheaderGroupHeaders),
    extraHeaderPrefixes: lower(settings.requestheaderExtraHeadersPrefix),
  };
}

/** The configuration of the plugin for the webhook that reviews tokens; undefined without one. */
export function tokenWebhookConfig(settings: Settings): TokenWebhookConfig | undefined {
  const { authenticationTokenWebhookConfigFile: file } = settings;
  if (file === undefined) return undefined;
  return {
    file,
    version: settings.authenticationTokenWebhookVersion,
    cacheMs: settings.authenticationTokenWebhookCacheTtl,
    audiences: settings.apiAudiences ?? ownIssuersOf(settings),
  };
}

/** A name of a header (RFC 9110, 5.1). */
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;

function checkRequestHeader(settings: Settings): void {
  const isUsed = checkTogether(
    settings,
    [
      ['requestheaderClientCaFile', '--requestheader-client-ca-file'],
      ['requestheaderUsernameHeaders', '--requestheader-username-headers'],
    ],
    REQUEST_HEADER,
  );
  if (!isUsed) return;
  atFlag('--requestheader-client-ca-file', () => readAuthorities(settings.requestheaderClientCaFile!));
  const flags = { requestheaderUsernameHeaders: '--requestheader-username-headers', ...REQUEST_HEADER };
  for (const [name, flag] of Object.entries(flags)) {
    if (name === 'requestheaderAllowedNames') continue;
    const bad = (settings[name as keyof typeof flags] ?? []).find(header => !HEADER_NAME.test(header));
    if (bad !== undefined) throw new ConfigError(flag, `must be names of headers, not ${JSON.stringify(bad)}`);
  }
  if (settings.requestheaderUsernameHeaders!.length === 0)
    throw new ConfigError('--requestheader-username-headers', 'must name at least one header');
  if (settings.requestheaderUidHeaders !== undefined && !isOn(settings, 'RemoteRequestHeaderUID'))
    throw new ConfigError('--requestheader-uid-headers', 'needs --feature-gates=RemoteRequestHeaderUID=true');
  if (settings.listeningThreads > 1)
    throw new ConfigError(
      '--listening-threads',
      'must be 1 with --requestheader-client-ca-file, whose requests the listener node serves, in one thread',
    );
}

/** Warnings about these settings, which are logged at the start. `anonymous`: what `checkAuthentication` returned. */
export const authenticationWarnings = (settings: Settings, anonymous: AnonymousPolicy): readonly string[] => [
  ...(settings.requestheaderClientCaFile !== undefined && settings.listener === 'uws'
    ? ['--listener=uws: the listener node is used, because uws removes bytes of header values, which name users here']
    : []),
  ...(settings.authorizationMode.includes('AlwaysAllow') && settings.anonymousAuth !== false && !anonymous.enabled
    ? ['--anonymous-auth: is off, because the mode AlwaysAllow would allow everything to everybody; use another mode']
    : []),
];

/**
 * Whether the flags allow requests without credentials. If all requests are allowed, they must be authenticated (spec,
 * "Anonymous requests"): as in upstream, the flag has no effect with the mode AlwaysAllow, unless that mode is set by
 * an authorization file.
 */
function allowsAnonymous({ authorizationMode, authorizationConfig, anonymousAuth }: Settings): boolean {
  if (!authorizationMode.includes('AlwaysAllow')) return anonymousAuth ?? true;
  return authorizationConfig !== undefined && anonymousAuth === true;
}

/** Checks the authentication file, and resolves with its content. */
async function checkFile(settings: Settings, file: string): Promise<AuthenticationConfiguration> {
  if (!isOn(settings, 'StructuredAuthenticationConfiguration'))
    throw new ConfigError(
      '--authentication-config',
      'needs --feature-gates=StructuredAuthenticationConfiguration=true, which is the default',
    );
  const flag = ['oidcIssuerUrl', 'oidcClientId', ...Object.keys(OIDC)].find(
    name => settings[name as keyof Settings] !== undefined,
  );
  if (flag !== undefined)
    throw new ConfigError(
      '--authentication-config',
      'cannot be used with the flags --oidc-*: write what they say into the file',
    );
  const content = await read(settings, file);
  if (content.anonymous && settings.anonymousAuth !== undefined)
    throw new ConfigError('--anonymous-auth', `cannot be used if ${file} has \`anonymous\`: omit one of them`);
  return content;
}

async function read(settings: Settings, file: string): Promise<AuthenticationConfiguration> {
  const naming = namingOf(settings.naming);
  try {
    return await readAuthenticationFile(await readBounded(file, CONFIG_FILE_BYTES), file, {
      naming,
      ownIssuers: ownIssuersOf(settings),
      allowsAnonymous: isOn(settings, 'AnonymousAuthConfigurableEndpoints'),
    });
  } catch (error) {
    throw new ConfigError('--authentication-config', (error as Error).message);
  }
}

/** Checks the identity providers of the authentication file or of flags, and resolves with them. */
async function identityProviders(settings: Settings): Promise<AuthenticationConfiguration> {
  const { authenticationConfig: file } = settings;
  if (file !== undefined) return await checkFile(settings, file);
  if (!usesOidc(settings)) return { jwt: [] };
  return { jwt: [await authenticatorOfFlags(oidcFlags(settings), namingOf(settings.naming))] };
}

/** The configuration of authentication, from the settings and the files that they name. */
export interface Authentication {
  /** The requests that may have no credentials. */
  readonly anonymous: AnonymousPolicy;
  /** The first identity provider, at which people sign in to the console; undefined if there is none. */
  readonly issuer: Issuer | undefined;
}

/**
 * Checks the settings of authentication, and the files that they name. Throws ConfigError, which names the flag, the
 * file and the fix.
 */
export async function checkAuthentication(settings: Settings): Promise<Authentication> {
  checkRequestHeader(settings);
  const { authenticationTokenWebhookConfigFile: webhook } = settings;
  if (webhook !== undefined) {
    const flag = '--authentication-token-webhook-config-file';
    if (!existsSync(webhook)) throw new ConfigError(flag, `there is no file ${webhook}`);
    atFlag(flag, () => readWebhookFile(webhook, { allowsHttp: true }));
  }
  const { jwt, anonymous } = await identityProviders(settings);
  return { anonymous: anonymous ?? { enabled: allowsAnonymous(settings) }, issuer: jwt[0]?.issuer };
}
