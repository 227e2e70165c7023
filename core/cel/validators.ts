/** Checks on a finished tree that are no matter of types: constants that must parse, aggregate literals of one type, format clauses. */
import { children, type CallExpr, type Expr } from './ast.js';
import { compileRegex } from './lib/regex.js';
import { Issues, type Issue } from './source.js';
import { parseDuration, parseTimestamp } from './time.js';
import { DYN, formatType, isOptional, runtimeName, sameType, type Type } from './types.js';
import type { Value } from './values.js';

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
  const visit = (e: Expr, inFormat: boolean) => {
    if (rules.homogeneous && !inFormat) homogeneous(e, issues);
    if (rules.literals && e.is === 'call') literals(e, issues);
    const format = e.is === 'call' && e.fn === 'format' && e.target !== undefined;
    for (const child of children(e)) visit(child, inFormat || (format && child !== (e as CallExpr).target));
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
  const args = e.target ? [e.target, ...e.args] : e.args;
  const first = constant(args[0]);
  if (e.fn === 'duration' && typeof first === 'string' && !parseDuration(first))
    issues.add(args[0]!.at, 'invalid duration argument');
  if (e.fn === 'timestamp' && badTimestamp(first)) issues.add(args[0]!.at, 'invalid timestamp argument');
  const pattern = constant(args[1]);
  if (e.fn === 'matches' && typeof pattern === 'string' && !compileRegex(pattern))
    issues.add(args[1]!.at, 'invalid matches argument');
  if (e.fn === 'format' && e.target && typeof first === 'string' && e.args[0]?.is === 'list')
    clauses(e, first, e.args[0].items, issues);
}

function badTimestamp(v: Value | undefined): boolean {
  if (typeof v === 'string') return !parseTimestamp(v);
  if (typeof v === 'bigint') return true;
  return typeof v === 'number' && (v < -62135596800 || v > 253402300799);
}

const WANTED = new Map<string, readonly [kinds: readonly Type['kind'][], message: string]>([
  ['d', [['int', 'uint'], 'decimal clause can only be used on integers']],
  ['f', [['double', 'int', 'uint'], 'fixed-point clause can only be used on doubles']],
  ['e', [['double', 'int', 'uint'], 'scientific clause can only be used on doubles']],
  ['b', [['int', 'uint', 'bool'], 'only integers and bools can be formatted as binary']],
  ['o', [['int', 'uint'], 'octal clause can only be used on integers']],
  ['x', [['int', 'uint', 'string', 'bytes'], 'only integers, byte buffers, and strings can be formatted as hex']],
  ['X', [['int', 'uint', 'string', 'bytes'], 'only integers, byte buffers, and strings can be formatted as hex']],
]);

function clauses(e: CallExpr, format: string, args: readonly Expr[], issues: Issues): void {
  let i = 0;
  for (const m of format.matchAll(/%(?:(%)|(?:\.\d*)?([a-zA-Z])|(.?))/gsu)) {
    if (m[1]) continue;
    const verb = m[2] ?? m[3] ?? '';
    if (!'sdfeboxX'.includes(verb) || verb === '') {
      const reason = verb ? `unrecognized formatting clause "${verb}"` : 'unexpected end of string';
      issues.add(e.at, `could not parse formatting clause: ${reason}`);
      return;
    }
    const arg = args[i++];
    if (!arg) {
      issues.add(e.at, `index ${i - 1} out of range`);
      return;
    }
    const bad = verb === 's' ? unprintable(arg) : wrongKind(arg, verb);
    if (bad) {
      issues.add(arg.at, `error during formatting: ${bad}`);
      return;
    }
  }
  if (i < args.length) issues.add(e.at, `too many arguments supplied to string.format (expected ${i}, got ${args.length})`);
}

function wrongKind(arg: Expr, verb: string): string | undefined {
  const t = arg.type ?? DYN;
  const [kinds, message] = WANTED.get(verb)!;
  return t.kind === 'dyn' || kinds.includes(t.kind) ? undefined : `${message}, was given ${runtimeName(t)}`;
}

/** Why `%s` cannot print an argument; looks into literals. */
function unprintable(e: Expr): string | undefined {
  const t = e.type ?? DYN;
  if (t.kind === 'object' || t.kind === 'opaque') {
    return `string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given ${runtimeName(t)}`;
  }
  if (e.is !== 'list' && e.is !== 'map') return undefined;
  for (const child of children(e)) {
    const bad = unprintable(child);
    if (bad) return bad;
  }
  return undefined;
}
