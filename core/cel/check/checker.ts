/** The type checker: resolves names and overloads on the tree, and reports every error it finds. */
import * as Ast from '../syntax/ast.js';
import type { Overload } from './declarations.js';
import type { Scope } from './scope.js';
import { Issues, type Issue } from '../syntax/source.js';
import * as T from './types.js';
import { formatType, isOptional, type Type } from './types.js';
import { typeNameOf, Uint, Double, type Value } from '../evaluate/values.js';

/** Checks a tree in place. With `lenient`, unresolved names and overloads are left to evaluation. */
export function check(expr: Ast.Expr, scope: Scope, lenient = false): { type: Type; issues: readonly Issue[] } {
  const checker = new Checker(scope, lenient);
  checker.visit(expr);
  checker.finish(expr);
  return { type: expr.type!, issues: checker.issues.list };
}

class Checker implements Ast.Visitor<Type> {
  readonly issues = new Issues();
  private readonly bindings: T.Bindings = new Map();
  private readonly locals: Map<string, Type>[] = [];
  private nextParam = 0;
  constructor(
    private readonly scope: Scope,
    private readonly lenient: boolean,
  ) {}

  /** Computes and records the type of a node. */
  visit(e: Ast.Expr): Type {
    const type = Ast.visit(e, this);
    e.type = type;
    return type;
  }

  /** Replaces the type parameters in the whole tree by their bindings. */
  finish(e: Ast.Expr): void {
    const stack = [e];
    while (stack.length) {
      const node = stack.pop()!;
      if (node.type) node.type = T.substitute(node.type, this.bindings, true);
      stack.push(...Ast.checkedChildren(node));
    }
  }

  constant(e: Ast.ConstExpr): Type {
    return constantType(e.value);
  }

  struct(e: Ast.StructExpr): Type {
    const type = this.scope.resolveMessage(e.name);
    if (!type) {
      for (const f of e.fields) this.visit(f.value);
      this.reportUndeclared(e.at, e.name);
      return T.ERROR;
    }
    for (const { at, name, value, optional } of e.fields) {
      const given = this.visitEntry(value, optional);
      const expected = type.field(name);
      if (expected && T.isAssignable(this.bindings, [expected], [given])) continue;
      const [wanted, provided] = [expected, given].map(one => (one ? formatType(this.finalType(one)) : ''));
      this.issues.add(at, `expected type of field '${name}' is '${wanted}' but provided type is '${provided}'`);
    }
    return type;
  }

  private reportUndeclared(at: number, name: string): void {
    if (!this.lenient)
      this.issues.add(at, `undeclared reference to '${name}' (in container '${this.scope.container}')`);
  }

  private lookupLocal(name: string): Type | undefined {
    for (let i = this.locals.length - 1; i >= 0; i--) {
      const t = this.locals[i]!.get(name);
      if (t) return t;
    }
    return undefined;
  }

  ident(e: Ast.IdentExpr): Type {
    const local = this.lookupLocal(e.name);
    if (local) return local;
    const found = this.scope.resolveVariable(e.name);
    if (found) {
      e.resolved = found.name;
      return found.type;
    }
    this.reportUndeclared(e.at, e.name.replace(/^\./, ''));
    return this.lenient ? T.DYN : T.ERROR;
  }

  select(e: Ast.SelectExpr): Type {
    const qualified = e.test ? undefined : this.qualifiedName(e);
    if (qualified !== undefined) {
      const found = this.scope.resolveVariable(qualified);
      if (found) {
        e.resolved = found.name;
        return found.type;
      }
    }
    const operand = T.substitute(this.visit(e.operand), this.bindings, false);
    const inner = isOptional(operand) ? operand.params[0]! : operand;
    const field = this.fieldType(e.at, inner, e.field);
    if (e.test) return T.BOOL;
    return isOptional(operand) ? (isOptional(field) ? field : T.optionalType(field)) : field;
  }

  private fieldType(at: number, t: Type, field: string): Type {
    switch (t.kind) {
      case 'map':
        return t.of;
      case 'object': {
        const type = t.field(field);
        if (type) return type;
        if (!this.lenient) this.issues.add(at, `undefined field '${field}'`);
        return T.ERROR;
      }
      case 'dyn':
      case 'error':
      case 'param':
        return T.DYN;
      default:
        if (!this.lenient)
          this.issues.add(at, `type '${formatType(this.finalType(t))}' does not support field selection`);
        return this.lenient ? T.DYN : T.ERROR;
    }
  }

  /** `a.b.c` as one name, unless its root is a local variable. */
  private qualifiedName(e: Ast.Expr): string | undefined {
    if (e.is === 'ident') return this.lookupLocal(e.name) ? undefined : e.name;
    if (e.is !== 'select' || e.test) return undefined;
    const operand = this.qualifiedName(e.operand);
    return operand === undefined ? undefined : `${operand}.${e.field}`;
  }

  private finalType(t: Type): Type {
    return T.substitute(t, this.bindings, true);
  }

  /**
   * The type of a call. `a.b(c)` is a function `a.b` in a namespace, if there is one; otherwise, it is a member
   * function of `a`.
   */
  call(e: Ast.CallExpr): Type {
    if (e.fn === '_&&_' || e.fn === '_||_') {
      for (const a of e.args) this.expectBool(a);
      return T.BOOL;
    }
    if (e.fn === '_?._') return this.optionalSelect(e);
    if (e.target) {
      const prefix = this.qualifiedName(e.target);
      const fn = prefix === undefined ? undefined : this.scope.resolveFunction(`${prefix}.${e.fn}`);
      if (fn?.overloads.some(o => !o.member)) {
        e.qualified = fn.name;
        return this.resolveOverload(
          e,
          fn.name,
          fn.overloads,
          e.args.map(a => this.visit(a)),
          false,
        );
      }
    }
    const argTypes = (e.target ? [e.target, ...e.args] : e.args).map(a => this.visit(a));
    const fn = e.target ? this.scope.member(e.fn) : this.scope.resolveFunction(e.fn);
    if (!fn) {
      this.reportUndeclared(e.at, e.fn.replace(/^\./, ''));
      return this.lenient ? T.DYN : T.ERROR;
    }
    return this.resolveOverload(e, e.fn.replace(/^\./, ''), fn.overloads, argTypes, e.target !== undefined);
  }

  private expectBool(e: Ast.Expr): void {
    const t = this.visit(e);
    if (!T.isAssignable(this.bindings, [t], [T.BOOL])) {
      if (!this.lenient) this.issues.add(e.at, `expected type 'bool' but found '${formatType(this.finalType(t))}'`);
    }
  }

  /**
   * Sets the overloads that accept the arguments, and returns their common type. If their types differ, the type is
   * known only during evaluation: dyn.
   */
  private resolveOverload(
    e: Ast.CallExpr,
    name: string,
    all: readonly Overload[],
    argTypes: readonly Type[],
    member: boolean,
  ): Type {
    const matching: Overload[] = [];
    let result: Type | undefined;
    // All matching overloads are kept: with arguments of type dyn, the evaluation chooses one by the values.
    for (const o of all) {
      if (o.member !== member || o.args.length !== argTypes.length) continue;
      const [args, type] = this.instantiate(o);
      if (!T.isAssignable(this.bindings, argTypes, args)) continue;
      matching.push(o);
      const resultType = T.substitute(type, this.bindings, false);
      result = result === undefined || T.sameType(result, resultType) ? resultType : T.DYN;
    }
    e.overloads = matching;
    if (result) return result;
    if (this.lenient) {
      e.overloads = all.filter(o => o.member === member && o.args.length === argTypes.length);
      return T.DYN;
    }
    const shown = argTypes.map(t => formatType(this.finalType(t)));
    const applied = member ? `${shown[0]}.(${shown.slice(1).join(', ')})` : `(${shown.join(', ')})`;
    this.issues.add(e.at, `found no matching overload for '${name}' applied to '${applied}'`);
    return T.ERROR;
  }

  /** The overload's argument and result types with fresh type parameters. */
  private instantiate(o: Overload): [readonly Type[], Type] {
    const renamed: T.Bindings = new Map();
    const rename = (t: Type): Type => {
      for (const p of T.paramNames(t)) if (!renamed.has(p)) renamed.set(p, T.param(`_${this.nextParam++}`));
      return renamed.size ? T.substitute(t, renamed, false) : t;
    };
    return [o.args.map(rename), rename(o.result)];
  }

  private optionalSelect(e: Ast.CallExpr): Type {
    const operand = T.substitute(this.visit(e.args[0]!), this.bindings, false);
    this.visit(e.args[1]!);
    const inner = isOptional(operand) ? operand.params[0]! : operand;
    const field = e.args[1]!;
    const type = this.fieldType(e.at, inner, field.is === 'const' ? String(field.value) : '');
    return isOptional(type) ? type : T.optionalType(type);
  }

  /** Visits an item or entry; of an optional one, returns the type of its content. */
  private visitEntry(e: Ast.Expr, optional: boolean): Type {
    const t = T.substitute(this.visit(e), this.bindings, false);
    if (!optional || t.kind === 'dyn' || t.kind === 'error') return t;
    if (isOptional(t)) return t.params[0]!;
    if (!this.lenient)
      this.issues.add(
        e.at,
        `expected type 'optional_type(${formatType(this.finalType(t))})' but found '${formatType(this.finalType(t))}'`,
      );
    return T.ERROR;
  }

  list(e: Ast.ListExpr): Type {
    let of: Type | undefined;
    e.items.forEach((item, i) => {
      const t = this.visitEntry(item, e.optional.has(i));
      of = of === undefined ? t : T.commonType(this.bindings, of, t);
    });
    return T.listType(of ?? T.param(`_${this.nextParam++}`));
  }

  map(e: Ast.MapExpr): Type {
    let key: Type | undefined;
    let of: Type | undefined;
    for (const entry of e.entries) {
      const k = this.visit(entry.key);
      key = key === undefined ? k : T.commonType(this.bindings, key, k);
      const v = this.visitEntry(entry.value, entry.optional);
      of = of === undefined ? v : T.commonType(this.bindings, of, v);
    }
    return T.mapType(key ?? T.param(`_${this.nextParam++}`), of ?? T.param(`_${this.nextParam++}`));
  }

  loop(e: Ast.ComprehensionExpr): Type {
    const range = T.substitute(this.visit(e.range), this.bindings, false);
    const [first, second] = this.loopTypes(e.range.at, range);
    const scope = new Map<string, Type>();
    if (e.vars.length === 2) scope.set(e.vars[0]!, range.kind === 'list' ? T.INT : first).set(e.vars[1]!, second);
    else scope.set(e.vars[0]!, range.kind === 'list' ? second : first);
    this.locals.push(scope);
    const list = T.listType(scope.get(e.vars[0]!)!);
    if (e.filter) this.checkCondition(e, e.filter, list);
    const result = this.loopResult(e, range.kind === 'map' ? first : range.kind === 'list' ? T.INT : T.DYN, list);
    this.locals.pop();
    return result;
  }

  private loopTypes(at: number, range: Type): [Type, Type] {
    if (range.kind === 'list') return [T.INT, range.of];
    if (range.kind === 'map') return [range.key, range.of];
    if (range.kind !== 'dyn' && range.kind !== 'error' && range.kind !== 'param' && !this.lenient) {
      this.issues.add(
        at,
        `expression of type '${formatType(this.finalType(range))}' cannot be range of a comprehension (must be ` +
          'list, map, or dynamic)',
      );
      return [T.ERROR, T.ERROR];
    }
    return [T.DYN, T.DYN];
  }

  private loopResult(e: Ast.ComprehensionExpr, key: Type, list: Type): Type {
    switch (e.kind) {
      case 'all':
      case 'exists':
        this.expectBool(e.body);
        return T.BOOL;
      case 'exists_one':
        this.checkCondition(e, e.body, T.INT);
        return T.BOOL;
      case 'filter':
        this.checkCondition(e, e.body, list);
        return list;
      case 'map':
      case 'transformList':
        return T.listType(this.visit(e.body));
      case 'transformMap':
        return T.mapType(key, this.visit(e.body));
      case 'transformMapEntry': {
        const t = T.substitute(this.visit(e.body), this.bindings, false);
        if (t.kind === 'map') return t;
        if (t.kind !== 'dyn' && t.kind !== 'error' && !this.lenient)
          this.issues.add(
            e.body.at,
            `found no matching overload for 'cel.@mapInsert' applied to '(map(dyn, dyn), ${formatType(t)})'`,
          );
        return T.mapType(T.DYN, T.DYN);
      }
    }
  }

  /**
   * A condition inside a loop; upstream expands it to the first argument of `_?_:_` and phrases its error accordingly.
   */
  private checkCondition(e: Ast.ComprehensionExpr, condition: Ast.Expr, branch: Type): void {
    const t = this.visit(condition);
    if (T.isAssignable(this.bindings, [t], [T.BOOL]) || this.lenient) return;
    const b = formatType(this.finalType(branch));
    this.issues.add(
      e.at,
      `found no matching overload for '_?_:_' applied to '(${formatType(this.finalType(t))}, ${b}, ${b})'`,
    );
  }

  /**
   * The type of `cel.bind`, `optMap` or `optFlatMap`. The variable of the latter two has the type within the optional.
   */
  bind(e: Ast.BindExpr): Type {
    const init = T.substitute(this.visit(e.init), this.bindings, false);
    let local = init;
    if (e.kind !== 'bind') {
      if (isOptional(init)) local = init.params[0]!;
      else if (init.kind === 'dyn' || init.kind === 'error' || this.lenient) local = T.DYN;
      else {
        this.issues.add(
          e.at,
          `found no matching overload for '${e.kind}' applied to '${formatType(this.finalType(init))}.()'`,
        );
        local = T.ERROR;
      }
    }
    this.locals.push(new Map([[e.name, local]]));
    const body = T.substitute(this.visit(e.body), this.bindings, false);
    this.locals.pop();
    if (e.kind === 'bind') return body;
    if (e.kind === 'optMap') return T.optionalType(body);
    return isOptional(body) ? body : T.optionalType(T.DYN);
  }
}

function constantType(v: Value): Type {
  if (v === null) return T.NULL;
  if (v instanceof Uint) return T.UINT;
  if (v instanceof Double) return T.DOUBLE;
  const name = typeNameOf(v);
  return name === 'bool' ? T.BOOL : name === 'int' ? T.INT : name === 'string' ? T.STRING : T.BYTES;
}
