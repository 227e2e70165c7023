import type { ApiObject, Json } from '../../model/object.js';
import { parseJson, encodeJson } from '../json.js';
import { copyOf, deeplySorted, isMembers, type Members, memberOf } from '../patch/members.js';
import { fieldsOf } from './applied.js';
import { compare } from './compare.js';
import { difference, type FieldSet, NONE } from './fieldSet.js';
import type { Shape } from './shape.js';

/**
 * Clients that applied on their own side kept their configuration in an annotation; its manager is the only one that
 * brings it along.
 */
export const LAST_APPLIED_MANAGER = 'kubectl';

function configOf(text: string, apiVersion: string): Members | undefined {
  try {
    const config = parseJson(Buffer.from(text));
    return isMembers(config) && memberOf(config, 'apiVersion') === apiVersion ? config : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Fields that the annotation claims and that still have the values it names: whoever kept it may take them from
 * anybody.
 */
export function claimed(shape: Shape, live: ApiObject, annotation: string): FieldSet {
  const text = live.metadata.annotations?.[annotation];
  const config = text && configOf(text, live.apiVersion);
  if (!config) return NONE;
  const { added, removed, modified } = compare(shape, config, live as unknown as Json);
  return [modified, added, removed].reduce(difference, fieldsOf(shape, config));
}

/** The annotation's text for a configuration: members sorted, without the annotation itself. */
export function lastAppliedText(config: Members, annotation: string): string {
  const metadata = copyOf(isMembers(config['metadata']) ? config['metadata'] : {});
  delete metadata['managedFields'];
  if (isMembers(metadata['annotations'])) {
    const { [annotation]: _own, ...annotations } = metadata['annotations'];
    metadata['annotations'] = annotations;
  }
  return `${encodeJson(deeplySorted({ ...config, metadata }))}\n`;
}
