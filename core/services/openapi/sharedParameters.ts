import { createHash } from 'node:crypto';
import type { Schema } from './dialect.js';
import { METHODS } from './operations.js';

/** Parameters that stay in place, since some clients look for them there. */
const NOT_SHARED = new Set(['name', 'dryRun', 'fieldValidation']);

/** Whether the body has a type of one kind, which few operations share. */
const isBodyOfKind = ({ schema }: Schema): boolean => !/\.apimachinery\./.test(String((schema as Schema)['$ref']));

const isShared = (parameter: Schema): boolean =>
  parameter.in === 'body' ? !isBodyOfKind(parameter) : !NOT_SHARED.has(String(parameter.name));

/** A name that follows from the content: equal parameters are one, different ones do not collide. */
function nameOf(parameter: Schema, text: string): string {
  const hash = createHash('sha256').update(text).digest('base64url');
  return `${parameter.name}-${hash.slice(0, 8)}`;
}

/**
 * Moves parameters that many operations have from the paths of an OpenAPI 2 document to its `parameters`, which makes
 * it much smaller. Returns the new paths and the shared parameters, sorted by name.
 */
export function shareParameters(paths: Schema): { readonly paths: Schema; readonly parameters: Schema } {
  const shared = new Map<string, Schema>();
  /** References by the text of their parameter: there are many operations, and few different parameters. */
  const references = new Map<string, Schema>();
  const share = (parameter: Schema): Schema => {
    if (!isShared(parameter)) return parameter;
    const text = JSON.stringify(parameter);
    const known = references.get(text);
    if (known) return known;
    const name = nameOf(parameter, text);
    shared.set(name, parameter);
    const reference = { $ref: `#/parameters/${name}` };
    references.set(text, reference);
    return reference;
  };
  /** An operation or a path item, both of which have parameters. */
  const shareOf = (holder: Schema): Schema =>
    holder.parameters === undefined
      ? holder
      : { ...holder, parameters: (holder.parameters as readonly Schema[]).map(share) };
  const shareOfItem = (item: Schema): Schema => {
    const operations = METHODS.filter(method => item[method] !== undefined);
    return shareOf({
      ...item,
      ...Object.fromEntries(operations.map(method => [method, shareOf(item[method] as Schema)])),
    });
  };
  return {
    paths: Object.fromEntries(Object.entries(paths).map(([path, item]) => [path, shareOfItem(item as Schema)])),
    parameters: Object.fromEntries([...shared].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}
