/** A claim with a prefix for its values, or an expression over the claims. */
export type Mapping = { readonly claim: string; readonly prefix: string } | { readonly expression: string };

/** A check of the claims of a token. */
export type ClaimRule =
  | { readonly claim: string; readonly requiredValue: string }
  | { readonly expression: string; readonly message: string };

/** Where the tokens of an issuer come from, and how they are verified. */
export interface Issuer {
  readonly url: string;
  /** The address of its discovery document, where that is not below `url`. */
  readonly discoveryUrl?: string;
  /** CA certificates in PEM for its addresses; absent: those of the host. */
  readonly certificateAuthority?: string;
  /** The token must be for at least one of them. */
  readonly audiences: readonly string[];
  /** Accepted algorithms of signatures (RFC 7518, 3.1). */
  readonly algorithms: readonly string[];
}

/** An authenticator of the tokens of one issuer. It is JSON, so that threads can be sent it. */
export interface JwtAuthenticator {
  readonly issuer: Issuer;
  readonly claimRules: readonly ClaimRule[];
  readonly username: Mapping;
  readonly groups?: Mapping;
  readonly uid?: { readonly claim: string } | { readonly expression: string };
  readonly extra: readonly { readonly key: string; readonly valueExpression: string }[];
  readonly userRules: readonly { readonly expression: string; readonly message: string }[];
}

/** Which requests without credentials are served, as an authentication file states it. */
export interface AnonymousConfig {
  readonly enabled: boolean;
  /** Absent: every path. */
  readonly paths?: readonly string[];
}

/** The content of an authentication file. */
export interface AuthenticationConfiguration {
  readonly jwt: readonly JwtAuthenticator[];
  /** Absent: the flags decide. */
  readonly anonymous?: AnonymousConfig;
}

/** A key of a provider (RFC 7517). */
export type PublicJwk = { readonly kty: string; readonly kid?: string } & { readonly [member: string]: unknown };

/** The keys of a provider, or why there are none. */
export type ProviderKeys =
  | { readonly keys: readonly PublicJwk[]; readonly fetchedAt: number }
  | { readonly error: string };

/** The state that the service in the main thread publishes for the pool. */
export interface JwtState {
  readonly authenticators: readonly JwtAuthenticator[];
  /** Keys by the URL of the issuer. */
  readonly keys: ReadonlyMap<string, ProviderKeys>;
}

/** A question of the pool: get the keys of an issuer again, if they are those that were fetched at `fetchedAt`. */
export interface RefreshQuestion {
  readonly issuer: string;
  /** Absent: the pool knows none. */
  readonly fetchedAt?: number;
}

/** The name of that service. */
export const JWT_SERVICE = 'authn/jwt';

/** Algorithms of signatures that can be accepted: the asymmetric ones (RFC 7518, 3.1) that upstream accepts. */
export const ALGORITHMS: readonly string[] = [
  'ES256',
  'ES384',
  'ES512',
  'PS256',
  'PS384',
  'PS512',
  'RS256',
  'RS384',
  'RS512',
];
