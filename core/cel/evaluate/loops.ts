/** Compiled comprehensions. `all` and `exists` keep an error of one step, since another step may decide. */
import type { ComprehensionExpr } from '../syntax/ast.js';
import type { Code, Compiler } from './code.js';
import type { Frame } from '../cost/meter.js';
import { keepError } from './operators.js';
import {
  ArrayList,
  CelError,
  Dict,
  fail,
  keyOf,
  List,
  MapDict,
  type MapKey,
  noOverload,
  typeNameOf,
  type Unknown,
  type Value,
} from './values.js';

/** Runs once per item; returns whether to end the loop. */
type Step = (f: Frame) => boolean;

/** Compiles a comprehension. */
export function compileLoop(planner: Compiler, e: ComprehensionExpr): Code {
  const range = planner.compile(e.range);
  return planner.withLocals(e.vars, slots => {
    const filter = e.filter ? planner.compile(e.filter) : undefined;
    const body = planner.compile(e.body);
    const each = iterate(slots);
    switch (e.kind) {
      case 'all':
        return compileQuantifier(range, body, each, false);
      case 'exists':
        return compileQuantifier(range, body, each, true);
      case 'exists_one':
        return f => {
          let count = 0;
          each(f, range(f), () => {
            if (toBool(body(f))) count++;
            return false;
          });
          return count === 1;
        };
      case 'filter':
        return compileCollect(range, each, (f, out) => {
          const kept = f.locals[slots[0]!]!;
          if (toBool(body(f))) out.push(kept);
        });
      case 'map':
      case 'transformList':
        return compileCollect(range, each, (f, out) => {
          if (filter && !toBool(filter(f))) return;
          out.push(body(f));
        });
      case 'transformMap':
        return f => collectMap(f, range, each, filter, out => insert(out, f.locals[slots[0]!]!, body(f)));
      case 'transformMapEntry':
        return f =>
          collectMap(f, range, each, filter, out => {
            const entry = body(f);
            if (!(entry instanceof Dict)) return noOverload();
            for (const key of entry.keys()) insert(out, key, entry.get(key)!);
          });
    }
  });
}

type Each = (f: Frame, range: Value, step: Step) => void;

/**
 * Runs a step for every item, with the loop variables set. Charges are the costs of upstream's expansion of the macros:
 * 3 for an item, and 8 more if each item adds a value to the result.
 */
function iterate(slots: readonly number[]): Each {
  const [first, second] = slots as [number, number | undefined];
  return (f, range, step) => {
    if (range instanceof List) {
      const n = range.size;
      for (let i = 0; i < n; i++) {
        f.charge(3);
        if (second === undefined) f.locals[first] = range.at(i);
        else {
          f.locals[first] = i;
          f.locals[second] = range.at(i);
        }
        if (step(f)) return;
      }
      return;
    }
    if (!(range instanceof Dict)) return fail(`got '${goTypeName(range)}', expected iterable type`);
    f.charge(range.size);
    for (const key of range.keys()) {
      f.charge(3);
      f.locals[first] = key;
      if (second !== undefined) f.locals[second] = range.get(key)!;
      if (step(f)) return;
    }
  };
}

/** Names of types that cannot be ranged over. Upstream's errors print the Go types of its implementation. */
const GO_TYPE_NAMES = new Map([
  ['null_type', 'types.Null'],
  ['type', '*types.Type'],
  ['optional_type', '*types.Optional'],
  ['google.protobuf.Timestamp', 'types.Timestamp'],
  ['google.protobuf.Duration', 'types.Duration'],
]);
function goTypeName(v: Value): string {
  const name = typeNameOf(v);
  return GO_TYPE_NAMES.get(name) ?? (name.includes('.') ? name : `types.${name[0]!.toUpperCase()}${name.slice(1)}`);
}

const toBool = (v: Value): boolean => (typeof v === 'boolean' ? v : noOverload());

/** `all` and `exists`: ends at the first step with the value `decides`. Without one, an error of a step is thrown. */
function compileQuantifier(range: Code, body: Code, each: Each, decides: boolean): Code {
  return f => {
    let failure: CelError | Unknown | undefined;
    let decided = false;
    each(f, range(f), () => {
      try {
        const v = body(f);
        if (v === decides) decided = true;
        else if (typeof v !== 'boolean') failure = keepError(failure, new CelError('no such overload'));
      } catch (error) {
        failure = keepError(failure, error);
      }
      return decided;
    });
    if (decided) return decides;
    if (failure) throw failure;
    return !decides;
  };
}

function compileCollect(range: Code, each: Each, step: (f: Frame, out: Value[]) => void): Code {
  return f => {
    const out: Value[] = [];
    each(f, range(f), () => {
      f.charge(8);
      step(f, out);
      return false;
    });
    return new ArrayList(out);
  };
}

type Entries = Map<MapKey, readonly [Value, Value]>;

function collectMap(f: Frame, range: Code, each: Each, filter: Code | undefined, step: (out: Entries) => void): Value {
  const out: Entries = new Map();
  each(f, range(f), () => {
    f.charge(8);
    if (!filter || toBool(filter(f))) step(out);
    return false;
  });
  return new MapDict(out);
}

/** Adds an entry. Keys that are equal across types, such as 1 and 1u, are one key, and a second one is an error. */
function insert(out: Entries, key: Value, value: Value): void {
  const k = keyOf(key);
  if (k === undefined) fail('unsupported key type');
  else if (out.has(k)) fail(`insert failed: key ${String(k)} already exists`);
  else out.set(k, [key, value]);
}
