import type { Struct } from '../../schema/model.js';
import { describeField } from '../../schema/table/descriptions.js';

/** A parameter in the path or the query. */
export interface Parameter {
  readonly in: 'path' | 'query';
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean';
  /** The description, if it differs from that of other parameters with the name. */
  readonly description?: string;
}

/** Query parameters of one type. */
export const queryParameters = (type: Parameter['type'], ...names: readonly string[]): Parameter[] =>
  names.map(name => ({ in: 'query', name, type }));
/** A parameter in the path. */
export const pathParameter = (name: string): Parameter => ({ in: 'path', name, type: 'string' });

/** The parameter of all operations. */
export const PRETTY = queryParameters('string', 'pretty');
/** Parameters of operations on collections. */
export const SELECTION = [
  ...queryParameters('string', 'continue', 'fieldSelector', 'labelSelector'),
  ...queryParameters('integer', 'limit'),
  ...queryParameters('string', 'resourceVersion', 'resourceVersionMatch'),
  ...queryParameters('boolean', 'sendInitialEvents'),
  ...queryParameters('integer', 'timeoutSeconds'),
];
/** Parameters of lists and watches. */
export const WATCH = [
  ...queryParameters('boolean', 'allowWatchBookmarks'),
  ...SELECTION,
  ...queryParameters('boolean', 'watch'),
];
/** Parameters of deletions. */
export const DELETE = [
  ...queryParameters('string', 'dryRun'),
  ...queryParameters('integer', 'gracePeriodSeconds'),
  ...queryParameters('boolean', 'ignoreStoreReadErrorWithClusterBreakingPotential', 'orphanDependents'),
  ...queryParameters('string', 'propagationPolicy'),
];
/** Parameters of creations and updates. */
export const WRITE = queryParameters('string', 'dryRun', 'fieldManager', 'fieldValidation');
/** Parameters of patches. */
export const PATCH = [...WRITE, ...queryParameters('boolean', 'force')];

/** Query parameters of a subresource: the scalar fields of its options type. */
export function optionParameters(struct: Struct | undefined): Parameter[] {
  const types: Readonly<Record<string, Parameter['type']>> = {
    string: 'string',
    bool: 'boolean',
    int32: 'integer',
    int64: 'integer',
  };
  if (!struct) return [];
  return struct.fields.flatMap(field => {
    const { name, type } = field;
    const leaf = type.is === 'list' ? type.of : type;
    const known = leaf.is === 'scalar' ? types[leaf.name] : undefined;
    return known ? [{ in: 'query' as const, name, type: known, description: describeField(struct, field) }] : [];
  });
}
