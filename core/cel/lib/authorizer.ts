/**
 * The authorizer library over an interface of the host. A decision the host has not made yet suspends the evaluation:
 * it ends with
 * `PendingDecision`, which no operator catches; the caller awaits the decision and evaluates again
 * (`evaluateWithAuthorizer`).
 */
import { declare } from '../declarations.js';
import type { Library } from '../environment.js';
import type { Meter } from '../meter.js';
import type { Outcome, Program, Activation } from '../plan.js';
import { opaqueType } from '../types.js';
import { fail, Opaque, type Value } from '../values.js';

/** What an expression asks about. */
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

/** What the host answers. `error` is set when the check itself failed. */
export interface AuthorizationAnswer {
  readonly allowed: boolean;
  readonly reason?: string;
  readonly error?: string;
}

/** The host's side: an answer, or a promise of one. */
export interface AuthorizerHost {
  check(query: AuthorizationQuery): AuthorizationAnswer | Promise<AuthorizationAnswer>;
}

/** Ends an evaluation that needs a decision first. */
export class PendingDecision {
  /** What the evaluation had spent, its checks left out: the next round is charged for those again. */
  spent = 0;
  constructor(readonly settled: Promise<void>) {}
}

/** A check costs as much as upstream estimates it: a call may go to a webhook. */
const CHECK_COST = 350_000;
/** Checks one evaluation may suspend for. */
const MAX_ROUNDS = 50;

/** The value of the variable `authorizer`; remembers the answers of one evaluation. */
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
  /** The same authorizer asked for a service account. */
  as(namespace: string, name: string): Authorizer {
    return new Authorizer(this.host, { namespace, name }, this.root ?? this);
  }
  /** The answer, if it is known or the host knows at once; suspends otherwise. */
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

/** The static type of the variables `authorizer` and `authorizer.requestResource`. */
export const AUTHORIZER_TYPE = opaqueType(AUTHORIZER);
export const RESOURCE_CHECK_TYPE = opaqueType(RESOURCE);

/** A ready resource check: the value of `authorizer.requestResource`. */
export const resourceCheck = (authorizer: Authorizer, query: Omit<AuthorizationQuery, 'verb'>): Value =>
  new Check(RESOURCE, authorizer, query);

const start =
  (typeName: string, query: (text: string) => Omit<AuthorizationQuery, 'verb'>) =>
  (a: Value, text: Value): Value => {
    const authorizer = a as Authorizer;
    return new Check(typeName, authorizer, { serviceAccount: authorizer.serviceAccount, ...query(text as string) });
  };
const refine =
  (key: keyof AuthorizationQuery) =>
  (check: Value, text: Value): Value =>
    (check as Check).with({ [key]: text as string });
/** Checks by evaluation. */
const checks = new WeakMap<Meter, number>();

const decide = (check: Value, verb: Value, _c: Value, m: Meter): Value => {
  m.charge(CHECK_COST);
  const made = (checks.get(m) ?? 0) + 1;
  checks.set(m, made);
  const c = check as Check;
  try {
    return new Decision(c.authorizer.decide({ ...c.query, verb: verb as string }));
  } catch (error) {
    if (error instanceof PendingDecision) error.spent = m.cost - made * CHECK_COST;
    throw error;
  }
};

const blank = (text: Value): boolean => (text as string).trim() === '';

function path(a: Value, text: Value): Value {
  if (blank(text)) fail('path must not be empty');
  return start(PATH, p => ({ path: p }))(a, text);
}
function resource(g: Value, text: Value): Value {
  if (blank(text)) fail('resource must not be empty');
  const group = g as Check;
  return new Check(RESOURCE, group.authorizer, { ...group.query, resource: text as string });
}
const LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
function serviceAccount(a: Value, namespace: Value, name: Value): Value {
  if ((name as string).length > 253 || !SUBDOMAIN.test(name as string)) fail('Invalid service account name');
  if (!LABEL.test(namespace as string)) fail('Invalid service account namespace');
  return (a as Authorizer).as(namespace as string, name as string);
}

/** The authorizer library. */
export const AUTHORIZER_LIBRARY: Library = {
  name: 'authorizer',
  types: [AUTHORIZER, PATH, GROUP, RESOURCE, DECISION],
  functions: [
    declare(`${AUTHORIZER}.path(string): ${PATH}`, path),
    declare(
      `${AUTHORIZER}.group(string): ${GROUP}`,
      start(GROUP, group => ({ group })),
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

/** Selectors in checks; a feature of its own. */
export const AUTHORIZER_SELECTORS: Library = {
  name: 'authorizer-selectors',
  functions: [
    declare(`${RESOURCE}.fieldSelector(string): ${RESOURCE}`, refine('fieldSelector')),
    declare(`${RESOURCE}.labelSelector(string): ${RESOURCE}`, refine('labelSelector')),
  ],
};

/**
 * Evaluates, awaiting each decision the expression turns out to need. The rounds share one budget; each check is
 * charged once.
 */
export async function evaluateWithAuthorizer(
  program: Program,
  activation: Activation,
  options: { readonly budget?: number } = {},
): Promise<Outcome> {
  let spent = 0;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    try {
      const outcome = program.evaluate(activation, { budget: (options.budget ?? Number.POSITIVE_INFINITY) - spent });
      return { ...outcome, cost: outcome.cost + spent };
    } catch (error) {
      if (!(error instanceof PendingDecision)) throw error;
      spent += error.spent;
      await error.settled;
    }
  }
  return { error: 'too many authorization checks in one expression', exceeded: true, cost: spent };
}
