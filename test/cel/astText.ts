/**
 * Prints a tree like the tables of the specification package, without white space. Loops are printed as comprehensions.
 */
import type { BindExpr, CallExpr, ComprehensionExpr, Expr } from '../../core/cel/syntax/ast.js';
import { quote } from '../../core/model/text/quote.js';
import { Double, Uint, type Value } from '../../core/cel/evaluate/values.js';

const RESULT = '@result';
const call = (fn: string, ...args: string[]): string => `${fn}(${args.join(',')})`;

function constant(v: Value): string {
  if (typeof v === 'string') return quote(v);
  if (v instanceof Uint8Array) return `b${quote(Buffer.from(v).toString('latin1'))}`;
  if (v instanceof Double) return String(v.value);
  return v instanceof Uint ? `${v.value}u` : String(v);
}

/** Upstream parses chains of `&&` and `||` into balanced trees. */
function balanced(fn: string, terms: readonly string[]): string {
  const tree = (low: number, high: number): string => {
    const middle = Math.floor((low + high + 1) / 2);
    const left = middle === low ? terms[middle]! : tree(low, middle - 1);
    const right = middle === high ? terms[middle + 1]! : tree(middle + 1, high);
    return call(fn, left, right);
  };
  return tree(0, terms.length - 2);
}

function comprehension(
  vars: string,
  range: string,
  init: string,
  condition: string,
  step: string,
  result: string,
): string {
  return `__comprehension__(//Variable${vars},//Target${range},//Accumulator${RESULT},//Init${init},//LoopCondition${condition},//LoopStep${step},//Result${result})`;
}

function loop(e: ComprehensionExpr): string {
  const range = show(e.range);
  const body = show(e.body);
  const vars = e.vars.join(',//Variable');
  const more = (condition: string): string => call('@not_strictly_false', condition);
  const append = (item: string): string => call('_+_', RESULT, `[${item}]`);
  switch (e.kind) {
    case 'all':
      return comprehension(vars, range, 'true', more(RESULT), call('_&&_', RESULT, body), RESULT);
    case 'exists':
      return comprehension(vars, range, 'false', more(call('!_', RESULT)), call('_||_', RESULT, body), RESULT);
    case 'exists_one':
      return comprehension(
        vars,
        range,
        '0',
        'true',
        call('_?_:_', body, call('_+_', RESULT, '1'), RESULT),
        call('_==_', RESULT, '1'),
      );
    case 'filter':
      return comprehension(vars, range, '[]', 'true', call('_?_:_', body, append(e.vars[0]!), RESULT), RESULT);
    case 'map': {
      const step = e.filter ? call('_?_:_', show(e.filter), append(body), RESULT) : append(body);
      return comprehension(vars, range, '[]', 'true', step, RESULT);
    }
    default:
      throw new Error(`the tables have no ${e.kind}`);
  }
}

function calling(e: CallExpr): string {
  const args = e.args.map(show);
  if ((e.fn === '_&&_' || e.fn === '_||_') && args.length > 2) return balanced(e.fn, args);
  return `${e.target ? `${show(e.target)}.` : ''}${call(e.fn, ...args)}`;
}

function binding(e: BindExpr): string {
  throw new Error(`the tables have no ${e.kind}`);
}

/** The text of a tree. */
export function show(e: Expr): string {
  switch (e.is) {
    case 'const':
      return constant(e.value);
    case 'ident':
      return e.name;
    case 'select':
      return `${show(e.operand)}.${e.field}${e.test ? '~test-only~' : ''}`;
    case 'call':
      return calling(e);
    case 'list':
      return `[${e.items.map((item, i) => (e.optional.has(i) ? '?' : '') + show(item)).join(',')}]`;
    case 'map':
      return `{${e.entries.map(x => `${x.optional ? '?' : ''}${show(x.key)}:${show(x.value)}`).join(',')}}`;
    case 'struct':
      return `${e.name}{${e.fields.map(f => `${f.optional ? '?' : ''}${f.name}:${show(f.value)}`).join(',')}}`;
    case 'loop':
      return loop(e);
    case 'bind':
      return binding(e);
  }
}

/** The text in a table without the marks of node kinds and without white space. */
export const normalized = (text: string): string => text.replace(/\^#[^#]*#/g, '').replace(/\s+/g, '');
