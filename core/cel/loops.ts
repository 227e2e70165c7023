/** The comprehension macros as loops. Errors of one step are kept while another may decide. */
import type { ComprehensionExpr } from './ast.js';
import type { Frame } from './meter.js';
import { swallow } from './operators.js';
import type { Code, Planner } from './plan.js';
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

/** Runs once per member; answers `true` to end the loop. */
type Step = (f: Frame) => boolean;

/** Compiles a comprehension. */
export function loopCode(planner: Planner, e: ComprehensionExpr): Code {
  const range = planner.code(e.range);
  return planner.withLocals(e.vars, slots => {
    const filter = e.filter ? planner.code(e.filter) : undefined;
    const body = planner.code(e.body);
    const each = walker(slots);
    switch (e.kind) {
      case 'all':
        return quantifier(range, body, each, false);
      case 'exists':
        return quantifier(range, body, each, true);
      case 'exists_one':
        return f => {
          let count = 0;
          each(f, range(f), () => {
            if (condition(body(f))) count++;
            return false;
          });
          return count === 1;
        };
      case 'filter':
        return collect(range, each, (f, out) => {
          const kept = f.locals[slots[0]!]!;
          if (condition(body(f))) out.push(kept);
        });
      case 'map':
      case 'transformList':
        return collect(range, each, (f, out) => {
          if (filter && !condition(filter(f))) return;
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

/** Sets the loop's variables for every member in turn. */
function walker(slots: readonly number[]): Each {
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
    if (!(range instanceof Dict)) return fail(`got '${hostName(range)}', expected iterable type`);
    f.charge(range.size);
    for (const key of range.keys()) {
      f.charge(3);
      f.locals[first] = key;
      if (second !== undefined) f.locals[second] = range.get(key)!;
      if (step(f)) return;
    }
  };
}

/** The names upstream gives to types that cannot be ranged over: those of its own implementation. */
const HOST_NAMES = new Map([
  ['null_type', 'types.Null'],
  ['type', '*types.Type'],
  ['optional_type', '*types.Optional'],
  ['google.protobuf.Timestamp', 'types.Timestamp'],
  ['google.protobuf.Duration', 'types.Duration'],
]);
function hostName(v: Value): string {
  const name = typeNameOf(v);
  return HOST_NAMES.get(name) ?? (name.includes('.') ? name : `types.${name[0]!.toUpperCase()}${name.slice(1)}`);
}

const condition = (v: Value): boolean => (typeof v === 'boolean' ? v : noOverload());

function quantifier(range: Code, body: Code, each: Each, decides: boolean): Code {
  return f => {
    let failure: CelError | Unknown | undefined;
    let decided = false;
    each(f, range(f), () => {
      try {
        const v = body(f);
        if (v === decides) decided = true;
        else if (typeof v !== 'boolean') failure = swallow(failure, new CelError('no such overload'));
      } catch (error) {
        failure = swallow(failure, error);
      }
      return decided;
    });
    if (decided) return decides;
    if (failure) throw failure;
    return !decides;
  };
}

function collect(range: Code, each: Each, step: (f: Frame, out: Value[]) => void): Code {
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
    if (!filter || condition(filter(f))) step(out);
    return false;
  });
  return new MapDict(out);
}

function insert(out: Entries, key: Value, value: Value): void {
  const k = keyOf(key);
  if (k === undefined) fail('unsupported key type');
  else if (out.has(k)) fail(`insert failed: key ${String(k)} already exists`);
  else out.set(k, [key, value]);
}
