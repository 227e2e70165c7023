import type { ApiObject, Json } from '../../model/object.js';
import { parseJson, encodeJson } from '../json/json.js';
import { copyOf, sortDeep, isMembers, type Members, memberOf } from '../patch/members.js';
import { objectFields } from './applied.js';
import { compare } from './compare.js';
import { difference, type FieldSet, NONE } from './fieldSet.js';
import type { Shape } from './shape.js';

/**
 * The manager of client-side apply, which stores the last applied configuration in an annotation. When it uses
 * server-side apply, the annotation is updated as well.
 */
export const LAST_APPLIED_MANAGER = 'kubectl';

function parseConfig(text: string, apiVersion: string): Members | undefined {
  try {
    const config = parseJson(Buffer.from(text));
    return isMembers(config) && memberOf(config, 'apiVersion') === apiVersion ? config : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The fields of the annotation's configuration that are unchanged in the live object. Applying them is not a conflict.
 */
export function unchangedLastApplied(shape: Shape, live: ApiObject, annotation: string): FieldSet {
  const text = live.metadata.annotations?.[annotation];
  const config = text && parseConfig(text, live.apiVersion);
  if (!config) return NONE;
  const { added, removed, modified } = compare(shape, config, live as unknown as Json);
  return [modified, added, removed].reduce(difference, objectFields(shape, config));
}

/** The annotation's value for a configuration: JSON with sorted members, without the annotation itself. */
export function lastAppliedText(config: Members, annotation: string): string {
  const metadata = copyOf(isMembers(config['metadata']) ? config['metadata'] : {});
  delete metadata['managedFields'];
  if (isMembers(metadata['annotations'])) {
    const { [annotation]: _own, ...annotations } = metadata['annotations'];
    metadata['annotations'] = annotations;
  }
  return `${encodeJson(sortDeep({ ...config, metadata }))}\n`;
}
