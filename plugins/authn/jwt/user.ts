import type * as Cel from '../../../core/cel/index.js';
import { isRecord, recordAt, stringAt, type UnknownRecord, type User } from '../../../core/api/index.js';
import { wellFormedUser } from '../../../core/model/text/wellFormedUser.js';
import { compile, type Environments, evaluate, type Expression } from './expressions.js';
import type { ClaimRule, JwtAuthenticator, Mapping } from './types.js';
import { claimAt } from './verify.js';

/** A function of the claims of a token. Throws an Error with the reason why the token is refused. */
type OfClaims<T> = (claims: UnknownRecord) => T;

const typeOf = (value: unknown): string =>
  Array.isArray(value) ? 'array' : isRecord(value) ? 'object' : typeof value === 'boolean' ? 'bool' : typeof value;

/** A claim that must be a string. Null is the empty string. Throws an Error that begins with `what`. */
function textAt(claims: UnknownRecord, name: string, what: string): string {
  const value = claimAt(claims, name);
  if (value === undefined) throw new Error(`${what}: claim not present`);
  if (value === null || typeof value === 'string') return value ?? '';
  throw new Error(`${what}: cannot read ${typeOf(value)} as string`);
}

/** The texts of a claim that is a string or a list of strings; none if it is null. Throws an Error. */
function textsOf(value: unknown, what: string): readonly string[] {
  if (value === null) return [];
  if (typeof value === 'string') return [value];
  if (Array.isArray(value) && value.every(one => typeof one === 'string')) return value as string[];
  throw new Error(`${what}: cannot read ${typeOf(value)} as string or list of strings`);
}

/** The texts of the result of an expression, without empty ones. Throws an Error for other results. */
function textsOfResult(value: Cel.Value, cel: typeof Cel): readonly string[] {
  const texts = value instanceof cel.List ? Array.from({ length: value.size }, (_, i) => value.at(i)) : [value ?? ''];
  if (texts.every(text => typeof text === 'string')) return (texts as string[]).filter(text => text !== '');
  throw new Error('expression must return a string or a list of strings');
}

/** Runs a function. An Error that it throws gets `prefix` before its message. */
function prefixed<T>(prefix: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw new Error(prefix + (error as Error).message);
  }
}

/** Whether a claim must be fetched from elsewhere than the token (OpenID Connect Core 1.0, 5.6.2). */
function isDistributed(claims: UnknownRecord, name: string): boolean {
  const source = claimAt(recordAt(claims, '_claim_names') ?? {}, name);
  return typeof source === 'string' && stringAt(claims, '_claim_sources', source, 'endpoint') !== '';
}

/** Checks that a user name from the claim `email` is verified: providers that do not say so are trusted. */
function checkEmail(claims: UnknownRecord): void {
  const verified = claimAt(claims, 'email_verified');
  if (verified === undefined || verified === true) return;
  if (verified === false || verified === null) throw new Error('oidc: email not verified');
  throw new Error(`oidc: parse 'email_verified' claim: cannot read ${typeOf(verified)} as bool`);
}

/** The functions of an authenticator, with compiled expressions. */
export class UserMaker {
  readonly #rules: readonly OfClaims<void>[];
  readonly #name: OfClaims<string>;
  readonly #groups: OfClaims<readonly string[]>;
  readonly #uid: OfClaims<string>;
  readonly #extra: readonly (readonly [key: string, values: OfClaims<readonly string[]>])[];
  readonly #userRules: readonly { readonly expression: Expression; readonly message: string }[];

  /** `made` is needed if there are expressions. Throws an Error for one that does not compile. */
  constructor(
    { claimRules, username, groups, uid, extra, userRules }: JwtAuthenticator,
    readonly made: Environments | undefined,
  ) {
    this.#rules = claimRules.map(rule => this.#ruleOf(rule));
    this.#name = this.#nameOf(username);
    this.#groups = groups ? this.#groupsOf(groups) : () => [];
    this.#uid = uid ? this.#uidOf(uid) : () => '';
    this.#extra = extra.map(({ key, valueExpression }) => [key, this.#valuesOf(valueExpression)]);
    this.#userRules = userRules.map(({ expression, message }) => ({
      expression: compile(made!.user, expression),
      message,
    }));
  }

  /** Makes the user of the claims of a verified token. Throws an Error with the reason why it is refused. */
  userOf(claims: UnknownRecord): User {
    const name = this.#name(claims);
    const groups = this.#groups(claims);
    const uid = this.#uid(claims);
    const extra = new Map(
      this.#extra.flatMap(([key, values]) => {
        const found = values(claims);
        return found.length > 0 ? [[key, found] as const] : [];
      }),
    );
    for (const check of this.#rules) check(claims);
    // Rules are about the user as it will be known.
    const user = wellFormedUser({ name, uid, groups, extra });
    this.#checkUser(user);
    if (name === '') throw new Error('oidc: the user name is empty');
    return user;
  }

  #checkUser({ name: username, uid, groups, extra }: User): void {
    if (this.#userRules.length === 0) return;
    const user = { username, uid, groups, extra: Object.fromEntries(extra) };
    for (const { expression, message } of this.#userRules)
      prefixed('oidc: error evaluating user info validation rule: ', () =>
        this.#require(expression, message, { user }),
      );
  }

  #require(expression: Expression, message: string, variables: Cel.Activation): void {
    if (evaluate(expression, variables, this.made!.cel) === true) return;
    throw new Error(`validation expression '${expression.text}' failed: ${message}`);
  }

  /** A function that evaluates an expression over claims. */
  #compile(text: string): OfClaims<Cel.Value> {
    const expression = compile(this.made!.claims, text);
    return claims => evaluate(expression, { claims }, this.made!.cel);
  }

  #ruleOf(rule: ClaimRule): OfClaims<void> {
    if ('expression' in rule) {
      const expression = compile(this.made!.claims, rule.expression);
      return claims =>
        prefixed('oidc: error evaluating claim validation expression: ', () =>
          this.#require(expression, rule.message, { claims }),
        );
    }
    const { claim, requiredValue } = rule;
    return claims => {
      if (claimAt(claims, claim) === undefined)
        throw new Error(`oidc: required claim ${claim} not present in ID token`);
      const value = textAt(claims, claim, `oidc: parse claim ${claim}`);
      if (value !== requiredValue)
        throw new Error(`oidc: required claim ${claim} value does not match. Got = ${value}, want = ${requiredValue}`);
    };
  }

  #nameOf(mapping: Mapping): OfClaims<string> {
    if ('claim' in mapping) {
      const { claim, prefix } = mapping;
      return claims => {
        const name = textAt(claims, claim, `oidc: parse username claims ${JSON.stringify(claim)}`);
        if (claim === 'email') checkEmail(claims);
        // A prefix alone would be the same name for all users who have none.
        return name && prefix + name;
      };
    }
    const evaluateName = this.#compile(mapping.expression);
    return claims =>
      prefixed('oidc: error evaluating username claim expression: ', () => {
        const value = evaluateName(claims);
        if (typeof value === 'string') return value;
        throw new Error('username claim expression must return a string');
      });
  }

  #groupsOf(mapping: Mapping): OfClaims<readonly string[]> {
    if ('claim' in mapping) {
      const { claim, prefix } = mapping;
      return claims => {
        const value = claimAt(claims, claim);
        if (value !== undefined)
          return textsOf(value, `oidc: parse groups claim ${JSON.stringify(claim)}`).map(group => prefix + group);
        if (!isDistributed(claims, claim)) return [];
        throw new Error(`oidc: the claim ${JSON.stringify(claim)} is distributed, which is not supported`);
      };
    }
    const evaluateGroups = this.#compile(mapping.expression);
    return claims =>
      prefixed('oidc: error evaluating group claim expression: ', () =>
        textsOfResult(evaluateGroups(claims), this.made!.cel),
      );
  }

  #uidOf(mapping: NonNullable<JwtAuthenticator['uid']>): OfClaims<string> {
    if ('claim' in mapping) {
      const { claim } = mapping;
      return claims => textAt(claims, claim, `oidc: parse uid claim ${JSON.stringify(claim)}`);
    }
    const evaluateUid = this.#compile(mapping.expression);
    return claims =>
      prefixed('oidc: error evaluating uid claim expression: ', () => {
        const value = evaluateUid(claims);
        if (typeof value === 'string') return value;
        throw new Error('uid claim expression must return a string');
      });
  }

  #valuesOf(text: string): OfClaims<readonly string[]> {
    const evaluateValues = this.#compile(text);
    return claims => {
      const value = evaluateValues(claims);
      return prefixed(`oidc: error evaluating extra claim expression: ${text}: `, () =>
        textsOfResult(value, this.made!.cel),
      );
    };
  }
}

/** Whether an authenticator has expressions, which need the environments. */
export const needsEnvironments = ({ claimRules, username, groups, uid, extra, userRules }: JwtAuthenticator): boolean =>
  [...claimRules, username, groups, uid].some(one => one && 'expression' in one) || extra.length + userRules.length > 0;
