import type { Json } from '../../model/object.js';
import { badRequest } from '../../model/refusal.js';
import { patchMismatch } from './mismatch.js';
import { copyOf, isMembers, type Members, setMember, sortedCopy } from './members.js';

/** A copy of an item of a patched list: sorted, and without members that are null, which upstream removes. */
function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isMembers(value)) return value;
  const out: Members = {};
  for (const name of Object.keys(value).sort())
    if (value[name] !== null) setMember(out, name, withoutNulls(value[name]!));
  return out;
}

function mergeValue(target: Json | undefined, patch: Json): Json {
  if (Array.isArray(patch)) return patch.map(withoutNulls);
  if (!isMembers(patch)) return patch;
  const out: Members = isMembers(target) ? copyOf(target) : {};
  for (const name of Object.keys(patch)) {
    const value = patch[name]!;
    if (value === null) delete out[name];
    else setMember(out, name, mergeValue(Object.hasOwn(out, name) ? out[name] : undefined, value));
  }
  return sortedCopy(out);
}

/**
 * Applies a JSON Merge Patch (RFC 7386) without changing its arguments. Patched objects get sorted members, because
 * schema errors are reported in the order of members. Throws 400 if the patch is not an object.
 */
export function applyMergePatch(target: Json, patch: Json): Json {
  if (patch === null) throw badRequest('Invalid JSON Patch');
  if (!isMembers(patch)) throw badRequest(patchMismatch(patch, 'map[string]interface {}'));
  return mergeValue(target, patch);
}
