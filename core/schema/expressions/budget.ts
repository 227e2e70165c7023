import type * as Cel from '../../cel/index.js';

/** Upstream's limit of the cost of all match conditions of a webhook or policy, for one request. */
export const MATCH_CONDITIONS_BUDGET = 2_500_000;

/** Thrown by `Budget.evaluate` if all expressions together have cost too much. */
export class BudgetExhausted extends Error {
  constructor() {
    super('validation failed due to running out of cost budget, no further validation rules will be run');
  }
}

/** A compiled expression. If it does not compile, `error` is the reason. */
export interface CompiledExpression {
  readonly text: string;
  readonly program?: Cel.Program;
  readonly error?: string;
  /** Whether it may ask the authorizer, which may take time. */
  readonly asksAuthorizer: boolean;
}

/** The outcome of an expression: a value or an error in upstream's words. */
export interface Evaluated {
  readonly value?: Cel.Value;
  readonly error?: string;
}

const mentionsAuthorizer = (text: string): boolean => /\bauthorizer\b/.test(text);

/**
 * Compiles an expression of an admission policy or webhook. `variablesAsk`: a variable that it may use asks the
 * authorizer.
 */
export function compileExpression(env: Cel.Environment, text: string, variablesAsk = false): CompiledExpression {
  const { program, errors } = env.compile(text);
  const asksAuthorizer = variablesAsk || mentionsAuthorizer(text);
  return { text, asksAuthorizer, ...(program ? { program } : { error: `compilation error: ${errors}` }) };
}

/** Evaluates expressions within a common budget. */
export class Budget {
  constructor(
    readonly cel: typeof Cel,
    public left: number,
  ) {}

  /**
   * Evaluates an expression. `spent` returns the cost of variables since it was last called. Throws BudgetExhausted
   * if the budget does not suffice.
   */
  evaluate(
    { text, program, error, asksAuthorizer }: CompiledExpression,
    activation: Cel.Activation,
    spent: () => number = () => 0,
  ): Evaluated | Promise<Evaluated> {
    if (!program) return { error: error! };
    const options = { budget: this.cel.CALL_BUDGET };
    const settle = (outcome: Cel.Outcome): Evaluated => {
      this.left -= outcome.cost + spent();
      if (this.left < 0) throw new BudgetExhausted();
      if (outcome.error === undefined) return { value: outcome.value ?? null };
      return { error: `expression '${text}' resulted in error: ${outcome.error}` };
    };
    if (!asksAuthorizer) return settle(program.evaluate(activation, options));
    return this.cel.evaluateWithAuthorizer(program, activation, options).then(settle);
  }
}
