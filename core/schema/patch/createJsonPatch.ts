import type { Json } from '../../model/object.js';
import { equalJson, isMembers, memberOf } from './members.js';

/** An operation of a JSON Patch (RFC 6902). */
export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: Json }
  | { readonly op: 'remove'; readonly path: string };

const step = (path: string, key: string | number): string =>
  `${path}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;

/**
 * The JSON Patch (RFC 6902) that turns `before` into `after`. Items of lists are compared by their positions, without
 * the items at both ends that are equal. Undefined members count as absent.
 */
export function createJsonPatch(before: Json, after: Json): Json[] {
  const operations: JsonPatchOperation[] = [];
  compare('', before, after, operations);
  return operations as unknown as Json[];
}

function compare(path: string, before: Json, after: Json, out: JsonPatchOperation[]): void {
  if (before === after) return;
  if (Array.isArray(before) && Array.isArray(after)) {
    compareLists(path, before, after, out);
    return;
  }
  if (!isMembers(before) || !isMembers(after)) {
    if (!equalJson(before, after)) out.push({ op: 'replace', path, value: after });
    return;
  }
  for (const key of Object.keys(before)) {
    const [value, other] = [memberOf(before, key), memberOf(after, key)];
    if (value === undefined) continue;
    if (other === undefined) out.push({ op: 'remove', path: step(path, key) });
    else compare(step(path, key), value, other, out);
  }
  for (const key of Object.keys(after)) {
    const value = memberOf(after, key);
    if (value !== undefined && memberOf(before, key) === undefined)
      out.push({ op: 'add', path: step(path, key), value });
  }
}

function compareLists(path: string, before: Json[], after: Json[], out: JsonPatchOperation[]): void {
  const least = Math.min(before.length, after.length);
  let start = 0;
  while (start < least && equalJson(before[start]!, after[start]!)) start++;
  let end = 0;
  while (end < least - start && equalJson(before.at(-1 - end)!, after.at(-1 - end)!)) end++;
  const [removed, added] = [before.length - end, after.length - end];
  const both = Math.min(removed, added);
  for (let i = start; i < both; i++) compare(step(path, i), before[i]!, after[i]!, out);
  // From the last to the first, so that the positions of items that are still to be removed do not change.
  for (let i = removed - 1; i >= both; i--) out.push({ op: 'remove', path: step(path, i) });
  for (let i = both; i < added; i++) out.push({ op: 'add', path: step(path, i), value: after[i]! });
}
