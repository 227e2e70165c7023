import type { ApiObject } from '../model/object.js';
import type { Naming } from '../naming.js';
import type { Host } from './host.js';
import { LIST, requireMembers } from './checks/parts.js';
import { ConfigError, type Contributed, type Contribution, definePoint } from './point.js';
import type { BuiltInKind, ResourceSource, ResourceType, ResourceTypes } from './resource/types.js';
import type { Strategy } from './strategy.js';
import { guardCheck, guardSource, guardStrategy } from './resource/strategyCalls.js';

export type {
  SchemaRule,
  StructuralSchema,
  ResourceColumn,
  ScalePaths,
  ResourceSubresources,
  ResourceVersion,
  ResourceCheck,
  CustomStrategy,
  ResourceType,
  BuiltInKind,
  ResourceTypes,
  ResourceSource,
} from './resource/types.js';

const isBuiltIn = (type: ResourceType | BuiltInKind): type is BuiltInKind => 'storageName' in type;

/** The type with functions that are called like other functions of plugins: a failure names the plugin. */
function withCalls(type: ResourceType, call: Contributed<unknown>['call']): ResourceType {
  const { validate, strategy } = type;
  return {
    ...type,
    ...(validate && { validate: guardCheck(validate, call) }),
    ...(strategy && { strategy: guardStrategy(strategy, call) }),
  };
}

/** Throws TypeError for a value that is neither a type nor the strategy of a built-in kind. */
function checkType(value: ResourceType | BuiltInKind): void {
  if (typeof value !== 'object' || value === null) throw new TypeError('it must be the result of defineResource');
  if (isBuiltIn(value)) requireMembers({ storageName: 'string', strategy: 'object' })(value);
  else requireMembers({ group: 'string', kind: 'string', plural: 'string', versions: LIST })(value);
}

/** Sources whose failures name the plugin. Throws ConfigError for a second source of the same objects. */
function guardedSources(inputs: readonly Contributed<ResourceSource>[]): readonly ResourceSource[] {
  const byName = new Map<string, string>();
  return inputs.map(({ plugin, value, call }) => {
    const { storageName } = value;
    const other = byName.get(storageName);
    if (other !== undefined)
      throw new ConfigError(
        `plugins: ${plugin}`,
        `${storageName} defines resource types for the plugin ${other} already: use other objects`,
      );
    byName.set(storageName, plugin);
    const { define } = guardSource(value, call);
    return {
      storageName,
      define(object) {
        const type = define(object);
        return type && withCalls(type, call);
      },
    };
  });
}

/** Throws ConfigError for a built-in kind that already has a strategy. */
function combineTypes(inputs: readonly Contributed<ResourceType | BuiltInKind>[]): ResourceTypes {
  const custom: ResourceType[] = [];
  const builtIn = new Map<string, Partial<Strategy>>();
  for (const { plugin, value, call } of inputs) {
    if (!isBuiltIn(value)) custom.push(withCalls(value, call));
    else if (builtIn.has(value.storageName))
      throw new ConfigError(
        `plugins: ${plugin}`,
        `the kind ${value.storageName} has a strategy already: add to it with mutators and validators`,
      );
    else builtIn.set(value.storageName, value.strategy);
  }
  return { custom, builtIn };
}

/**
 * Kinds that the server serves. Built-in kinds use this point, like those of plugins.
 *
 * @example
 * contribute: () => [resourceType.of(() => defineResource({ ...names, schema, strategy }))]
 */
export const resourceType = definePoint<ResourceType | BuiltInKind>()(
  'resourceType',
  ['front', 'pool'],
  combineTypes,
  checkType,
);

/**
 * Contributes the strategy of a built-in kind, whose objects are of the type `T`. `make` is called once per thread,
 * with the naming of the server and its host.
 *
 * @example
 * export const lease = builtInKind('coordination.orchestrator.io/leases', () => ({ allowUnconditionalUpdate: false }));
 */
export const builtInKind = <T = ApiObject>(
  storageName: string,
  make: (naming: Naming, host: Host<'front' | 'pool'>) => Partial<Strategy<T>>,
): Contribution =>
  // The server calls the functions with objects of the kind only.
  resourceType.of(host => ({ storageName, strategy: make(host.naming, host) as Partial<Strategy> }));

/**
 * Kinds whose objects define resource types. A type is not served if the server, a plugin, or an object with a smaller
 * key has one of the same plural name or kind in its group.
 *
 * @example
 * contribute: () => [resourceSource.of(() => source)]
 */
export const resourceSource = definePoint<ResourceSource>()(
  'resourceSource',
  ['front', 'pool'],
  guardedSources,
  requireMembers({ storageName: 'string', define: 'function' }),
);
