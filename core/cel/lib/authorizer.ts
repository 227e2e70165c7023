/**
 * The authorizer library. A decision that the host does not know at once ends the evaluation with `PendingDecision`,
 * which no operator catches. `evaluateWithAuthorizer` awaits the decision and evaluates again.
 */
import { declare } from '../check/declarations.js';
import type { Library } from '../library.js';
import type { Meter } from '../cost/meter.js';
import type { Outcome, Program, Activation } from '../evaluate/plan.js';
import { opaqueType } from '../check/types.js';
import { fail, Opaque, type Value } from '../evaluate/values.js';

/** The action that an expression checks. */
export interface AuthorizationQuery {
  readonly serviceAccount?: { readonly namespace: string; readonly name: string };
  readonly path?: string;
  readonly group?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
  readonly verb: string;
}

/** The host's decision. `error` is set if the check itself failed. */
export interface AuthorizationAnswer {
  readonly allowed: boolean;
  readonly reason?: string;
  readonly error?: string;
}

/** Makes the decisions. */
export interface AuthorizerHost {
  check(query: AuthorizationQuery): AuthorizationAnswer | Promise<AuthorizationAnswer>;
}

/** Thrown to end an evaluation until a decision is known. */
class PendingDecision {
  /** The cost of the evaluation without its checks, which the next round is charged for again. */
  spentCost = 0;
  constructor(readonly settled: Promise<void>) {}
}

/** The cost of a check in upstream's estimate. It is high because a check may call a webhook. */
const CHECK_COST = 350_000;
/** How often an evaluation may be suspended. */
const MAX_ROUNDS = 50;

/** The value of the variable `authorizer`. Caches the decisions of one evaluation. */
export class Authorizer extends Opaque {
  readonly typeName = 'kubernetes.authorization.Authorizer';
  private readonly answers = new Map<string, AuthorizationAnswer>();
  constructor(
    private readonly host: AuthorizerHost,
    readonly serviceAccount?: AuthorizationQuery['serviceAccount'],
    private readonly root?: Authorizer,
  ) {
    super();
  }
  equals(other: Opaque): boolean {
    return other === this;
  }
  /** An authorizer that decides about a service account. */
  forServiceAccount(namespace: string, name: string): Authorizer {
    return new Authorizer(this.host, { namespace, name }, this.root ?? this);
  }
  /** Returns the decision, or throws `PendingDecision` if the host returns a promise. */
  decide(query: AuthorizationQuery): AuthorizationAnswer {
    const answers = (this.root ?? this).answers;
    const key = JSON.stringify(query);
    const known = answers.get(key);
    if (known) return known;
    const answer = this.host.check(query);
    if (!(answer instanceof Promise)) {
      answers.set(key, answer);
      return answer;
    }
    throw new PendingDecision(
      answer.then(
        a => void answers.set(key, a),
        (error: unknown) =>
          void answers.set(key, {
            allowed: false,
            error: error instanceof Error ? error.message : 'authorization check failed',
          }),
      ),
    );
  }
}

class Check extends Opaque {
  constructor(
    readonly typeName: string,
    readonly authorizer: Authorizer,
    readonly query: Omit<AuthorizationQuery, 'verb'>,
  ) {
    super();
  }
  equals(other: Opaque): boolean {
    return other === this;
  }
  with(more: Partial<AuthorizationQuery>): Check {
    return new Check(this.typeName, this.authorizer, { ...this.query, ...more });
  }
}

class Decision extends Opaque {
  readonly typeName = 'kubernetes.authorization.Decision';
  constructor(readonly answer: AuthorizationAnswer) {
    super();
  }
  equals(other: Opaque): boolean {
    return other === this;
  }
}

const PREFIX = 'kubernetes.authorization';
const [AUTHORIZER, PATH, GROUP, RESOURCE, DECISION] = [
  'Authorizer',
  'PathCheck',
  'GroupCheck',
  'ResourceCheck',
  'Decision',
].map(n => `${PREFIX}.${n}`) as [string, string, string, string, string];

/** The static type of the variable `authorizer`. */
export const AUTHORIZER_TYPE = opaqueType(AUTHORIZER);
/** The static type of the variable `authorizer.requestResource`. */
export const RESOURCE_CHECK_TYPE = opaqueType(RESOURCE);

/** A resource check: the value of `authorizer.requestResource`. */
export const resourceCheck = (authorizer: Authorizer, query: Omit<AuthorizationQuery, 'verb'>): Value =>
  new Check(RESOURCE, authorizer, query);

const beginCheck =
  (typeName: string, query: (text: string) => Omit<AuthorizationQuery, 'verb'>) =>
  (a: Value, text: Value): Value => {
    const authorizer = a as Authorizer;
    return new Check(typeName, authorizer, { serviceAccount: authorizer.serviceAccount, ...query(text as string) });
  };
const refine =
  (key: keyof AuthorizationQuery) =>
  (check: Value, text: Value): Value =>
    (check as Check).with({ [key]: text as string });
/** The number of checks made by each evaluation. */
const checks = new WeakMap<Meter, number>();

const decide = (check: Value, verb: Value, _c: Value, m: Meter): Value => {
  m.charge(CHECK_COST);
  const made = (checks.get(m) ?? 0) + 1;
  checks.set(m, made);
  const c = check as Check;
  try {
    return new Decision(c.authorizer.decide({ ...c.query, verb: verb as string }));
  } catch (error) {
    if (error instanceof PendingDecision) error.spentCost = m.cost - made * CHECK_COST;
    throw error;
  }
};

const isBlank = (text: Value): boolean => (text as string).trim() === '';

function path(a: Value, text: Value): Value {
  if (isBlank(text)) fail('path must not be empty');
  return beginCheck(PATH, p => ({ path: p }))(a, text);
}
function resource(g: Value, text: Value): Value {
  if (isBlank(text)) fail('resource must not be empty');
  const group = g as Check;
  return new Check(RESOURCE, group.authorizer, { ...group.query, resource: text as string });
}
const LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
function serviceAccount(a: Value, namespace: Value, name: Value): Value {
  if ((name as string).length > 253 || !SUBDOMAIN.test(name as string)) fail('Invalid service account name');
  if (!LABEL.test(namespace as string)) fail('Invalid service account namespace');
  return (a as Authorizer).forServiceAccount(namespace as string, name as string);
}

/** The authorizer library. */
export const AUTHORIZER_LIBRARY: Library = {
  name: 'authorizer',
  types: [AUTHORIZER, PATH, GROUP, RESOURCE, DECISION],
  functions: [
    declare(`${AUTHORIZER}.path(string): ${PATH}`, path),
    declare(
      `${AUTHORIZER}.group(string): ${GROUP}`,
      beginCheck(GROUP, group => ({ group })),
    ),
    declare(`${AUTHORIZER}.serviceAccount(string, string): ${AUTHORIZER}`, serviceAccount),
    declare(`${GROUP}.resource(string): ${RESOURCE}`, resource),
    declare(`${RESOURCE}.subresource(string): ${RESOURCE}`, refine('subresource')),
    declare(`${RESOURCE}.namespace(string): ${RESOURCE}`, refine('namespace')),
    declare(`${RESOURCE}.name(string): ${RESOURCE}`, refine('name')),
    declare(`${PATH}.check(string): ${DECISION}`, decide),
    declare(`${RESOURCE}.check(string): ${DECISION}`, decide),
    declare(`${DECISION}.allowed(): bool`, d => (d as Decision).answer.allowed),
    declare(`${DECISION}.reason(): string`, d => (d as Decision).answer.reason ?? ''),
    declare(`${DECISION}.errored(): bool`, d => (d as Decision).answer.error !== undefined),
    declare(`${DECISION}.error(): string`, d => (d as Decision).answer.error ?? ''),
  ],
};

/** Selectors in checks, which have their own feature gate. */
export const AUTHORIZER_SELECTORS: Library = {
  name: 'authorizer-selectors',
  functions: [
    declare(`${RESOURCE}.fieldSelector(string): ${RESOURCE}`, refine('fieldSelector')),
    declare(`${RESOURCE}.labelSelector(string): ${RESOURCE}`, refine('labelSelector')),
  ],
};

/** Evaluates an expression and awaits the decisions it needs. All rounds share one budget; a check is charged once. */
export async function evaluateWithAuthorizer(
  program: Program,
  activation: Activation,
  options: { readonly budget?: number } = {},
): Promise<Outcome> {
  let spentCost = 0;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    try {
      const outcome = program.evaluate(activation, {
        budget: (options.budget ?? Number.POSITIVE_INFINITY) - spentCost,
      });
      return { ...outcome, cost: outcome.cost + spentCost };
    } catch (error) {
      if (!(error instanceof PendingDecision)) throw error;
      spentCost += error.spentCost;
      await error.settled;
    }
  }
  return { error: 'too many authorization checks in one expression', exceeded: true, cost: spentCost };
}
