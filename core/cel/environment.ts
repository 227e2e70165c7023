/** Environments: the variables, functions, macros and checks of an expression. Validated when built, then immutable. */
import { check } from './check/checker.js';
import type { CostRange } from './cost/cost.js';
import { DeclarationError, type Overload } from './check/declarations.js';
import { estimate, type SizeHints } from './cost/estimator.js';
import type { Library } from './library.js';
import { Macros } from './syntax/macros.js';
import { DEFAULT_LIMITS, parse, type ParseLimits } from './syntax/parser.js';
import { plan, type Program } from './evaluate/plan.js';
import type { Scope } from './check/scope.js';
import { formatIssues, type Issue } from './syntax/source.js';
import { type ObjectType, type Type, typeType, DYN } from './check/types.js';
import { readsField } from './syntax/uses.js';
import { CelError, TypeValue, type Value } from './evaluate/values.js';
import { validate, type Validation } from './check/validators.js';

/** The contents of an environment. */
export interface EnvironmentOptions {
  readonly libraries: readonly Library[];
  readonly variables?: Readonly<Record<string, Type>> | ReadonlyMap<string, Type>;
  /** The namespace in which names are looked up first. */
  readonly container?: string;
  /** Checks of the finished tree (literals of one type, valid constants). */
  readonly validation?: Validation;
  readonly limits?: Partial<ParseLimits>;
  /** Leaves type errors to evaluation. */
  readonly lenient?: boolean;
  /** Sizes of variables for the static estimate. */
  readonly sizes?: SizeHints;
}

/** The result of compiling. `errors` is empty exactly if there is a program. */
export interface Compiled {
  readonly program?: Program;
  readonly type?: Type;
  readonly cost?: CostRange;
  readonly issues: readonly Issue[];
  /** The issues as text with carets, or the reason why planning a checked expression failed. */
  readonly errors: string;
  /** The reason why planning a checked expression failed. */
  readonly planError?: string;
}

/** The declarations of a list of libraries. Environments with the same list share it. */
interface Declarations {
  readonly functions: ReadonlyMap<string, readonly Overload[]>;
  /** Type names and constants: names with a value in every evaluation. */
  readonly constants: ReadonlyMap<string, { readonly type: Type; readonly value: Value }>;
  readonly macros: Macros;
  readonly optionalSyntax: boolean;
  readonly quotedFields: boolean;
}

function declare(libraries: readonly Library[]): Declarations {
  const functions = new Map<string, Overload[]>();
  const constants = new Map<string, { type: Type; value: Value }>();
  for (const library of libraries) {
    for (const o of library.functions ?? []) {
      const list = functions.get(o.fn);
      if (!list) functions.set(o.fn, [o]);
      else if (list.some(x => sameArguments(x, o)))
        throw new DeclarationError(`library '${library.name}': function '${o.fn}' declares the same arguments twice`);
      else list.push(o);
    }
    for (const name of library.types ?? []) constants.set(name, { type: typeType(), value: new TypeValue(name) });
    for (const [name, constant] of library.constants ?? []) constants.set(name, constant);
  }
  return {
    functions,
    constants,
    macros: new Macros(...libraries.map(l => l.macros ?? [])),
    optionalSyntax: libraries.some(l => l.optionalSyntax),
    quotedFields: libraries.some(l => l.quotedFields),
  };
}

/** Declarations by list: a schema with many rules makes several environments for each of them. */
const declared = new WeakMap<readonly Library[], Declarations>();

function declarationsOf(libraries: readonly Library[]): Declarations {
  const known = declared.get(libraries);
  if (known) return known;
  const made = declare(libraries);
  declared.set(libraries, made);
  return made;
}

/** An environment. The constructor throws `DeclarationError` naming a bad declaration. */
export class Environment implements Scope {
  readonly container: string;
  private readonly variables = new Map<string, Type>();
  /** Type names and constants: names with a value in every evaluation. */
  readonly constants: Declarations['constants'];
  private readonly declarations: Declarations;
  private readonly limits: ParseLimits;

  constructor(private readonly options: EnvironmentOptions) {
    this.container = options.container ?? '';
    this.limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.declarations = declarationsOf(options.libraries);
    this.constants = this.declarations.constants;
    const variables = options.variables instanceof Map ? options.variables : Object.entries(options.variables ?? {});
    for (const [name, type] of variables) {
      if (!/^[A-Za-z_@][\w.@:]*$/.test(name)) throw new DeclarationError(`variable '${name}': not an identifier`);
      this.variables.set(name, type);
    }
  }

  /** The same environment with other variables. */
  extend(variables: Readonly<Record<string, Type>>, sizes?: SizeHints): Environment {
    const all = new Map(this.variables);
    for (const [k, v] of Object.entries(variables)) all.set(k, v);
    return new Environment({ ...this.options, variables: all, sizes: sizes ?? this.options.sizes });
  }

  /** The qualified names that a name may stand for, innermost container first. */
  private candidates(name: string): string[] {
    if (name.startsWith('.')) return [name.slice(1)];
    const out = [name];
    const parts = this.container ? this.container.split('.') : [];
    for (let n = 1; n <= parts.length; n++) out.unshift(`${parts.slice(0, n).join('.')}.${name}`);
    return out;
  }

  resolveVariable(name: string): { name: string; type: Type } | undefined {
    for (const candidate of this.candidates(name)) {
      const type = this.variables.get(candidate) ?? this.constants.get(candidate)?.type;
      if (type) return { name: candidate, type };
    }
    return undefined;
  }

  resolveFunction(name: string): { name: string; overloads: readonly Overload[] } | undefined {
    for (const candidate of this.candidates(name)) {
      const overloads = this.declarations.functions.get(candidate);
      if (overloads) return { name: candidate, overloads };
    }
    return undefined;
  }

  member(name: string): { overloads: readonly Overload[] } | undefined {
    const overloads = this.declarations.functions.get(name);
    return overloads ? { overloads } : undefined;
  }

  resolveMessage(name: string): ObjectType | undefined {
    for (const candidate of this.candidates(name))
      for (const { messages } of this.options.libraries) {
        const type = messages?.(candidate);
        if (type) return type;
      }
    return undefined;
  }

  /** Whether the name is a variable, whose value is in the activation. */
  isVariable(name: string): boolean {
    return this.variables.has(name);
  }

  private parse(text: string): ReturnType<typeof parse> {
    const { macros, optionalSyntax, quotedFields } = this.declarations;
    return parse(text, { macros, optionalSyntax, quotedFields, limits: this.limits });
  }

  /** Whether a text contains `variable.field`, `variable.?field` or `has(variable.field)`; false if it has errors. */
  readsField(text: string, variable: string, field: string): boolean {
    const { expr } = this.parse(text);
    return expr !== undefined && readsField(expr, variable, field);
  }

  /** Parses, checks, validates, estimates and plans a text. */
  compile(text: string): Compiled {
    const parsed = this.parse(text);
    if (!parsed.expr) return { issues: parsed.issues, errors: formatIssues(text, parsed.issues) };
    const checked = check(parsed.expr, this, this.options.lenient);
    if (checked.issues.length) return { issues: checked.issues, errors: formatIssues(text, checked.issues) };
    const type = parsed.expr.type ?? DYN;
    const issues = this.options.validation ? validate(parsed.expr, this.options.validation) : [];
    if (issues.length) return { type, issues, errors: formatIssues(text, issues) };
    const cost = estimate(parsed.expr, this.options.sizes);
    try {
      return { program: plan(parsed.expr, this), type, cost, issues, errors: '' };
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      return {
        type,
        cost,
        issues: [{ at: 0, message: error.message }],
        errors: `program instantiation failed: ${error.message}`,
        planError: error.message,
      };
    }
  }
}

/** Whether two overloads have the same form and argument types, so that no call can tell them apart. */
function sameArguments(a: Overload, b: Overload): boolean {
  return a.member === b.member && a.args.length === b.args.length && JSON.stringify(a.args) === JSON.stringify(b.args);
}

/** Makes an environment. */
export const createEnvironment = (options: EnvironmentOptions): Environment => new Environment(options);
