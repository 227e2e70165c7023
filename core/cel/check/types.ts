/** The static types (CEL language definition, "Gradual Type Checking"): printing, assignability, common types. */

/** A static type. `kind: 'object'` and `'opaque'` are nominal; `'param'` is a type parameter of a declaration. */
export type Type =
  | { readonly kind: PrimitiveKind }
  | { readonly kind: 'list'; readonly of: Type }
  | { readonly kind: 'map'; readonly key: Type; readonly of: Type }
  | { readonly kind: 'type'; readonly of?: Type }
  | { readonly kind: 'wrapper'; readonly of: Type }
  | { readonly kind: 'param'; readonly name: string }
  | { readonly kind: 'opaque'; readonly name: string; readonly params: readonly Type[] }
  | ObjectType;

/** Types without parts. */
export type PrimitiveKind =
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'null'
  | 'timestamp'
  | 'duration'
  | 'dyn'
  | 'error';

/** A nominal type with declared fields. `field` takes the escaped name that expressions use. */
export interface ObjectType {
  readonly kind: 'object';
  readonly name: string;
  readonly field: (name: string) => Type | undefined;
}

/** The type `bool`. */
export const BOOL: Type = { kind: 'bool' };
/** The type `int`. */
export const INT: Type = { kind: 'int' };
/** The type `uint`. */
export const UINT: Type = { kind: 'uint' };
/** The type `double`. */
export const DOUBLE: Type = { kind: 'double' };
/** The type `string`. */
export const STRING: Type = { kind: 'string' };
/** The type `bytes`. */
export const BYTES: Type = { kind: 'bytes' };
/** The type `null_type`. */
export const NULL: Type = { kind: 'null' };
/** The type `google.protobuf.Timestamp`. */
export const TIMESTAMP: Type = { kind: 'timestamp' };
/** The type `google.protobuf.Duration`. */
export const DURATION: Type = { kind: 'duration' };
/** The dynamic type: checked at run time. */
export const DYN: Type = { kind: 'dyn' };
/** The type of an expression with a reported error; compatible with every type. */
export const ERROR: Type = { kind: 'error' };

/** The type of lists with items of type `of`. */
export const listType = (of: Type): Type => ({ kind: 'list', of });
/** The type of maps with these keys and values. */
export const mapType = (key: Type, of: Type): Type => ({ kind: 'map', key, of });
/** The type of type values. */
export const typeType = (of?: Type): Type => ({ kind: 'type', of });
/** A nullable primitive (a protobuf wrapper). */
export const wrapperType = (of: Type): Type => ({ kind: 'wrapper', of });
/** A type parameter. */
export const param = (name: string): Type => ({ kind: 'param', name });
/** A nominal type without visible fields. */
export const opaqueType = (name: string, ...params: Type[]): Type => ({ kind: 'opaque', name, params });
/** The type of an optional value of `of`. */
export const optionalType = (of: Type): Type => opaqueType('optional_type', of);

/** Whether the type is an optional. */
export const isOptional = (t: Type): t is Extract<Type, { kind: 'opaque' }> =>
  t.kind === 'opaque' && t.name === 'optional_type';

/** The type as error messages show it. */
export function formatType(t: Type): string {
  switch (t.kind) {
    case 'list':
      return `list(${formatType(t.of)})`;
    case 'map':
      return `map(${formatType(t.key)}, ${formatType(t.of)})`;
    case 'type':
      return t.of ? `type(${formatType(t.of)})` : 'type';
    case 'wrapper':
      return `wrapper(${formatType(t.of)})`;
    case 'param':
    case 'object':
      return t.name;
    case 'opaque':
      return t.params.length ? `${t.name}(${t.params.map(formatType).join(', ')})` : t.name;
    case 'error':
      return '!error!';
    default:
      return t.kind;
  }
}

/** The name of `type(value)` for a value of this static type. */
export function runtimeName(t: Type): string {
  switch (t.kind) {
    case 'null':
      return 'null_type';
    case 'timestamp':
      return 'google.protobuf.Timestamp';
    case 'duration':
      return 'google.protobuf.Duration';
    case 'object':
    case 'opaque':
      return t.name;
    case 'wrapper':
      return runtimeName(t.of);
    default:
      return t.kind;
  }
}

const isDyn = (t: Type): boolean => t.kind === 'dyn' || t.kind === 'error';

/** The parts of a parameterised type, in order. */
function typeParams(t: Type): readonly Type[] {
  switch (t.kind) {
    case 'list':
      return [t.of];
    case 'map':
      return [t.key, t.of];
    case 'type':
      return t.of ? [t.of] : [];
    case 'opaque':
      return t.params;
    default:
      return [];
  }
}

const sameHead = (a: Type, b: Type): boolean =>
  a.kind === b.kind &&
  (!('name' in a) || !('name' in b) || a.name === b.name) &&
  (a.kind === 'type' || typeParams(a).length === typeParams(b).length);

/** Bindings of type parameters, by name. */
export type Bindings = Map<string, Type>;

/** Replaces type parameters by their bindings. With `final`, unbound ones become `dyn`. */
export function substitute(t: Type, bindings: Bindings, final: boolean): Type {
  switch (t.kind) {
    case 'param': {
      const bound = bindings.get(t.name);
      return bound ? substitute(bound, bindings, final) : final ? DYN : t;
    }
    case 'list':
      return listType(substitute(t.of, bindings, final));
    case 'map':
      return mapType(substitute(t.key, bindings, final), substitute(t.of, bindings, final));
    case 'type':
      return t.of ? typeType(substitute(t.of, bindings, final)) : t;
    case 'opaque':
      return t.params.length ? { ...t, params: t.params.map(p => substitute(p, bindings, final)) } : t;
    default:
      return t;
  }
}

/** Whether `a` is at least as general as `b`. */
function isLessSpecific(a: Type, b: Type): boolean {
  if (isDyn(a) || a.kind === 'param') return true;
  if (isDyn(b) || b.kind === 'param') return false;
  if (b.kind === 'null' && a.kind !== 'null') return isNullable(a);
  if (!sameHead(a, b)) return false;
  const pb = typeParams(b);
  return typeParams(a).every((p, i) => isLessSpecific(p, pb[i]!));
}

const mostGeneral = (a: Type, b: Type): Type => (isLessSpecific(a, b) ? a : b);

function occursIn(name: string, t: Type, bindings: Bindings): boolean {
  if (t.kind === 'param') {
    if (t.name === name) return true;
    const bound = bindings.get(t.name);
    return bound !== undefined && occursIn(name, bound, bindings);
  }
  return typeParams(t).some(p => occursIn(name, p, bindings));
}

/** Binds a parameter to a type, or to the more general of the type and its binding. `undefined` if neither applies. */
function bindParam(name: string, t: Type, bindings: Bindings, flip: boolean): boolean | undefined {
  const bound = bindings.get(name);
  if (bound) {
    if (bound === t || (bound.kind === 'param' && t.kind === 'param' && bound.name === t.name)) return true;
    const ok = flip ? assign(bindings, t, bound) : assign(bindings, bound, t);
    if (!ok) return false;
    if (!occursIn(name, t, bindings)) bindings.set(name, mostGeneral(t, bound));
    return true;
  }
  if (t.kind === 'param' && t.name === name) return true;
  if (occursIn(name, t, bindings)) return undefined;
  bindings.set(name, t);
  return true;
}

/**
 * Whether a value of `from` may be used as `to`. Binds type parameters in place; on failure some may stay bound.
 */
function assign(bindings: Bindings, from: Type, to: Type): boolean {
  if (from === to) return true;
  if (to.kind === 'param') {
    const done = bindParam(to.name, from, bindings, true);
    if (done !== undefined && (done || from.kind !== 'param')) return done;
  }
  if (from.kind === 'param') {
    const done = bindParam(from.name, to, bindings, false);
    if (done !== undefined) return done;
  }
  if (isDyn(from) || isDyn(to)) return true;
  if (from.kind === 'null') return to.kind === 'null' || isNullable(to);
  if (to.kind === 'null') return isNullable(from);
  if (to.kind === 'wrapper') return from.kind === 'wrapper' ? from.of.kind === to.of.kind : from.kind === to.of.kind;
  if (from.kind === 'wrapper') return from.of.kind === to.kind;
  if (from.kind === 'type' && to.kind === 'type') return true;
  if (!sameHead(from, to)) return false;
  const pt = typeParams(to);
  return typeParams(from).every((p, i) => assign(bindings, p, pt[i]!));
}

const isNullable = (t: Type): boolean =>
  t.kind === 'wrapper' || t.kind === 'object' || t.kind === 'timestamp' || t.kind === 'duration' || t.kind === 'opaque';

/** Whether arguments of types `from` match parameters of types `to`. Binds type parameters only on success. */
export function isAssignable(bindings: Bindings, from: readonly Type[], to: readonly Type[]): boolean {
  if (from.length !== to.length) return false;
  const saved = new Map(bindings);
  if (from.every((f, i) => assign(bindings, f, to[i]!))) return true;
  bindings.clear();
  for (const [k, v] of saved) bindings.set(k, v);
  return false;
}

/** The type of an aggregate whose members have types `a` and `b`: their common type, or `dyn`. */
export function commonType(bindings: Bindings, a: Type, b: Type): Type {
  return isAssignable(bindings, [a], [b])
    ? mostGeneral(a, b)
    : isAssignable(bindings, [b], [a])
      ? mostGeneral(a, b)
      : DYN;
}

/** Whether two types are printed alike, which is the test for literals of one type. */
export const sameType = (a: Type, b: Type): boolean => formatType(a) === formatType(b);

/** The names of the parameters in a type. */
export function paramNames(t: Type): string[] {
  switch (t.kind) {
    case 'param':
      return [t.name];
    case 'list':
      return paramNames(t.of);
    case 'map':
      return [...paramNames(t.key), ...paramNames(t.of)];
    case 'type':
      return t.of ? paramNames(t.of) : [];
    case 'opaque':
      return t.params.flatMap(paramNames);
    default:
      return [];
  }
}
