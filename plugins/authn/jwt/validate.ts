import { X509Certificate } from 'node:crypto';
import { dns1123Subdomain, type Naming } from '../../../core/api/index.js';
import { certificatesIn } from '../../../core/model/text/certificateBundle.js';
import { type Environments, environments } from './expressions.js';
import type { GivenAuthenticator } from './shape.js';
import { ALGORITHMS, type ClaimRule, type JwtAuthenticator, type Mapping } from './types.js';

/** The facts that authenticators are checked against. */
export interface CheckContext {
  readonly naming: Naming;
  /** The issuers of the server's own tokens, which no authenticator may have. */
  readonly ownIssuers: readonly string[];
}

type Given<K extends keyof GivenAuthenticator> = NonNullable<GivenAuthenticator[K]>;
type GivenMapping = NonNullable<Given<'claimMappings'>['username']>;

/** Collects errors by field. */
class Errors {
  readonly found: string[] = [];

  add(path: string, why: string): void {
    this.found.push(`${path}: ${why}`);
  }

  /** Adds an error unless no earlier field had the value. Empty values are not compared. */
  addDuplicate(seen: Set<string>, path: string, value: string | undefined): void {
    if (!value) return;
    if (seen.has(value)) this.add(path, `is the same as that of an earlier item: ${JSON.stringify(value)}`);
    seen.add(value);
  }
}

/** Characters that no URL has. */
const NOT_IN_URL = /[\u0000-\u0020\u007f]/;

/** Returns why a text is not the URL of a provider; undefined if it is one. */
function urlFault(text: string): string | undefined {
  if (!/^https:/i.test(text)) return 'must begin with https://';
  if (NOT_IN_URL.test(text) || /%(?![0-9A-Fa-f]{2})/.test(text) || !URL.canParse(text)) return 'is not a URL';
  const { username, password, search, hash } = new URL(text);
  if (username || password) return 'must not contain a user name or password';
  if (search) return 'must not contain a query';
  if (hash) return 'must not contain a fragment';
  return undefined;
}

/** Returns why a text is not a bundle of CA certificates in PEM; undefined if it is one. */
function bundleFault(pem: string): string | undefined {
  const blocks = certificatesIn(pem);
  if (blocks.length === 0) return 'must have at least one certificate in PEM';
  try {
    for (const block of blocks) new X509Certificate(block);
    return undefined;
  } catch {
    return 'has a certificate that cannot be parsed';
  }
}

function checkUrl(errors: Errors, path: string, url: string): void {
  const fault = urlFault(url);
  if (fault) errors.add(path, `${fault}: ${JSON.stringify(url)}`);
}

/** Checks the issuer of an authenticator. `seen`: URLs of earlier ones. */
function checkIssuer(
  errors: Errors,
  path: string,
  {
    url = '',
    discoveryURL = '',
    certificateAuthority = '',
    audiences = [],
    audienceMatchPolicy = '',
    ...rest
  }: Partial<Given<'issuer'>>,
  { ownIssuers }: CheckContext,
  seen: { readonly urls: Set<string>; readonly discoveryUrls: Set<string> },
): void {
  const withoutSlash = (text: string): string => text.replace(/\/$/, '');
  if (!url) errors.add(`${path}.url`, 'is missing: set the URL of the issuer');
  else checkUrl(errors, `${path}.url`, url);
  errors.addDuplicate(seen.urls, `${path}.url`, url);
  if (ownIssuers.includes(url))
    errors.add(
      `${path}.url`,
      `must not be the issuer of this server's own tokens (--service-account-issuer): "${url}"`,
    );
  if (discoveryURL) checkUrl(errors, `${path}.discoveryURL`, discoveryURL);
  if (discoveryURL && withoutSlash(discoveryURL) === withoutSlash(url))
    errors.add(`${path}.discoveryURL`, 'must differ from url; omit it, or set the address of the discovery document');
  errors.addDuplicate(seen.discoveryUrls, `${path}.discoveryURL`, discoveryURL);
  if (audiences.length === 0) errors.add(`${path}.audiences`, 'must have at least one audience');
  const earlier = new Set<string>();
  for (const [i, audience] of audiences.entries()) {
    if (!audience) errors.add(`${path}.audiences[${i}]`, 'must not be empty');
    errors.addDuplicate(earlier, `${path}.audiences[${i}]`, audience);
  }
  if (audienceMatchPolicy !== 'MatchAny' && (audiences.length > 1 || audienceMatchPolicy !== ''))
    errors.add(
      `${path}.audienceMatchPolicy`,
      `must be MatchAny${audiences.length > 1 ? ' where there are several audiences' : ', or omitted'}`,
    );
  const fault = certificateAuthority && bundleFault(certificateAuthority);
  if (fault) errors.add(`${path}.certificateAuthority`, fault);
  if (rest.egressSelectorType) errors.add(`${path}.egressSelectorType`, 'egress selectors are not supported; omit it');
}

/** Compiles expressions, and notes which claims they read. */
class ExpressionChecks {
  readonly #seen = new Set<string>();

  constructor(
    readonly errors: Errors,
    /** Undefined if there are no expressions to check. */
    readonly environments: Environments | undefined,
  ) {}

  /** Adds an error for an expression that does not compile; `asksForBool`: also for one that is not a bool. */
  check(path: string, text: string, over: 'claims' | 'user', asksForBool = false): void {
    const { program, type, errors } = this.environments![over].compile(text);
    if (!program) this.errors.add(path, `${JSON.stringify(text)} does not compile: ${errors}`);
    else if (asksForBool && type?.kind !== 'bool')
      this.errors.add(path, `${JSON.stringify(text)} must evaluate to bool`);
    if (over !== 'claims' || !program) return;
    for (const claim of ['email', 'email_verified'])
      if (this.environments!.claims.readsField(text, 'claims', claim)) this.#seen.add(`${claim} at ${path}`);
  }

  /** Whether an expression at a path that begins with one of these reads a claim. */
  reads(claim: string, ...paths: readonly string[]): boolean {
    return paths.some(path => [...this.#seen].some(one => one.startsWith(`${claim} at ${path}`)));
  }
}

function checkClaimRules(checks: ExpressionChecks, path: string, rules: Given<'claimValidationRules'>): void {
  const { errors } = checks;
  const claims = new Set<string>();
  const expressions = new Set<string>();
  for (const [i, { claim = '', requiredValue = '', expression = '', message = '' }] of rules.entries()) {
    const at = `${path}[${i}]`;
    if (claim && expression) errors.add(at, 'claim and expression exclude each other: omit one');
    else if (claim) {
      errors.addDuplicate(claims, `${at}.claim`, claim);
      if (message) errors.add(`${at}.message`, 'is for expressions: omit it, as claim is set');
    } else if (expression) {
      errors.addDuplicate(expressions, `${at}.expression`, expression);
      if (requiredValue) errors.add(`${at}.requiredValue`, 'is for claims: omit it, as expression is set');
      checks.check(`${at}.expression`, expression, 'claims', true);
    } else errors.add(at, 'must have a claim or an expression');
  }
}

/** Checks a mapping to the user name, groups or uid. `prefixes`: whether it has a prefix. */
function checkMapping(
  checks: ExpressionChecks,
  path: string,
  { claim = '', prefix, expression = '' }: Partial<GivenMapping>,
  required: boolean,
  prefixes: boolean,
): void {
  const { errors } = checks;
  if (claim && expression) errors.add(path, 'claim and expression exclude each other: omit one');
  else if (claim) {
    if (prefixes && prefix === undefined)
      errors.add(`${path}.prefix`, 'is missing: set the prefix of the values of the claim, "" for none');
  } else if (expression) {
    if (prefix !== undefined) errors.add(`${path}.prefix`, 'is for claims: omit it, as expression is set');
    checks.check(`${path}.expression`, expression, 'claims');
  } else if (required) errors.add(path, 'must have a claim or an expression');
}

/** The part of a key of extra after its domain: the characters of a path (RFC 3986, 3.3) that upstream accepts. */
const KEY_PATH = /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/;

function keyFault(key: string, naming: Naming): string | undefined {
  const slash = key.indexOf('/');
  if (slash < 0) return 'must be a domain, a slash and a name, such as "example.com/team"';
  const [domain, rest] = [key.slice(0, slash), key.slice(slash + 1)];
  const [fault] = dns1123Subdomain(domain);
  if (fault) return `must begin with a domain: ${fault}`;
  if (!KEY_PATH.test(rest)) return 'must have characters of a URL path behind the domain';
  if (key !== key.toLowerCase()) return 'must be in lower case';
  if (naming.isReservedGroup(domain)) return `is in a domain that is reserved for the system: ${domain}`;
  return undefined;
}

function checkExtra(
  checks: ExpressionChecks,
  path: string,
  extra: NonNullable<Given<'claimMappings'>['extra']>,
  naming: Naming,
): void {
  const { errors } = checks;
  const keys = new Set<string>();
  for (const [i, { key = '', valueExpression = '' }] of extra.entries()) {
    const at = `${path}[${i}]`;
    const fault = key ? keyFault(key, naming) : 'is missing';
    if (fault) errors.add(`${at}.key`, key ? `${fault}: ${JSON.stringify(key)}` : fault);
    errors.addDuplicate(keys, `${at}.key`, key);
    if (!valueExpression) errors.add(`${at}.valueExpression`, 'is missing');
    else checks.check(`${at}.valueExpression`, valueExpression, 'claims');
  }
}

function checkUserRules(checks: ExpressionChecks, path: string, rules: Given<'userValidationRules'>): void {
  const seen = new Set<string>();
  for (const [i, { expression = '' }] of rules.entries()) {
    const at = `${path}[${i}].expression`;
    checks.errors.addDuplicate(seen, at, expression);
    if (expression) checks.check(at, expression, 'user', true);
    else checks.errors.add(at, 'is missing');
  }
}

function checkAuthenticator(
  checks: ExpressionChecks,
  path: string,
  { claimValidationRules = [], claimMappings, userValidationRules = [] }: GivenAuthenticator,
  naming: Naming,
): void {
  const mappings = `${path}.claimMappings`;
  const username = `${mappings}.username.expression`;
  checkClaimRules(checks, `${path}.claimValidationRules`, claimValidationRules);
  checkMapping(checks, `${mappings}.username`, claimMappings?.username ?? {}, true, true);
  checkMapping(checks, `${mappings}.groups`, claimMappings?.groups ?? {}, false, true);
  checkMapping(checks, `${mappings}.uid`, claimMappings?.uid ?? {}, false, false);
  checkExtra(checks, `${mappings}.extra`, claimMappings?.extra ?? [], naming);
  checkUserRules(checks, `${path}.userValidationRules`, userValidationRules);
  // A claim `email` is a name only if the provider has verified it: `username.claim` checks that by itself.
  const isVerified = checks.reads('email_verified', username, `${mappings}.extra[`, `${path}.claimValidationRules[`);
  if (checks.reads('email', username) && !isVerified)
    checks.errors.add(
      username,
      'uses claims.email: claims.email_verified must be used as well, here, in an expression of claimValidationRules, ' +
        'or in one of claimMappings.extra',
    );
}

/** Whether any field is an expression. */
const hasExpressions = ({ claimValidationRules, claimMappings, userValidationRules }: GivenAuthenticator): boolean =>
  [...(claimValidationRules ?? []), ...(userValidationRules ?? [])].some(({ expression }) => expression) ||
  [claimMappings?.username, claimMappings?.groups, claimMappings?.uid].some(mapping => mapping?.expression) ||
  (claimMappings?.extra ?? []).length > 0;

/** Returns the errors of authenticators: the path of each invalid field, and the fix. */
export async function checkAuthenticators(
  jwt: readonly GivenAuthenticator[],
  context: CheckContext,
): Promise<readonly string[]> {
  const errors = new Errors();
  const seen = { urls: new Set<string>(), discoveryUrls: new Set<string>() };
  // The engine is loaded only for those that need it.
  const made = jwt.some(hasExpressions) ? await environments() : undefined;
  for (const [i, one] of jwt.entries()) {
    checkIssuer(errors, `jwt[${i}].issuer`, one.issuer ?? {}, context, seen);
    checkAuthenticator(new ExpressionChecks(errors, made), `jwt[${i}]`, one, context.naming);
  }
  return errors.found;
}

function mappingOf({ claim, prefix, expression }: Partial<GivenMapping> = {}): Mapping | undefined {
  if (claim) return { claim, prefix: prefix ?? '' };
  return expression ? { expression } : undefined;
}

const ruleOf = ({
  claim,
  requiredValue = '',
  expression = '',
  message = '',
}: Given<'claimValidationRules'>[number]): ClaimRule => (claim ? { claim, requiredValue } : { expression, message });

/** An authenticator that has been checked. `algorithms`: those of signatures; absent: all. */
export function completeAuthenticator(
  { issuer, claimValidationRules = [], claimMappings, userValidationRules = [] }: GivenAuthenticator,
  algorithms: readonly string[] = ALGORITHMS,
): JwtAuthenticator {
  const { url = '', discoveryURL, certificateAuthority, audiences = [] } = issuer ?? {};
  const groups = mappingOf(claimMappings?.groups);
  const uid = mappingOf(claimMappings?.uid);
  return {
    issuer: {
      url,
      ...(discoveryURL ? { discoveryUrl: discoveryURL } : {}),
      ...(certificateAuthority ? { certificateAuthority } : {}),
      audiences,
      algorithms,
    },
    claimRules: claimValidationRules.map(ruleOf),
    username: mappingOf(claimMappings?.username)!,
    ...(groups ? { groups } : {}),
    ...(uid ? { uid } : {}),
    extra: (claimMappings?.extra ?? []).map(({ key = '', valueExpression = '' }) => ({ key, valueExpression })),
    userRules: userValidationRules.map(({ expression = '', message = '' }) => ({ expression, message })),
  };
}
