/**
 * Checks on a finished tree that are no matter of types: constants that must parse, aggregate literals of one type,
 * format clauses.
 */
import { children, type CallExpr, type Expr } from './ast.js';
import { compileRegex } from './lib/regex.js';
import { CLAUSE_KINDS, scanFormat, type Verb } from './format.js';
import { Issues, type Issue } from './source.js';
import { unprintableText } from './text.js';
import { parseDuration, parseTimestamp } from './time.js';
import { DYN, formatType, isOptional, runtimeName, sameType, type Type } from './types.js';
import { CelError, type Value } from './values.js';

/** Which checks an environment makes. */
export interface Validation {
  /** Duration, timestamp and regex literals, and format strings. */
  readonly literals: boolean;
  /** List and map literals hold one type. */
  readonly homogeneous: boolean;
}

/** The issues of a checked tree. */
export function validate(expr: Expr, rules: Validation): readonly Issue[] {
  const issues = new Issues();
  // Literals right inside a call of `format` are exempt, and literals inside those; what stands in other nodes is not.
  const visit = (e: Expr, inFormat: boolean) => {
    if (rules.homogeneous && !inFormat) homogeneous(e, issues);
    if (rules.literals && e.is === 'call') literals(e, issues);
    const exempt = e.is === 'call' ? e.fn === 'format' : inFormat && (e.is === 'list' || e.is === 'map');
    for (const child of children(e)) visit(child, exempt);
  };
  visit(expr, false);
  return issues.list;
}

function homogeneous(e: Expr, issues: Issues): void {
  const same = (members: readonly [Expr, boolean][]) => {
    let first: Type | undefined;
    for (const [member, optional] of members) {
      const own = member.type ?? DYN;
      const t = optional && isOptional(own) ? own.params[0]! : own;
      if (first === undefined) first = t;
      else if (!sameType(first, t))
        return issues.add(member.at, `expected type '${formatType(first)}' but found '${formatType(t)}'`);
    }
  };
  if (e.is === 'list') same(e.items.map((item, i) => [item, e.optional.has(i)]));
  else if (e.is === 'map') {
    same(e.entries.map(x => [x.key, false]));
    same(e.entries.map(x => [x.value, x.optional]));
  }
}

function constant(e: Expr | undefined): Value | undefined {
  return e?.is === 'const' ? e.value : undefined;
}

function literals(e: CallExpr, issues: Issues): void {
  const arg = e.args[0];
  const first = constant(arg);
  if (e.fn === 'duration' && typeof first === 'string' && !parseDuration(first))
    issues.add(arg!.at, 'invalid duration argument');
  if (e.fn === 'timestamp' && badTimestamp(first)) issues.add(arg!.at, 'invalid timestamp argument');
  // Upstream looks at the first argument, be it the pattern of the member form or the text of the global one.
  if (e.fn === 'matches' && typeof first === 'string' && !compileRegex(first))
    issues.add(arg!.at, 'invalid matches argument');
  const format = constant(e.target);
  if (e.fn === 'format' && typeof format === 'string' && arg?.is === 'list') clauses(e, format, arg.items, issues);
}

function badTimestamp(v: Value | undefined): boolean {
  if (typeof v === 'string') return parseTimestamp(v) === undefined;
  if (typeof v === 'bigint') return true;
  return typeof v === 'number' && (v < -62135596800 || v > 253402300799);
}

const TAKES: Readonly<Record<Exclude<Verb, 's'>, readonly Type['kind'][]>> = {
  d: ['int', 'uint'],
  f: ['double', 'string'],
  e: ['double', 'string'],
  b: ['int', 'uint', 'bool'],
  o: ['int', 'uint'],
  x: ['int', 'uint', 'string', 'bytes'],
  X: ['int', 'uint', 'string', 'bytes'],
};

/** Checks a constant format against the types of its arguments. */
function clauses(e: CallExpr, format: string, args: readonly Expr[], issues: Issues): void {
  let at = e.at;
  try {
    const taken = scanFormat(format, {
      count: args.length,
      checking: true,
      text: () => {},
      clause({ verb }, index) {
        const found = verb === 's' ? unprintable(args[index]!) : wrongKind(args[index]!, verb);
        if (!found) return;
        at = found.at;
        throw new CelError(`error during formatting: ${found.reason}`);
      },
    });
    if (taken < args.length)
      issues.add(e.at, `too many arguments supplied to string.format (expected ${taken}, got ${args.length})`);
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    issues.add(at, error.message);
  }
}

interface Unfit {
  readonly at: number;
  readonly reason: string;
}

function wrongKind(arg: Expr, verb: Exclude<Verb, 's'>): Unfit | undefined {
  const t = arg.type ?? DYN;
  return t.kind === 'dyn' || TAKES[verb].includes(t.kind)
    ? undefined
    : { at: arg.at, reason: `${CLAUSE_KINDS[verb]}, was given ${runtimeName(t)}` };
}

/** Why `%s` cannot print an argument; looks into literals. */
function unprintable(e: Expr): Unfit | undefined {
  const t = e.type ?? DYN;
  if (t.kind === 'object' || t.kind === 'opaque') return { at: e.at, reason: unprintableText(runtimeName(t)) };
  if (e.is !== 'list' && e.is !== 'map') return undefined;
  for (const child of children(e)) {
    const bad = unprintable(child);
    if (bad) return bad;
  }
  return undefined;
}
