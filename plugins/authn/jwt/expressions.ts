import type * as Cel from '../../../core/cel/index.js';
import { loadCel } from '../../../core/schema/expressions/environment.js';

/** The environments of expressions over the claims of a token, and over the user that is made from them. */
export interface Environments {
  readonly cel: typeof Cel;
  readonly claims: Cel.Environment;
  readonly user: Cel.Environment;
}

let made: Promise<Environments> | undefined;

/** Makes the environments, when they are first needed: most servers have no such expressions. */
export const environments = (): Promise<Environments> => (made ??= make());

async function make(): Promise<Environments> {
  const cel = await loadCel();
  const { STRING, DYN, listType, mapType } = cel;
  const fields = new Map<string, Cel.Type>([
    ['username', STRING],
    ['uid', STRING],
    ['groups', listType(STRING)],
    ['extra', mapType(STRING, listType(STRING))],
  ]);
  const user: Cel.Type = { kind: 'object', name: 'UserInfo', field: name => fields.get(name) };
  const environmentOf = (variables: Readonly<Record<string, Cel.Type>>): Cel.Environment =>
    cel.createEnvironment({ libraries: cel.librariesOf(), validation: cel.validationOf(), variables });
  return { cel, claims: environmentOf({ claims: mapType(STRING, DYN) }), user: environmentOf({ user }) };
}

/** A compiled expression. */
export interface Expression {
  readonly text: string;
  readonly program: Cel.Program;
}

/** Compiles an expression. Throws an Error with why it does not compile. */
export function compile(environment: Cel.Environment, text: string): Expression {
  const { program, errors } = environment.compile(text);
  if (!program) throw new Error(`compilation failed: ${errors}`);
  return { text, program };
}

/** Evaluates an expression. Throws an Error that names the expression if it has no value. */
export function evaluate({ text, program }: Expression, variables: Cel.Activation, cel: typeof Cel): Cel.Value {
  const { value, error, unknown } = program.evaluate(variables, { budget: cel.CALL_BUDGET });
  if (error === undefined && unknown === undefined) return value ?? null;
  throw new Error(`expression '${text}' resulted in error: ${error ?? `unknown: ${unknown?.join()}`}`);
}
