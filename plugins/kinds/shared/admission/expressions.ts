import type { MutatingAdmissionPolicySpec } from '../../../../kinds/admissionregistration/v1alpha1.js';
import type { ValidatingAdmissionPolicySpec, ValidatingWebhook } from '../../../../kinds/admissionregistration/v1.js';
import type { Compiled, Environment, Type } from '../../../../core/cel/index.js';
import { qualifiedName } from '../../../../core/model/names.js';
import {
  duplicate,
  internalError,
  invalid,
  required,
  tooMany,
  type Violation,
} from '../../../../core/model/refusal.js';
import { engine } from '../../../../core/schema/custom/engine.js';
import { admissionEnvironment, type ExpressionScope } from '../../../../core/schema/expressions/environment.js';
import { findRepeated } from '../values/repeated.js';
import { toViolations } from '../violations.js';

/** Types whose names in messages differ from their names in expressions. */
const SHOWN_TYPES: ReadonlyMap<string, string> = new Map([
  ['null', 'null_type'],
  ['timestamp', 'google.protobuf.Timestamp'],
  ['duration', 'google.protobuf.Duration'],
]);

const showType = (type: Type): string => {
  const text = engine().cel.formatType(type);
  return SHOWN_TYPES.get(text) ?? text;
};

/**
 * Compiles expressions of webhooks and policies. New expressions may use only functions of this release. Those of the
 * stored object may use functions of any release, so that a rollback does not make the object invalid.
 */
export class ExpressionChecks {
  readonly #stored: ReadonlySet<string>;
  readonly #environments = new Map<string, Environment>();

  /** `stored`: the expressions of the stored object; empty for a new one. */
  constructor(stored: ReadonlySet<string> = new Set()) {
    this.#stored = stored;
  }

  #environmentOf(scope: ExpressionScope, isNew: boolean): Environment {
    const make = (): Environment => admissionEnvironment(engine().cel, { ...scope, isNew });
    if (scope.variables) return make();
    const key = `${scope.params ?? false} ${scope.authorizer ?? false} ${scope.mutation ?? false} ${isNew}`;
    const known = this.#environments.get(key) ?? make();
    this.#environments.set(key, known);
    return known;
  }

  /** Compiles an expression. */
  compile(text: string, scope: ExpressionScope): Compiled {
    return this.#environmentOf(scope, !this.#stored.has(text)).compile(text);
  }

  /** Violations of an expression that must have one of the types. `compiled`: its result, if it is known. */
  validate(
    text: string,
    types: readonly Type[],
    field: string,
    scope: ExpressionScope,
    compiled = this.compile(text, scope),
  ): Violation[] {
    if (compiled.planError !== undefined) return [internalError(field, compiled.errors)];
    if (!compiled.program) return [invalid(field, text, `compilation failed: ${compiled.errors}`)];
    const type = showType(compiled.type ?? engine().cel.DYN);
    const wanted = types.map(showType);
    if (wanted.length === 0 || wanted.includes(type)) return [];
    const what = wanted.length === 1 ? wanted[0]! : `one of [${wanted.join(' ')}]`;
    return [invalid(field, text, `must evaluate to ${what} but got ${type}`)];
  }
}

/** The largest number of match conditions of a webhook or a policy. */
const MOST_CONDITIONS = 64;

/** Violations of the match conditions in `owner`. */
export function validateMatchConditions(
  owner: ValidatingAdmissionPolicySpec | MutatingAdmissionPolicySpec,
  field: string,
  scope: ExpressionScope,
  checks: ExpressionChecks,
): Violation[] {
  const conditions = owner.matchConditions ?? [];
  const names = conditions.map(condition => condition.name);
  const found = conditions.length > MOST_CONDITIONS ? [tooMany(field, conditions.length, MOST_CONDITIONS)] : [];
  const repeated = findRepeated(names);
  for (const [i, condition] of conditions.entries()) {
    const at = `${field}[${i}]`;
    const text = condition.expression.trim();
    const name = names[i]!;
    if (text === '') found.push(required(`${at}.expression`));
    else found.push(...checks.validate(text, [engine().cel.BOOL], `${at}.expression`, scope));
    if (name === '') found.push(required(`${at}.name`));
    else found.push(...toViolations(`${at}.name`, name, qualifiedName(name)));
    if (name !== '' && repeated[i]) found.push(duplicate(`${at}.name`, name));
  }
  return found;
}

/** All texts of the members named `expression`, `messageExpression` or `valueExpression` in a value. */
export function expressionsIn(
  value: ValidatingAdmissionPolicySpec | MutatingAdmissionPolicySpec | ValidatingWebhook[] | undefined,
  found: Set<string> = new Set(),
): ReadonlySet<string> {
  if (typeof value !== 'object' || value === null) return found;
  for (const [member, inner] of Object.entries(value)) {
    if (typeof inner === 'string' && /expression$/i.test(member)) found.add(inner).add(inner.trim());
    else expressionsIn(inner, found);
  }
  return found;
}
