/**
 * Checks of a finished tree beyond its types: constants that must parse, aggregate literals of one type, format
 * strings.
 */
import { children, type CallExpr, type Expr } from '../syntax/ast.js';
import { compileRegex } from '../lib/regex.js';
import { CLAUSE_KINDS, scanFormat, type Verb } from '../evaluate/format.js';
import { Issues, type Issue } from '../syntax/source.js';
import { unprintableText } from '../evaluate/text.js';
import { parseDuration, parseTimestamp } from '../evaluate/time.js';
import { DYN, formatType, isOptional, runtimeName, sameType, type Type } from './types.js';
import { CelError, type Value } from '../evaluate/values.js';

/** The checks that an environment enables. */
export interface Validation {
  /** Duration, timestamp and regex literals, and format strings. */
  readonly literals: boolean;
  /** List and map literals hold one type. */
  readonly homogeneous: boolean;
}

/** The issues of a checked tree. */
export function validate(expr: Expr, rules: Validation): readonly Issue[] {
  const issues = new Issues();
  // Literals directly inside a call of `format`, and literals nested in those, may mix types.
  const visit = (e: Expr, inFormat: boolean) => {
    if (rules.homogeneous && !inFormat) checkHomogeneous(e, issues);
    if (rules.literals && e.is === 'call') checkLiterals(e, issues);
    const exempt = e.is === 'call' ? e.fn === 'format' : inFormat && (e.is === 'list' || e.is === 'map');
    for (const child of children(e)) visit(child, exempt);
  };
  visit(expr, false);
  return issues.list;
}

function checkHomogeneous(e: Expr, issues: Issues): void {
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

function constantOf(e: Expr | undefined): Value | undefined {
  return e?.is === 'const' ? e.value : undefined;
}

function checkLiterals(e: CallExpr, issues: Issues): void {
  const arg = e.args[0];
  const first = constantOf(arg);
  if (e.fn === 'duration' && typeof first === 'string' && !parseDuration(first))
    issues.add(arg!.at, 'invalid duration argument');
  if (e.fn === 'timestamp' && isBadTimestamp(first)) issues.add(arg!.at, 'invalid timestamp argument');
  // Upstream checks the first argument: the pattern of the member form, but the text of the global one.
  if (e.fn === 'matches' && typeof first === 'string' && !compileRegex(first))
    issues.add(arg!.at, 'invalid matches argument');
  const format = constantOf(e.target);
  if (e.fn === 'format' && typeof format === 'string' && arg?.is === 'list') checkFormat(e, format, arg.items, issues);
}

function isBadTimestamp(v: Value | undefined): boolean {
  if (typeof v === 'string') return parseTimestamp(v) === undefined;
  if (typeof v === 'bigint') return true;
  return typeof v === 'number' && (v < -62135596800 || v > 253402300799);
}

const CLAUSE_TYPES: Readonly<Record<Exclude<Verb, 's'>, readonly Type['kind'][]>> = {
  d: ['int', 'uint'],
  f: ['double', 'string'],
  e: ['double', 'string'],
  b: ['int', 'uint', 'bool'],
  o: ['int', 'uint'],
  x: ['int', 'uint', 'string', 'bytes'],
  X: ['int', 'uint', 'string', 'bytes'],
};

/** Checks a constant format against the types of its arguments. */
function checkFormat(e: CallExpr, format: string, args: readonly Expr[], issues: Issues): void {
  let at = e.at;
  try {
    const taken = scanFormat(format, {
      count: args.length,
      checking: true,
      text: () => {},
      clause({ verb }, index) {
        const found = verb === 's' ? findUnprintable(args[index]!) : kindMismatch(args[index]!, verb);
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

interface Mismatch {
  readonly at: number;
  readonly reason: string;
}

function kindMismatch(arg: Expr, verb: Exclude<Verb, 's'>): Mismatch | undefined {
  const t = arg.type ?? DYN;
  return t.kind === 'dyn' || CLAUSE_TYPES[verb].includes(t.kind)
    ? undefined
    : { at: arg.at, reason: `${CLAUSE_KINDS[verb]}, was given ${runtimeName(t)}` };
}

/** Finds the part of an argument that `%s` cannot print; searches list and map literals. */
function findUnprintable(e: Expr): Mismatch | undefined {
  const t = e.type ?? DYN;
  if (t.kind === 'object' || t.kind === 'opaque') return { at: e.at, reason: unprintableText(runtimeName(t)) };
  if (e.is !== 'list' && e.is !== 'map') return undefined;
  for (const child of children(e)) {
    const bad = findUnprintable(child);
    if (bad) return bad;
  }
  return undefined;
}
