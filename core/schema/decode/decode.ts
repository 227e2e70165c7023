import { isInteger, isNumber } from '../../model/text/jsonText.js';
import type { ApiObject, Json } from '../../model/object.js';
import { wholeMilli } from '../../model/quantity.js';
import { badRequest } from '../../model/refusal.js';
import { absenceOf } from './absence.js';
import { StrictErrors } from './strictErrors.js';
import { isOff } from '../registry/gates.js';
import { encodeJson } from '../json/json.js';
import { type Field, isStructScalar, type Struct, type Type } from '../model.js';
import { isMembers, setMember } from '../patch/members.js';
import type { Resource } from '../resource.js';
import { type DecodeErrors, goScalar, SCALAR_DECODERS, SCALAR_ZEROS } from './scalars.js';
import { type Unstored, unstoredAt } from './unstored.js';

export { parseJson, parseStrict, type StrictJson } from '../json/json.js';

/** Options of a decoding, and its strict errors in document order. */
export interface DecodeSink {
  /** Messages such as `unknown field "spec.foo"`. */
  readonly strictErrors: string[];
  /**
   * Whether the value is the result of a strategic merge and not of a parse: upstream then reports mismatches
   * differently.
   */
  readonly isMerged?: boolean;
  /** Whether nulls are kept even if the schema of a custom kind does not allow them. */
  readonly keepsNulls?: boolean;
  /**
   * Receives the members of the object, such as `spec`, in which decoding omits empty lists and maps, each with the
   * names of its own members that are or contain one. Some kinds distinguish them from absent ones.
   */
  readonly emptied?: Map<string, Set<string>>;
  /** Receives the members that decoding does not keep as sent. */
  readonly unstored?: Unstored;
  /** Describes a mismatch of a number in the text that the parsed value does not show. */
  readonly numberMismatch?: string | undefined;
}

/** Thrown by `normalize` for a value of the wrong type, with the message of Go's decoder. */
export class TypeMismatch extends Error {}

/** A map key in a path. Fields are strings, list indexes numbers. */
interface MapKey {
  readonly key: string;
}

/** The state of a decoding: the path of the current value, and the errors and unstored members so far. */
class Context implements DecodeErrors {
  readonly path: (string | number | MapKey)[] = [];
  readonly strictErrors = new StrictErrors();
  struct = '';
  /** How many of the enclosing values have a type that decodes JSON itself, in which no field is unknown. */
  lenient = 0;
  /**
   * The nodes of `sink.unstored`, as far as they exist, for the values that enclose the current one, beginning with the
   * object.
   */
  readonly #unstored: Unstored[] = [];

  /** `isCustom`: the kind is a custom one, whose metadata upstream decodes separately. */
  constructor(
    readonly sink: DecodeSink,
    readonly isCustom: boolean,
  ) {
    if (sink.unstored) this.#unstored.push(sink.unstored);
  }

  /** Ends the decoding of the value at the end of the path. */
  leave(): void {
    this.path.pop();
    if (this.#unstored.length > this.path.length + 1) this.#unstored.pop();
  }

  unknown(field: string): void {
    if (this.lenient > 0 || !this.strictErrors.hasRoom) return;
    this.path.push(field);
    let text = '';
    for (const step of this.path) {
      if (typeof step === 'number') text += `[${step}]`;
      else text += `${text ? '.' : ''}${typeof step === 'string' ? step : step.key}`;
    }
    this.path.pop();
    this.strictErrors.add(`unknown field ${JSON.stringify(text)}`);
  }

  /** Records that an empty list or map of the current value is omitted. */
  leaveOut(field: string): void {
    const { emptied } = this.sink;
    if (!emptied) return;
    const [member, inner] = [...this.path.slice(0, 2), field];
    const name = String(member);
    const within = emptied.get(name) ?? new Set();
    emptied.set(name, within);
    if (typeof inner === 'string') within.add(inner);
  }

  /** Records that a member of the current value is not kept as sent. `omitted`: it is an omitted empty list or map. */
  leaveUnstored(name: string, value: Json, omitted: boolean): void {
    const nodes = this.#unstored;
    if (nodes.length === 0) return;
    while (nodes.length <= this.path.length) {
      const step = this.path[nodes.length - 1]!;
      const node = unstoredAt(typeof step === 'object' ? step.key : step);
      nodes.at(-1)!.below.push(node);
      nodes.push(node);
    }
    nodes.at(-1)!.members.push({ name, value, omitted });
  }

  mismatch(value: Json, goType: string, how?: 'ownJson'): never {
    if (this.sink.isMerged && !how) throw new TypeMismatch(conversionError(value, goType));
    const steps = this.path.filter(step => typeof step === 'string');
    if (this.isCustom && steps[0] === 'metadata') steps.shift();
    const fields = steps.join('.');
    const into =
      fields && !this.sink.isMerged
        ? `Go struct field ${this.struct}.${fields} of type ${goType}`
        : `Go value of type ${goType}`;
    // Only a number that does not fit into a type of numbers is shown.
    const actual = isNumber(value) && /^u?int|^float/.test(goType) ? `number ${value}` : kindOf(value);
    throw new TypeMismatch(`json: cannot unmarshal ${actual} into ${into}`);
  }

  /** Throws for a value that is not a string of the type `name`. */
  mismatchString(value: Json, name: string): never {
    if (!this.sink.isMerged) return this.mismatch(value, name);
    throw new TypeMismatch(
      goKind(value) === 'int64' ? `cannot convert int64 to ${name}` : conversionError(value, 'string'),
    );
  }

  fail(message: string): never {
    throw new TypeMismatch(message);
  }
}

const kindOf = (value: Json): string =>
  Array.isArray(value)
    ? 'array'
    : value === null
      ? 'null'
      : typeof value === 'boolean'
        ? 'bool'
        : isNumber(value)
          ? 'number'
          : typeof value;

/** The kind of the Go value for a JSON value. */
function goKind(value: Json): string {
  if (Array.isArray(value)) return 'slice';
  if (isNumber(value)) return isInteger(value) ? 'int64' : 'float64';
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'string' ? 'string' : 'map';
}

/** Upstream's error for a merged value that cannot be converted to a Go type. */
function conversionError(value: Json, goType: string): string {
  const held = goKind(value);
  if (goType.startsWith('map[')) return `cannot restore map from ${held}`;
  if (goType.startsWith('[]')) return `cannot restore slice from ${held}`;
  if (goType.includes('.')) return `cannot restore struct from: ${held}`;
  const convertible =
    held === 'int64' ? goType === 'string' || isNumberType(goType) : held === 'float64' && isNumberType(goType);
  return convertible ? `cannot convert ${held} to ${goType}` : `unrecognized type: ${goType}`;
}

const isNumberType = (goType: string): boolean => /^(?:u?int|float)\d/.test(goType);

/** Decodes a value that is not null. */
type Decoder = (value: Json, context: Context) => Json;

/** The version and name of a type in a package. */
const shortTypeName = (id: string): string => id.split('.').slice(-2).join('.');

/** The Go name of a type, such as `v1.PodSpec`. */
function goType(type: Type): string {
  if (type.is === 'list') return `[]${goType(type.of)}`;
  if (type.is === 'map') return `map[string]${goType(type.of)}`;
  if (type.is === 'scalar') return type.enumId ? shortTypeName(type.enumId) : goScalar(type.name);
  return shortTypeName(type.id);
}

const compiled = new WeakMap<Type, Decoder>();

function cachedDecoder(type: Type): Decoder {
  const cached = compiled.get(type);
  if (cached) return cached;
  const decoder = compile(type);
  compiled.set(type, decoder);
  return decoder;
}

/** Decodes strings of a type with a name, which messages show. */
const namedStringDecoder =
  (name: string): Decoder =>
  (value, context) =>
    typeof value === 'string' ? value : context.mismatchString(value, name);

function compile(type: Type): Decoder {
  if (type.is === 'scalar') return type.enumId ? namedStringDecoder(goType(type)) : SCALAR_DECODERS[type.name];
  if (type.is === 'list') return listDecoder(type.of, goType(type));
  if (type.is === 'map') return mapDecoder(type.of, goType(type));
  return type.alternatives ? alternativesDecoder(type) : structDecoder(type);
}

/** The value of a null in a list or map. */
function zeroItem(of: Type, context: Context): Json {
  if (of.is === 'struct' && !of.alternatives) return cachedDecoder(of)({}, context);
  if (of.is !== 'scalar') return null;
  return of.name === 'bytes' ? '' : SCALAR_ZEROS[of.name];
}

function listDecoder(of: Type, name: string): Decoder {
  const item =
    of.is === 'struct' ? (value: Json, context: Context) => cachedDecoder(of)(value, context) : cachedDecoder(of);
  return (value, context) => {
    if (!Array.isArray(value)) return context.mismatch(value, name);
    const out: Json[] = new Array(value.length);
    for (let at = 0; at < value.length; at++) {
      const source = value[at]!;
      context.path.push(at);
      out[at] = source === null ? zeroItem(of, context) : item(source, context);
      context.leave();
    }
    return out;
  };
}

/** Decodes a map with sorted keys. Quantities in maps (amounts of resources) are rounded up to thousandths. */
function mapDecoder(of: Type, name: string): Decoder {
  const leaf = of.is === 'scalar';
  const amounts = leaf && of.name === 'Quantity';
  return (value, context) => {
    if (!isMembers(value)) return context.mismatch(value, name);
    const item = cachedDecoder(of);
    const out: { [key: string]: Json } = {};
    for (const key of Object.keys(value).sort()) {
      const source = value[key]!;
      if (!leaf) context.path.push({ key });
      const decoded = source === null ? zeroItem(of, context) : item(source, context);
      setMember(out, key, amounts ? wholeMilli(decoded as string) : decoded);
      if (!leaf) context.leave();
    }
    return out;
  };
}

/** Decodes a type with several JSON forms. Its Go type decodes JSON itself, so nothing below it is a strict error. */
function alternativesDecoder(struct: Struct): Decoder {
  const decode = formDecoder(struct);
  return (value, context) => {
    context.lenient++;
    const decoded = decode(value, context);
    context.lenient--;
    return decoded;
  };
}

function formDecoder(struct: Struct): Decoder {
  const schema = struct.fields.find(field => field.type.is === 'struct')!.type;
  const list = struct.fields.find(field => field.type.is === 'list')?.type;
  return (value, context) => {
    if (isMembers(value)) return cachedDecoder(schema)(value, context);
    if (struct.alternatives === 'bool' && typeof value === 'boolean') return value;
    if (list && Array.isArray(value)) return cachedDecoder(list)(value, context);
    return context.fail(`unexpected JSON ${kindOf(value)} for ${goType(struct)}`);
  };
}

/** The decoder of a field, and how the field is written. */
interface FieldPlan {
  readonly name: string;
  readonly decode: Decoder;
  /** Whether a value is empty, so that it is omitted or written as null. */
  readonly isEmpty: ((value: Json) => boolean) | undefined;
  /** An empty list or map is written as null, since protobuf cannot distinguish the two. */
  readonly emptyIsNull?: boolean;
  /** The value written for an absent field; undefined if it is omitted. */
  readonly absent: ((context: Context) => Json) | undefined;
  /** A value of the right type is ignored, because the feature gate of the field is off. */
  readonly gateOff?: boolean;
}

function emptyTest(field: Field): FieldPlan['isEmpty'] {
  const { type } = field;
  if (field.pointer || field.keepsEmpty) return undefined;
  if (type.is === 'list') return value => (value as Json[]).length === 0;
  if (type.is === 'map')
    return value => {
      for (const _ in value as object) return false;
      return true;
    };
  if (type.is !== 'scalar' || !field.omitEmpty || isStructScalar(type.name)) return undefined;
  return value => value === '' || value === 0 || value === false || value === null;
}

function absentValue(field: Field): FieldPlan['absent'] {
  const { type } = field;
  const absence = absenceOf(field);
  if (absence === 'omitted') return undefined;
  if (absence === 'null') return () => null;
  if (type.is === 'struct') return context => cachedDecoder(type)({}, context);
  const zero = type.is === 'scalar' ? SCALAR_ZEROS[type.name] : null;
  return () => zero;
}

const toPlan = (field: Field): FieldPlan => ({
  name: field.name,
  decode: (value, context) => cachedDecoder(field.type)(value, context),
  isEmpty: emptyTest(field),
  emptyIsNull: !field.omitEmpty,
  absent: absentValue(field),
  gateOff: isOff(field.gate),
});

const META_PLANS: readonly FieldPlan[] = ['kind', 'apiVersion'].map(name => ({
  name,
  decode: SCALAR_DECODERS.string,
  isEmpty: value => value === '',
  absent: undefined,
}));

/** Decodes members in document order, for the order of errors, and writes them in declaration order. */
function structDecoder(struct: Struct): Decoder {
  const shortName = struct.id.slice(struct.id.lastIndexOf('.') + 1);
  const name = goType(struct);
  const plans = [...(struct.typeMeta ? META_PLANS : []), ...struct.fields.map(toPlan)];
  const slotByName = new Map(plans.map((field, at) => [field.name, at]));
  return (value, context) => {
    if (!isMembers(value)) return context.mismatch(value, name);
    const slots: (Json | undefined)[] = new Array(plans.length);
    const undeclared: string[] = [];
    for (const key in value) {
      const slot = slotByName.get(key);
      if (slot === undefined) {
        if (struct.open) undeclared.push(key);
        else context.unknown(key);
        continue;
      }
      const source = value[key]!;
      if (source === null) continue;
      const { decode, gateOff, isEmpty } = plans[slot]!;
      context.struct = shortName;
      context.path.push(key);
      const decoded = decode(source, context);
      context.leave();
      if (!gateOff) slots[slot] = decoded;
      else if (!isEmpty?.(decoded)) context.leaveUnstored(key, decoded, false);
    }
    const out: { [key: string]: Json } = {};
    for (let at = 0; at < plans.length; at++) {
      const field = plans[at]!;
      const decoded = slots[at];
      if (decoded === undefined) {
        if (field.absent) out[field.name] = field.absent(context);
      } else if (!field.isEmpty?.(decoded)) out[field.name] = decoded;
      else {
        if (field.emptyIsNull) out[field.name] = null;
        if (typeof decoded !== 'object') continue;
        context.leaveOut(field.name);
        context.leaveUnstored(field.name, decoded, field.emptyIsNull !== true);
      }
    }
    for (const key of undeclared) setMember(out, key, value[key]!);
    return out;
  };
}

/**
 * Decodes a value into the form that Go's encoder would write: members in declaration order, zero values by the tags of
 * the type, canonical scalars, unknown members removed and reported. Does not change `value`, but may share parts of
 * it. Throws `TypeMismatch`.
 */
export function normalize(type: Struct, value: Json, sink: DecodeSink): { [key: string]: Json } {
  if (sink.numberMismatch !== undefined) throw new TypeMismatch(sink.numberMismatch);
  const context = new Context(sink, type.noProto === true);
  const decoded = cachedDecoder(type)(value, context) as { [key: string]: Json };
  sink.strictErrors.push(...context.strictErrors.texts);
  return decoded;
}

type Decodable = Pick<Resource, 'type' | 'kind' | 'version' | 'apiVersion' | 'custom'>;

/**
 * Decodes a value as an object of a resource. Kind and apiVersion are those of the resource; the caller has compared
 * them with those of the value. Throws `TypeMismatch`.
 */
export function decodeAsKind(resource: Decodable, value: Json, sink: DecodeSink): ApiObject {
  if (resource.custom)
    return resource.custom.decode(value as { [key: string]: Json }, sink.strictErrors, sink.keepsNulls);
  const decoded = normalize(resource.type, value, sink);
  const { kind, apiVersion } = resource;
  // Objects have both, before their other members, unless they were sent without one.
  if (decoded['kind'] !== undefined && decoded['apiVersion'] !== undefined) {
    decoded['kind'] = kind;
    decoded['apiVersion'] = apiVersion;
    return decoded as unknown as ApiObject;
  }
  const { kind: _kind, apiVersion: _apiVersion, ...members } = decoded;
  return { kind, apiVersion, ...members } as unknown as ApiObject;
}

/** Like `decodeAsKind`, but throws a Refusal (400) with upstream's message instead of `TypeMismatch`. */
export function decodeObject(resource: Decodable, value: Json, sink: DecodeSink): ApiObject {
  try {
    return decodeAsKind(resource, value, sink);
  } catch (cause) {
    if (!(cause instanceof TypeMismatch)) throw cause;
    const { kind, version } = resource;
    throw badRequest(`${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: ${cause.message}`);
  }
}

/** Encodes an object as JSON, escaped like upstream's. */
export const encode = (object: unknown): string => encodeJson(object);
