import type { ApiObject, Json } from '../model/object.js';
import { wholeMilli } from '../model/quantity.js';
import { badRequest } from '../model/refusal.js';
import { StrictErrors } from './strictErrors.js';
import { isOff } from './gates.js';
import { encodeJson } from './json.js';
import type { Field, Struct, Type } from './model.js';
import { isMembers, setMember } from './patch/members.js';
import type { Resource } from './resource.js';
import { type Complain, goScalar, SCALAR_DECODERS, SCALAR_ZEROS, STRUCT_SCALARS } from './scalars.js';

export { parseJson, parseStrict, type StrictJson } from './json.js';

/** Collects what is wrong but harmless: complaints about fields the type does not have, in document order. */
export interface DecodeSink {
  /** Messages such as `unknown field "spec.foo"`. */
  readonly complaints: string[];
  /**
   * The value is a tree put together in memory (a strategic merge), not a text: what does not fit is told in the words
   * of that conversion.
   */
  readonly converts?: boolean;
}

/** A body of the wrong shape: the message is what Go's decoder says. Thrown by `normalize`. */
export class TypeMismatch extends Error {}

/** A map's key on the way to a value; fields are strings and list positions numbers. */
interface MapKey {
  readonly key: string;
}

/** The state of one decode: where it stands, for messages only. */
class Context implements Complain {
  readonly path: (string | number | MapKey)[] = [];
  readonly complaints = new StrictErrors();
  struct = '';

  constructor(readonly sink: DecodeSink) {}

  unknown(field: string): void {
    if (!this.complaints.hasRoom) return;
    this.path.push(field);
    let text = '';
    for (const step of this.path) {
      if (typeof step === 'number') text += `[${step}]`;
      else text += `${text ? '.' : ''}${typeof step === 'string' ? step : step.key}`;
    }
    this.path.pop();
    this.complaints.add(`unknown field ${JSON.stringify(text)}`);
  }

  mismatch(value: Json, goType: string, how?: 'ownJson'): never {
    if (this.sink.converts && !how) throw new TypeMismatch(unconverted(value, goType));
    const fields = this.path.filter(step => typeof step === 'string').join('.');
    const into =
      fields && !this.sink.converts
        ? `Go struct field ${this.struct}.${fields} of type ${goType}`
        : `Go value of type ${goType}`;
    const got = typeof value === 'number' && !Number.isInteger(value) ? `number ${value}` : kindOf(value);
    throw new TypeMismatch(`json: cannot unmarshal ${got} into ${into}`);
  }

  wrong(message: string): never {
    throw new TypeMismatch(message);
  }
}

const kindOf = (value: Json): string =>
  Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value === 'boolean' ? 'bool' : typeof value;

/** The kind of Go value a tree holds for a JSON value. */
function heldKind(value: Json): string {
  if (Array.isArray(value)) return 'slice';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'string' ? 'string' : 'map';
}

/**
 * Why a value of a tree does not become a Go value of the type: numbers convert to each other and, but for what is done
 * here, to text.
 */
function unconverted(value: Json, goType: string): string {
  const held = heldKind(value);
  if (goType.startsWith('map[')) return `cannot restore map from ${held}`;
  if (goType.startsWith('[]')) return `cannot restore slice from ${held}`;
  if (goType.includes('.')) return `cannot restore struct from: ${held}`;
  const convertible =
    held === 'int64' ? goType === 'string' || isNumber(goType) : held === 'float64' && isNumber(goType);
  return convertible ? `cannot convert ${held} to ${goType}` : `unrecognized type: ${goType}`;
}

const isNumber = (goType: string): boolean => /^(?:u?int|float)\d/.test(goType);

/** Decodes a value that is not null. */
type Decoder = (value: Json, context: Context) => Json;

/** `v1.PodSpec`: the package's last part and the name. */
function goType(type: Type): string {
  if (type.is === 'list') return `[]${goType(type.of)}`;
  if (type.is === 'map') return `map[string]${goType(type.of)}`;
  if (type.is === 'scalar') return goScalar(type.name);
  return type.id.split('.').slice(-2).join('.');
}

const compiled = new WeakMap<Type, Decoder>();

function decoderOf(type: Type): Decoder {
  const known = compiled.get(type);
  if (known) return known;
  const made = compile(type);
  compiled.set(type, made);
  return made;
}

function compile(type: Type): Decoder {
  if (type.is === 'scalar') return SCALAR_DECODERS[type.name];
  if (type.is === 'list') return listDecoder(type.of, goType(type));
  if (type.is === 'map') return mapDecoder(type.of, goType(type));
  return type.alternatives ? alternativesDecoder(type) : structDecoder(type);
}

/** What stands for null inside a list or map. */
function zeroItem(of: Type, context: Context): Json {
  if (of.is === 'struct' && !of.alternatives) return decoderOf(of)({}, context);
  if (of.is !== 'scalar') return null;
  return of.name === 'bytes' ? '' : SCALAR_ZEROS[of.name];
}

function listDecoder(of: Type, name: string): Decoder {
  const item = of.is === 'struct' ? (value: Json, context: Context) => decoderOf(of)(value, context) : decoderOf(of);
  return (value, context) => {
    if (!Array.isArray(value)) return context.mismatch(value, name);
    const out: Json[] = new Array(value.length);
    for (let at = 0; at < value.length; at++) {
      const given = value[at]!;
      context.path.push(at);
      out[at] = given === null ? zeroItem(of, context) : item(given, context);
      context.path.pop();
    }
    return out;
  };
}

/** Map members are written in the order of their names. Amounts of resources are whole thousandths. */
function mapDecoder(of: Type, name: string): Decoder {
  const leaf = of.is === 'scalar';
  const amounts = leaf && of.name === 'Quantity';
  return (value, context) => {
    if (!isMembers(value)) return context.mismatch(value, name);
    const item = decoderOf(of);
    const out: { [key: string]: Json } = {};
    for (const key of Object.keys(value).sort()) {
      const given = value[key]!;
      if (!leaf) context.path.push({ key });
      const got = given === null ? zeroItem(of, context) : item(given, context);
      setMember(out, key, amounts ? wholeMilli(got as string) : got);
      if (!leaf) context.path.pop();
    }
    return out;
  };
}

/** JSON of the types that are one of several shapes. */
function alternativesDecoder(struct: Struct): Decoder {
  const schema = struct.fields.find(field => field.type.is === 'struct')!.type;
  const list = struct.fields.find(field => field.type.is === 'list')?.type;
  return (value, context) => {
    if (isMembers(value)) return decoderOf(schema)(value, context);
    if (struct.alternatives === 'bool' && typeof value === 'boolean') return value;
    if (list && Array.isArray(value)) return decoderOf(list)(value, context);
    return context.wrong(`unexpected JSON ${kindOf(value)} for ${goType(struct)}`);
  };
}

/** How a field is written when it was given, and when it was not. */
interface Plan {
  readonly name: string;
  readonly decode: Decoder;
  /** Leaves out a given value that is empty, or shows null instead. */
  readonly isEmpty: ((value: Json) => boolean) | undefined;
  /** The field is always written: an empty list or map, which the wire form does not tell from none, as null. */
  readonly emptyIsNull?: boolean;
  /** What an absent field shows; undefined leaves it out. */
  readonly absent: ((context: Context) => Json) | undefined;
  /** The field is known, but read over: the feature it belongs to is off. */
  readonly off?: boolean;
}

function isEmptyOf(field: Field): Plan['isEmpty'] {
  const { type } = field;
  if (field.pointer) return undefined;
  if (type.is === 'list') return value => (value as Json[]).length === 0;
  if (type.is === 'map')
    return value => {
      for (const _ in value as object) return false;
      return true;
    };
  if (type.is !== 'scalar' || !field.omitEmpty || STRUCT_SCALARS.has(type.name)) return undefined;
  return value => value === '' || value === 0 || value === false || value === null;
}

function absentOf(field: Field): Plan['absent'] {
  const { type } = field;
  if (field.pointer || type.is === 'list' || type.is === 'map') return field.omitEmpty ? undefined : () => null;
  if (type.is === 'struct') return type.alternatives ? () => null : context => decoderOf(type)({}, context);
  if (field.omitEmpty && !STRUCT_SCALARS.has(type.name)) return undefined;
  const zero = SCALAR_ZEROS[type.name];
  return () => zero;
}

const planOf = (field: Field): Plan => ({
  name: field.name,
  decode: (value, context) => decoderOf(field.type)(value, context),
  isEmpty: isEmptyOf(field),
  emptyIsNull: !field.omitEmpty,
  absent: absentOf(field),
  off: isOff(field.gate),
});

const META_PLANS: readonly Plan[] = ['kind', 'apiVersion'].map(name => ({
  name,
  decode: SCALAR_DECODERS.string,
  isEmpty: value => value === '',
  absent: undefined,
}));

/** Reads members in document order (so that complaints come in that order) and writes them in declaration order. */
function structDecoder(struct: Struct): Decoder {
  const short = struct.id.slice(struct.id.lastIndexOf('.') + 1);
  const name = goType(struct);
  const plans = [...(struct.typeMeta ? META_PLANS : []), ...struct.fields.map(planOf)];
  const slotOf = new Map(plans.map((plan, at) => [plan.name, at]));
  return (value, context) => {
    if (!isMembers(value)) return context.mismatch(value, name);
    const slots: (Json | undefined)[] = new Array(plans.length);
    const kept: string[] = [];
    for (const key in value) {
      const slot = slotOf.get(key);
      if (slot === undefined) {
        if (struct.open) kept.push(key);
        else context.unknown(key);
        continue;
      }
      const given = value[key]!;
      if (given === null || plans[slot]!.off) continue;
      context.struct = short;
      context.path.push(key);
      slots[slot] = plans[slot]!.decode(given, context);
      context.path.pop();
    }
    const out: { [key: string]: Json } = {};
    for (let at = 0; at < plans.length; at++) {
      const plan = plans[at]!;
      const got = slots[at];
      if (got === undefined) {
        if (plan.absent) out[plan.name] = plan.absent(context);
      } else if (!plan.isEmpty?.(got)) out[plan.name] = got;
      else if (plan.emptyIsNull) out[plan.name] = null;
    }
    for (const key of kept) setMember(out, key, value[key]!);
    return out;
  };
}

/**
 * The object as Go's encoder would write it after decoding `value` into the type: members in declaration order, zero
 * values as the type's tags say, scalars canonical, unknown members dropped and reported. Throws `TypeMismatch`; does
 * not change `value`, but may share parts of it.
 */
export function normalize(type: Struct, value: Json, sink: DecodeSink): { [key: string]: Json } {
  const context = new Context(sink);
  const decoded = decoderOf(type)(value, context) as { [key: string]: Json };
  sink.complaints.push(...context.complaints.texts);
  return decoded;
}

type Decodable = Pick<Resource, 'type' | 'kind' | 'version' | 'apiVersion' | 'custom'>;

/**
 * Decodes a value as an object of `resource`: kind and apiVersion are taken from the resource, the caller has compared
 * them. Throws `TypeMismatch`.
 */
export function decodeAsKind(resource: Decodable, value: Json, sink: DecodeSink): ApiObject {
  if (resource.custom) return resource.custom.decode(value as { [key: string]: Json }, sink.complaints);
  const { kind: _kind, apiVersion: _apiVersion, ...members } = normalize(resource.type, value, sink);
  return { kind: resource.kind, apiVersion: resource.apiVersion, ...members } as unknown as ApiObject;
}

/** As `decodeAsKind`, for the body of a write: one of the wrong shape is a 400 in upstream's words. */
export function decodeObject(resource: Decodable, value: Json, sink: DecodeSink): ApiObject {
  try {
    return decodeAsKind(resource, value, sink);
  } catch (cause) {
    if (!(cause instanceof TypeMismatch)) throw cause;
    const { kind, version } = resource;
    throw badRequest(`${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: ${cause.message}`);
  }
}

/** JSON text of a canonical object, escaped as upstream does. */
export const encode = (object: unknown): string => encodeJson(object);
