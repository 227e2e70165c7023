import { stringify } from 'yaml';
import { anything, type Below, chance, pick, TEXTS, times, withMember, withRaw } from './choices.js';
import { SEEDS } from './seeds.js';

/** A resource or subresource in discovery. */
export interface Served {
  readonly path: string;
  readonly name: string;
  readonly kind: string;
  readonly group?: string;
  readonly version?: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
}

/** The definitions of the published OpenAPI document. */
export interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly $ref?: string;
  readonly items?: Schema;
  readonly properties?: { readonly [name: string]: Schema };
  readonly additionalProperties?: Schema;
}
export type Definitions = { readonly [name: string]: Schema };

type Node = { [member: string]: unknown } | unknown[];
const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null;

/** A small set of names, so that requests find objects of other requests. */
export const NAMES = ['a', 'a', 'a', 'a', 'b', 'web'] as const;

/** An object that the server is likely to accept. */
export function acceptable(below: Below, served: Served): { [member: string]: unknown } {
  const seed = SEEDS.get(served.name) ?? SEEDS.get(`*/${served.name.split('/')[1] ?? ''}`) ?? {};
  const apiVersion = served.group
    ? `${served.group}/${served.version}`
    : (served.version ?? served.path.replace(/^\/apis?\//, ''));
  const name = served.name === 'customresourcedefinitions' ? 'widgets.toys.example.com' : pick(below, NAMES);
  return { apiVersion, kind: served.kind, metadata: { name, labels: { app: 'a' } }, ...structuredClone(seed) };
}

/** A value generated from a definition, with any of its members. */
function after(below: Below, schema: Schema | undefined, definitions: Definitions, depth: number): unknown {
  if (!schema || depth === 0 || chance(below, 12)) return anything(below, 2);
  if (schema.$ref) return after(below, definitions[schema.$ref.replace('#/definitions/', '')], definitions, depth - 1);
  if (schema.properties) {
    const names = Object.keys(schema.properties);
    const object = {};
    for (let i = 1 + below(4); i > 0; i--) {
      const name = pick(below, names);
      withMember(object, name, after(below, schema.properties[name], definitions, depth - 1));
    }
    return object;
  }
  if (schema.items) return times(below, 3, () => after(below, schema.items, definitions, depth - 1));
  if (schema.additionalProperties) {
    return withMember({}, pick(below, TEXTS), after(below, schema.additionalProperties, definitions, depth - 1));
  }
  if (schema.type === 'integer') return below(5) - 1;
  if (schema.type === 'boolean') return chance(below, 2);
  return pick(below, TEXTS);
}

/** Every object and array in a value. */
function nodesOf(value: unknown, found: Node[] = []): Node[] {
  if (isNode(value)) {
    found.push(value);
    for (const member of Object.values(value)) nodesOf(member, found);
  }
  return found;
}

/** Changes a value in place, in a few positions. */
export function mutate(below: Below, value: unknown, definitions: Definitions): void {
  const names = Object.keys(definitions);
  for (let i = below(4); i > 0; i--) {
    const node = pick(below, nodesOf(value));
    const keys = Object.keys(node);
    const key = keys.length > 0 ? pick(below, keys) : 'x';
    const another = () => after(below, definitions[pick(below, names)], definitions, 4);
    const put = (name: string, member: unknown): unknown =>
      Array.isArray(node) ? node.push(member) : withMember(node, name, member);
    switch (below(7)) {
      case 0:
        put(key, anything(below));
        break;
      case 1:
        put(key, another());
        break;
      case 2:
        put(pick(below, TEXTS), anything(below));
        break;
      case 3:
        Reflect.deleteProperty(node, key);
        break;
      case 4:
        if (Array.isArray(node)) node.push(...structuredClone(node).slice(0, 3));
        else
          put('managedFields', [
            { manager: 'm', operation: 'Apply', fieldsType: 'FieldsV1', fieldsV1: anything(below) },
          ]);
        break;
      case 5:
        put('metadata', after(below, definitions['io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'], definitions, 4));
        break;
      default:
        Object.assign(isNode(value) ? value : {}, another());
    }
  }
}

/** JSON of a value, sometimes with damaged text. */
export function jsonText(below: Below, value: unknown): string {
  const text = withRaw(JSON.stringify(value) ?? 'null');
  switch (below(14)) {
    case 0: {
      const braces = [...text.matchAll(/\{/g)].map(match => match.index + 1);
      const at = braces.length > 0 ? pick(below, braces) : 0;
      const twice = pick(below, [
        '"kind":"Pod",',
        '"metadata":{"name":"x"},',
        '"metadata":null,',
        '"a":1,"a":2,',
        '"__proto__":{},',
      ]);
      return text.slice(0, at) + twice + text.slice(at);
    }
    case 1:
      return text.slice(0, below(text.length + 1));
    case 2:
      return `${text}${pick(below, [' ', '}', '{}', '\u0000', 'null', ',', '\ufeff'])}`;
    case 3:
      return `\ufeff${text}`;
    case 4: {
      const depth = pick(below, [100, 600, 10_000, 100_000]);
      const [open, close] = pick(below, [
        ['[', ']'],
        ['{"a":', '}'],
        ['{"metadata":', '}'],
        ['{"spec":[', ']}'],
      ] as const);
      return `${open.repeat(depth)}${pick(below, ['1', text])}${chance(below, 2) ? close.repeat(depth) : ''}`;
    }
    default:
      return text;
  }
}

const YAMLS = [
  'a: &a [x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: [*d,*d,*d,*d,*d,*d,*d,*d,*d]\n',
  '&a [*a]',
  '--- {}\n--- {}\n',
  '<<: {a: b}\n<<: [1]\n',
  '!!js/function x: y\n',
  '? {a: b}\n: c\n',
  '!!binary x: =\n',
  '!!timestamp 2020-01-01: !!float .nan\n',
  '%YAML 9.9\n---\n',
  '\tkind: x\n',
  'a: *missing\n',
  '- - - - -\n',
  '[[[[[[',
  'a: "\\ud800"\n',
  '__proto__: {a: b}\nmetadata: {__proto__: {name: x}}\n',
];

/** YAML of a value, or a malicious document. */
export function yamlText(below: Below, value: unknown): string {
  if (chance(below, 4)) return pick(below, YAMLS);
  const text = withRaw(stringify(JSON.parse(JSON.stringify(value) ?? 'null')));
  return chance(below, 6) ? text.slice(0, below(text.length + 1)) + pick(below, YAMLS) : text;
}

/** The bytes, with a few of them changed, removed or added. */
export function damaged(below: Below, bytes: Uint8Array): Uint8Array {
  const copy = Buffer.from(bytes);
  for (let i = below(4); i > 0 && copy.length > 0; i--)
    copy[below(copy.length)] = pick(below, [0, 0xff, 0x80, 0xc0, 0x7f, 0x22, below(256)]);
  if (chance(below, 8)) return copy.subarray(0, below(copy.length + 1));
  if (chance(below, 8)) return Buffer.concat([copy, Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f])]);
  return copy;
}
