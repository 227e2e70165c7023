import type { UnknownRecord } from '../../../core/model/record.js';
import type { ResourceTarget } from '../../../core/model/target.js';
import type { Naming } from '../../../core/naming.js';
import { firstValue, parseFlag, type Query } from '../../../core/request/query.js';
import type { Struct, Type } from '../../../core/schema/model.js';
import type { DeleteOptions } from '../body/options.js';

type OptionsKind = 'CreateOptions' | 'UpdateOptions' | 'DeleteOptions';

const typeMeta = (naming: Naming, kind: OptionsKind): UnknownRecord => ({
  kind,
  apiVersion: naming.apiVersion('meta.orchestrator.io/v1'),
});

/** The options of a create or update as an object. Options that the request omits are absent. */
export function writeOptionsObject(naming: Naming, kind: OptionsKind, query: Query, dryRun: boolean): UnknownRecord {
  const manager = firstValue(query, 'fieldManager');
  const validation = firstValue(query, 'fieldValidation');
  return {
    ...typeMeta(naming, kind),
    ...(dryRun ? { dryRun: ['All'] } : {}),
    ...(manager ? { fieldManager: manager } : {}),
    ...(validation ? { fieldValidation: validation } : {}),
  };
}

/** The options of a delete as an object. */
export function deleteOptionsObject(naming: Naming, options: DeleteOptions): UnknownRecord {
  const { dryRun, ...given } = options;
  return { ...typeMeta(naming, 'DeleteOptions'), ...given, ...(dryRun ? { dryRun: ['All'] } : {}) };
}

/** The value of a query parameter in the type of its field; undefined for the zero value. */
function parameterValue(query: Query, name: string, type: Type): unknown {
  const values = query.get(name) ?? [];
  if (type.is === 'list') {
    const isNumber = type.of.is === 'scalar' && type.of.name.startsWith('int');
    return values.length > 0 ? values.map(value => (isNumber ? Number.parseInt(value, 10) : value)) : undefined;
  }
  if (type.is !== 'scalar' || values.length === 0) return undefined;
  if (type.name === 'bool') return parseFlag(query, name) || undefined;
  if (type.name === 'int32' || type.name === 'int64') return Number.parseInt(values[0]!, 10) || undefined;
  return values[0] || undefined;
}

/** The rest of the path of a proxy after the subresource, with its slash; '' if there is none. */
function proxiedPath({ group, namespace, path }: ResourceTarget): string {
  const before = (group ? 3 : 2) + (namespace ? 2 : 0) + 3;
  return path
    .split('/')
    .slice(before + 1)
    .map(segment => `/${segment}`)
    .join('');
}

/**
 * The options of a connection (PodExecOptions), which the query holds, as an object in the version `apiVersion`. The
 * path of a proxy is that after the subresource.
 */
export function connectOptionsObject(
  type: Struct,
  apiVersion: string,
  query: Query,
  target: ResourceTarget,
): UnknownRecord {
  const object: UnknownRecord = { kind: type.id.slice(type.id.lastIndexOf('.') + 1), apiVersion };
  for (const { name, type: fieldType } of type.fields) {
    if (name === 'kind' || name === 'apiVersion') continue;
    const isPath = name === 'path' && target.subresource === 'proxy';
    const value = (isPath && proxiedPath(target)) || parameterValue(query, name, fieldType);
    if (value !== undefined) object[name] = value;
  }
  return object;
}
