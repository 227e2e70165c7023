import type { StrategyContext, Strategy } from '../../core/api/strategy.js';
import type { ApiObject, Json } from '../../core/model/object.js';
import type { Time } from '../../core/model/scalars.js';
import type { Violation } from '../../core/model/refusal.js';
import { completeStrategy } from '../../core/schema/registry/strategyDefaults.js';
import { isRecord } from '../../core/model/record.js';
import { decodeAsKind, normalize } from '../../core/schema/decode/decode.js';
import type { Resource } from '../../core/schema/resource.js';
import { typeOf } from '../../core/schema/table/types.js';
import { builtInStrategies, registryOf } from './builtIn.js';

/** The complete strategy of a kind by neutral storage name. */
export const strategyOf = (storageName: string): Strategy =>
  completeStrategy(builtInStrategies('kubernetes').get(storageName) ?? {});

/** The resources of a storage name, with the storage version first. */
const resources = new Map<string, Resource[]>();
for (const { versions } of registryOf('kubernetes').groups.values())
  for (const one of versions.flatMap(version => [...version.resources.values()])) {
    const known = resources.get(one.storageName) ?? [];
    resources.set(one.storageName, one.apiVersion === one.storageApiVersion ? [one, ...known] : [...known, one]);
  }

/** A decoded value, with the members of the given value that the decoder omits. */
function completed(given: unknown, value: unknown): unknown {
  if (Array.isArray(given) && Array.isArray(value)) return value.map((item, i) => completed(given[i], item));
  if (!isRecord(given) || !isRecord(value)) return value ?? given ?? null;
  const members = Object.entries({ ...given, ...value }).filter(([, member]) => member !== undefined);
  return Object.fromEntries(members.map(([name, member]) => [name, completed(given[name], member)]));
}

const jsonOf = (given: object): Json => JSON.parse(JSON.stringify(given)) as Json;

/** Decodes an object in its own version or in the storage version. Throws TypeMismatch. */
export function decodedOnly(storageName: string, given: ApiObject): ApiObject {
  const known = resources.get(storageName)!;
  const resource = known.find(({ apiVersion }) => apiVersion === given.apiVersion) ?? known[0]!;
  return decodeAsKind(resource, jsonOf(given), { strictErrors: [] });
}

/** An object as strategies get it: with the members that decoding guarantees. It has a status only if one is given. */
export function decoded<T extends ApiObject>(storageName: string, given: ApiObject): T {
  const { status, ...others } = decodedOnly(storageName, given);
  const object = given['status'] === undefined ? others : { ...others, status };
  return { ...(completed(given, object) as T), apiVersion: given.apiVersion, metadata: given.metadata };
}

/** A part of an object as it is in decoded ones, by the id of its type: `core.v1.PodSpec`. */
export const decodedPart = <T>(typeId: string, given: object): T =>
  normalize(typeOf(typeId), jsonOf(given), { strictErrors: [] }) as T;

/** A context for strategies, with the given Services in the informer. */
export const contextWith = (services: readonly ApiObject[] = []): StrategyContext => ({
  now: '2024-05-06T07:08:09Z' as Time,
  user: { name: 'someone', uid: 'u-1', groups: ['some', 'people'], extra: new Map([['example.com/k', ['v']]]) },
  dryRun: false,
  lookup: () => undefined,
  list: name => (name === 'core/services' ? services.map(service => decoded(name, service)) : []),
});

/** An object of the core version. */
export const object = (kind: string, rest: { [member: string]: unknown }, apiVersion = 'v1'): ApiObject => ({
  apiVersion,
  kind,
  metadata: { name: 'x', namespace: 'n', uid: 'u1' },
  ...rest,
});

/** Defaults, preparation and validation of a create, in the order of the pipeline. */
export function create(
  storageName: string,
  given: ApiObject,
  context = contextWith(),
): { made: ApiObject; violations: readonly Violation[] } {
  const strategy = strategyOf(storageName);
  const made = decoded(storageName, structuredClone(given));
  strategy.applyDefaults(made);
  strategy.prepareCreate(made, context);
  return { made, violations: strategy.validateCreate(made, context) };
}

/** The same for an update of `old` with the members in `change`. */
export function update(
  storageName: string,
  old: ApiObject,
  change: (draft: ApiObject) => void,
  context = contextWith(),
) {
  const strategy = strategyOf(storageName);
  const current = decoded(storageName, old);
  const given = structuredClone(old);
  change(given);
  const made = decoded(storageName, given);
  strategy.applyDefaults(made);
  strategy.prepareUpdate(made, current, context);
  return { made, violations: strategy.validateUpdate(made, current, context) };
}

/** `field: message` of each violation. */
export const lines = (violations: readonly Violation[]): string[] => violations.map(v => `${v.field}: ${v.message}`);
