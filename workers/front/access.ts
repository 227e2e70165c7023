import type { Exchange } from '../../core/api/listener.js';
import { DECISION_CHARACTERS, DECISIONS } from '../../core/limits.js';
import type { Target } from '../../core/model/target.js';
import type { User } from '../../core/model/user.js';
import type { Grant } from '../../core/threads/messages.js';

/** An identity the front end remembers, with the decisions made for it. */
interface Known {
  readonly user: User;
  readonly until: number;
  /** Decision key to the policy it was made under, and the time until which it holds. */
  readonly allowed: Map<string, { readonly policy: number; readonly until: number }>;
}

/**
 * The credentials of a request as one string: equal strings have equal identities. Whom it is made on behalf of is part
 * of them; of such a request nothing is ever remembered, and one that names somebody's groups or extras alone is
 * refused, not served as its sender.
 */
export function credentialKey(exchange: Exchange): string {
  let key = exchange.certificate ?? '';
  for (const [name, value] of exchange.headers())
    if (name === 'authorization' || name.startsWith('impersonate-')) key += `\n${name} ${value}`;
  return key;
}

/** One string per question; selectors are part of it because authorizers may look at them. */
export function decisionKey(target: Target): string {
  if (target.is === 'path') return `${target.verb} ${target.path}`;
  const selectors =
    target.fieldSelector || target.labelSelector ? JSON.stringify([target.fieldSelector, target.labelSelector]) : '';
  return `${target.verb}\n${target.group}\n${target.resource}\n${target.subresource}\n${target.namespace}\n${target.name}\n${selectors}`;
}

/** Identities and positive decisions found by the pool, so that cached reads need no hop. */
export class AccessCache {
  #known = new Map<string, Known>();
  #decisions = 0;
  #characters = 0;
  /** Raised by every change of a policy object; decisions made before it are void. */
  policy = 0;

  identity(credentials: string, now: number): Known | undefined {
    const known = this.#known.get(credentials);
    return known && known.until > now ? known : undefined;
  }

  isAllowed(known: Known, key: string, now: number): boolean {
    const found = known.allowed.get(key);
    return found !== undefined && found.until > now && found.policy === this.policy;
  }

  /** Remembers what the pool found; `policyBefore` is the policy revision the request was dispatched under. */
  learn(credentials: string, key: string, grant: Grant, policyBefore: number, now: number): void {
    if (grant.identityFor === 'never') return;
    this.#count(credentials.length + key.length);
    let known = this.identity(credentials, now);
    if (!known) {
      known = {
        user: grant.user,
        until: grant.identityFor === 'forever' ? Number.POSITIVE_INFINITY : now + grant.identityFor,
        allowed: new Map(),
      };
      this.#known.set(credentials, known);
    }
    if (!grant.allowed || grant.dependsOn === 'never') return;
    const until = grant.dependsOn === 'policy' ? Number.POSITIVE_INFINITY : now + grant.dependsOn;
    known.allowed.set(key, { policy: policyBefore, until });
  }

  /** Counts what is about to be remembered; over a bound, everything before it is forgotten. */
  #count(characters: number): void {
    this.#decisions++;
    this.#characters += characters;
    if (this.#decisions <= DECISIONS && this.#characters <= DECISION_CHARACTERS) return;
    this.#known = new Map();
    this.#decisions = 1;
    this.#characters = characters;
  }
}
