import { type ApiObject, type Fields, type FieldSet, isFields } from '../../../api/objects.js';
import { labelOf } from '../managers/fieldTree.js';
import type { Schema, Schemas } from '../schema/schema.js';
import type { Known } from './completion.js';
import { isEqual } from './threeWay.js';
import { canonicalText, parseYaml } from './yamlText.js';

/** The body of an apply request. */
export interface ApplyBody {
  readonly text: string;
  /** Fields that were removed and that an apply cannot remove, because they belong to others alone. */
  readonly kept: readonly string[];
}

/** Fields that an apply must not have. */
const OF_SERVER = ['uid', 'resourceVersion', 'generation', 'creationTimestamp', 'managedFields', 'deletionTimestamp'];

/** The fields that a manager has applied. */
export function appliedFields({ metadata }: ApiObject, manager: string): FieldSet | undefined {
  const entry = metadata.managedFields?.find(
    of => of.manager === manager && of.operation === 'Apply' && !of.subresource,
  );
  return entry?.fieldsV1;
}

class Collector {
  readonly kept: string[] = [];

  constructor(readonly schemas: Schemas) {}

  /** The part of a value that differs from the previous one, or that the manager owns; undefined if there is none. */
  part(
    before: unknown,
    value: unknown,
    owned: FieldSet | undefined,
    schema: Schema | undefined,
    path: string,
  ): unknown {
    const isChanged = !isEqual(before, value);
    if (!isChanged && !owned) return undefined;
    const isAtomic = schema?.['x-kubernetes-map-type'] === 'atomic';
    if (isFields(value) && (before === undefined || isFields(before)) && !isAtomic)
      return this.#fields(before ?? {}, value, owned, schema, path, before === undefined || owned?.['.'] !== undefined);
    const keys = schema?.['x-kubernetes-list-map-keys'];
    if (Array.isArray(value) && keys && schema?.['x-kubernetes-list-type'] === 'map')
      return this.#items(Array.isArray(before) ? before : [], value, owned, schema, keys, path);
    return value;
  }

  #fields(
    before: Fields,
    value: Fields,
    owned: FieldSet | undefined,
    schema: Schema | undefined,
    path: string,
    isWanted: boolean,
  ): Fields | undefined {
    const found: [string, unknown][] = [];
    for (const [key, of] of Object.entries(value)) {
      const child = schema && this.schemas.child(schema, key);
      const part = this.part(before[key], of, owned?.[`f:${key}`], child, `${path}.${key}`);
      if (part !== undefined) found.push([key, part]);
    }
    for (const key of Object.keys(before))
      if (!Object.hasOwn(value, key) && !owned?.[`f:${key}`]) this.kept.push(`${path}.${key}`.slice(1));
    return found.length > 0 || isWanted ? Object.fromEntries(found) : undefined;
  }

  #items(
    before: readonly unknown[],
    value: readonly unknown[],
    owned: FieldSet | undefined,
    schema: Schema,
    keys: readonly string[],
    path: string,
  ): unknown[] | undefined {
    const identityOf = (item: unknown): Fields =>
      Object.fromEntries(keys.flatMap(key => (isFields(item) && item[key] !== undefined ? [[key, item[key]]] : [])));
    const labelsOf = (item: unknown): string =>
      `[${Object.entries(identityOf(item))
        .map(([key, of]) => `${key}=${String(of)}`)
        .join(', ')}]`;
    const ownedItems = new Map(
      Object.entries(owned ?? {}).flatMap(([segment, of]) =>
        segment.startsWith('k:') ? [[labelOf(segment), of] as const] : [],
      ),
    );
    const old = new Map(before.map(item => [labelsOf(item), item]));
    const labels = new Set(value.map(labelsOf));
    const itemSchema = schema.items && this.schemas.resolve(schema.items);
    const items = value.flatMap(item => {
      const label = labelsOf(item);
      const part = this.part(old.get(label), item, ownedItems.get(label), itemSchema, path + label);
      return part === undefined ? [] : [{ ...identityOf(item), ...(part as Fields) }];
    });
    for (const label of old.keys())
      if (!labels.has(label) && !ownedItems.has(label)) this.kept.push((path + label).slice(1));
    return items.length > 0 ? items : undefined;
  }
}

/**
 * The body of an apply: the fields that differ from the version that is edited, and those that the manager has applied
 * before, which it would give up otherwise. Throws Error for a text that is not an object.
 */
export function applyBody(
  base: string,
  text: string,
  { schemas, root }: Known,
  owned: FieldSet | undefined,
  hasStatus: boolean,
): ApplyBody {
  const collector = new Collector(schemas);
  const wanted = (object: unknown): Fields => {
    const { metadata, status, ...rest } = object as Fields;
    const own = Object.entries(isFields(metadata) ? metadata : {}).filter(([name]) => !OF_SERVER.includes(name));
    return { ...rest, ...(hasStatus || status === undefined ? {} : { status }), metadata: Object.fromEntries(own) };
  };
  const [before, after] = [wanted(parseYaml(base)), wanted(parseYaml(text))];
  const part = (collector.part(before, after, owned, root, '') ?? {}) as Fields;
  const { name, namespace } = after['metadata'] as Fields;
  const identity = { name, ...(namespace === undefined ? {} : { namespace }) };
  const metadata = { ...(isFields(part['metadata']) ? part['metadata'] : {}), ...identity };
  const body = { ...part, apiVersion: after['apiVersion'], kind: after['kind'], metadata };
  return { text: canonicalText(body), kept: collector.kept };
}
