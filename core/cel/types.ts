/**
 * The static types of the language (CEL specification, "Gradual type checking"), how they print, and how two of them
 * meet.
 */

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

/** A nominal type with declared fields. `field` answers for the name as the expression spells it (escaped). */
export interface ObjectType {
  readonly kind: 'object';
  readonly name: string;
  readonly field: (name: string) => Type | undefined;
}

export const BOOL: Type = { kind: 'bool' };
export const INT: Type = { kind: 'int' };
export const UINT: Type = { kind: 'uint' };
export const DOUBLE: Type = { kind: 'double' };
export const STRING: Type = { kind: 'string' };
export const BYTES: Type = { kind: 'bytes' };
export const NULL: Type = { kind: 'null' };
export const TIMESTAMP: Type = { kind: 'timestamp' };
export const DURATION: Type = { kind: 'duration' };
export const DYN: Type = { kind: 'dyn' };
export const ERROR: Type = { kind: 'error' };

/** The type of lists of `of`. */
export const listType = (of: Type): Type => ({ kind: 'list', of });
/** The type of maps from `key` to `of`. */
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

/** The name `type(value)` has at run time for a value of this static type. */
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
function parts(t: Type): readonly Type[] {
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
  (a.kind === 'type' || parts(a).length === parts(b).length);

/** Bindings of type parameters, by name. */
export type Bindings = Map<string, Type>;

/** Replaces bound parameters; unbound ones become `dyn` when `final`. */
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

/** Whether `a` says no more than `b`: used to keep the more general of two types. */
function lessSpecific(a: Type, b: Type): boolean {
  if (isDyn(a) || a.kind === 'param') return true;
  if (isDyn(b) || b.kind === 'param') return false;
  if (b.kind === 'null' && a.kind !== 'null') return nullable(a);
  if (!sameHead(a, b)) return false;
  const pb = parts(b);
  return parts(a).every((p, i) => lessSpecific(p, pb[i]!));
}

const mostGeneral = (a: Type, b: Type): Type => (lessSpecific(a, b) ? a : b);

function occurs(name: string, t: Type, bindings: Bindings): boolean {
  if (t.kind === 'param') {
    if (t.name === name) return true;
    const bound = bindings.get(t.name);
    return bound !== undefined && occurs(name, bound, bindings);
  }
  return parts(t).some(p => occurs(name, p, bindings));
}

/** Binds a parameter to a type, or joins the type with what it was bound to. `undefined`: neither applies. */
function bindParam(name: string, t: Type, bindings: Bindings, flip: boolean): boolean | undefined {
  const bound = bindings.get(name);
  if (bound) {
    if (bound === t || (bound.kind === 'param' && t.kind === 'param' && bound.name === t.name)) return true;
    const ok = flip ? assignInto(bindings, t, bound) : assignInto(bindings, bound, t);
    if (!ok) return false;
    if (!occurs(name, t, bindings)) bindings.set(name, mostGeneral(t, bound));
    return true;
  }
  if (t.kind === 'param' && t.name === name) return true;
  if (occurs(name, t, bindings)) return undefined;
  bindings.set(name, t);
  return true;
}

/**
 * Whether a value of `from` may stand where `to` is wanted; binds parameters in place (and leaves them half bound on
 * failure).
 */
function assignInto(bindings: Bindings, from: Type, to: Type): boolean {
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
  if (from.kind === 'null') return to.kind === 'null' || nullable(to);
  if (to.kind === 'null') return nullable(from);
  if (to.kind === 'wrapper') return from.kind === 'wrapper' ? from.of.kind === to.of.kind : from.kind === to.of.kind;
  if (from.kind === 'wrapper') return from.of.kind === to.kind;
  if (from.kind === 'type' && to.kind === 'type') return true;
  if (!sameHead(from, to)) return false;
  const pt = parts(to);
  return parts(from).every((p, i) => assignInto(bindings, p, pt[i]!));
}

const nullable = (t: Type): boolean =>
  t.kind === 'wrapper' || t.kind === 'object' || t.kind === 'timestamp' || t.kind === 'duration' || t.kind === 'opaque';

/** As `assignInto` for a whole argument list, without a trace in `bindings` on failure. */
export function assignable(bindings: Bindings, from: readonly Type[], to: readonly Type[]): boolean {
  if (from.length !== to.length) return false;
  const saved = new Map(bindings);
  if (from.every((f, i) => assignInto(bindings, f, to[i]!))) return true;
  bindings.clear();
  for (const [k, v] of saved) bindings.set(k, v);
  return false;
}

/** The type of an aggregate whose members have types `a` and `b`: their common type, or `dyn`. */
export function join(bindings: Bindings, a: Type, b: Type): Type {
  return assignable(bindings, [a], [b]) ? mostGeneral(a, b) : assignable(bindings, [b], [a]) ? mostGeneral(a, b) : DYN;
}

/** Whether two types print alike once bound: the test of homogeneous literals. */
export const sameType = (a: Type, b: Type): boolean => formatType(a) === formatType(b);

/** The names of the parameters in a type. */
export function paramsOf(t: Type): string[] {
  switch (t.kind) {
    case 'param':
      return [t.name];
    case 'list':
      return paramsOf(t.of);
    case 'map':
      return [...paramsOf(t.key), ...paramsOf(t.of)];
    case 'type':
      return t.of ? paramsOf(t.of) : [];
    case 'opaque':
      return t.params.flatMap(paramsOf);
    default:
      return [];
  }
}
