import type * as Cel from '../../../core/cel/index.js';
import { monotonicTime } from '../../../core/runtime/clock.js';
import {
  Budget,
  BudgetExhausted,
  type CompiledExpression,
  type Evaluated,
} from '../../../core/schema/expressions/budget.js';
import { type ConditionsObserver, evaluateConditions } from '../../../core/schema/expressions/conditions.js';
import { variableValues } from '../../../core/schema/expressions/variables.js';
import { conditionValues } from '../rules/activation.js';
import type { CompiledPolicy, Validation } from './compile.js';

/** Upstream's limit of the result of a message expression. */
const MESSAGE_BYTES = 5 * 1024;

/** A validation that does not hold, or something that could not be evaluated. */
export interface Denial {
  readonly message: string;
  /** '' for an error. */
  readonly reason: string;
  /** Index of the validation; 0 for decisions that belong to none. */
  readonly index: number;
  /** The expression that does not hold; undefined for errors, whose messages say where they are. */
  readonly expression?: string;
  /** Upstream's types of errors, as metrics name them. */
  readonly errorType: 'compile_error' | 'invalid_error' | 'out_of_budget_error';
  readonly seconds: number;
}

/** The findings of a policy in one request, with one object of parameters. */
export interface Findings {
  readonly denials: readonly Denial[];
  /** Errors of audit annotations, which refuse the request whatever the actions of the binding are. */
  readonly annotationErrors: readonly Denial[];
  /** Errors that the policy ignores. */
  readonly ignored: readonly Denial[];
  /** Keys and values for the audit event. */
  readonly annotations: readonly (readonly [string, string])[];
  /** Cost of the validations. */
  readonly cost: number;
}

/** The values of variables by name. */
type Activation = Readonly<Record<string, unknown>>;

const errorTypeOf = (message: string): Denial['errorType'] =>
  message.startsWith('compilation error')
    ? 'compile_error'
    : message.includes('cost budget')
      ? 'out_of_budget_error'
      : 'invalid_error';

/** Gathers findings. `failurePolicy` decides whether errors are denials or ignored. */
class Gathered implements Findings {
  readonly denials: Denial[] = [];
  readonly annotationErrors: Denial[] = [];
  readonly ignored: Denial[] = [];
  readonly annotations: [string, string][] = [];
  cost = 0;

  constructor(readonly failurePolicy: string) {}

  fail(message: string, index = 0, seconds = 0, unlessIgnored = this.denials): void {
    const errors = this.failurePolicy === 'Ignore' ? this.ignored : unlessIgnored;
    errors.push({ message, reason: '', index, errorType: errorTypeOf(message), seconds });
  }
}

/** The findings of a policy in one request, with one object of parameters. */
export async function evaluatePolicy(
  cel: typeof Cel,
  policy: CompiledPolicy,
  activation: Activation,
  failurePolicy: string,
  observe?: ConditionsObserver,
): Promise<Findings> {
  const found = new Gathered(failurePolicy);
  const values = conditionValues(activation);
  const matched = await evaluateConditions(cel, policy.conditions, values, failurePolicy, observe);
  if (matched === false) return found;
  if (matched !== true) {
    found.fail(matched.error);
    return found;
  }
  const evaluation = new Evaluation(cel, policy, activation, found);
  try {
    await evaluation.run();
  } catch (thrown) {
    if (!(thrown instanceof BudgetExhausted)) throw thrown;
    found.fail(thrown.message);
  }
  found.cost = evaluation.cost;
  return found;
}

/** One evaluation of the validations and audit annotations of a policy. */
class Evaluation {
  readonly #budget: Budget;
  readonly #activation: Activation;
  readonly #spent: () => number;

  constructor(
    readonly cel: typeof Cel,
    readonly policy: CompiledPolicy,
    activation: Activation,
    readonly found: Gathered,
  ) {
    this.#budget = new Budget(cel, cel.REQUEST_BUDGET);
    const variables = variableValues(cel, policy.variables, activation);
    this.#activation = policy.variables.length > 0 ? { ...activation, variables: variables.value } : activation;
    this.#spent = variables.spent;
  }

  /** The cost of the validations so far. */
  get cost(): number {
    return this.cel.REQUEST_BUDGET - this.#budget.left;
  }

  async run(): Promise<void> {
    const { validations } = this.policy;
    const outcomes: (Evaluated & { readonly seconds: number })[] = [];
    // All validations before any message: message expressions may use only the budget that validations leave.
    for (const { expression } of validations) {
      const began = monotonicTime();
      const outcome = await this.#evaluate(expression);
      outcomes.push({ ...outcome, seconds: (monotonicTime() - began) / 1000 });
    }
    for (const [i, validation] of validations.entries()) {
      const { value, error, seconds } = outcomes[i]!;
      if (error !== undefined) this.found.fail(error, i, seconds);
      else if (value !== true) await this.#deny(validation, i, seconds);
    }
    await this.#annotate();
  }

  #evaluate(expression: CompiledExpression): Evaluated | Promise<Evaluated> {
    return this.#budget.evaluate(expression, this.#activation, this.#spent);
  }

  /** Adds the denial of a validation, with the message of its expression, its own, or a default one. */
  async #deny(validation: Validation, index: number, seconds: number): Promise<void> {
    const { expression, messageExpression, reason } = validation;
    const own = validation.message || `failed expression: ${expression.text.trim()}`;
    try {
      const { value } = messageExpression ? await this.#evaluate(messageExpression) : {};
      const text = typeof value === 'string' ? value.trim() : '';
      const isUsable = text !== '' && !text.includes('\n') && Buffer.byteLength(text) <= MESSAGE_BYTES;
      const message = isUsable ? text : own;
      this.found.denials.push({
        message,
        reason,
        index,
        expression: expression.text.trim(),
        errorType: 'invalid_error',
        seconds,
      });
    } catch (thrown) {
      if (!(thrown instanceof BudgetExhausted)) throw thrown;
      this.found.fail(`failed messageExpression: ${thrown.message}`, index, seconds);
    }
  }

  /** Adds the audit annotations, which have a budget of their own. Null and empty texts add none. */
  async #annotate(): Promise<void> {
    const budget = new Budget(this.cel, this.cel.REQUEST_BUDGET);
    for (const { key, expression } of this.policy.auditAnnotations) {
      const { value, error } = await budget.evaluate(expression, this.#activation, this.#spent);
      if (error !== undefined) this.found.fail(error, 0, 0, this.found.annotationErrors);
      else if (typeof value === 'string' && value.trim() !== '') this.found.annotations.push([key, value.trim()]);
    }
  }
}
