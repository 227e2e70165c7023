import type { Json } from '../../model/object.js';
import { badRequest } from '../../model/refusal.js';
import { copyOf, deeplySorted, isMembers, type Members, setMember, sortedCopy } from './members.js';

function merged(target: Json | undefined, patch: Json): Json {
  if (Array.isArray(patch)) return patch.map(deeplySorted);
  if (!isMembers(patch)) return patch;
  const out: Members = isMembers(target) ? copyOf(target) : {};
  for (const name of Object.keys(patch)) {
    const value = patch[name]!;
    if (value === null) delete out[name];
    else setMember(out, name, merged(Object.hasOwn(out, name) ? out[name] : undefined, value));
  }
  return sortedCopy(out);
}

/**
 * JSON Merge Patch (RFC 7386) of an object. Objects that the patch reaches have their members in the order of names,
 * the order in which complaints about them come. Does not change its arguments. Throws 400 if the patch is no object.
 */
export function applyMergePatch(target: Json, patch: Json): Json {
  if (!isMembers(patch)) throw badRequest('error decoding patch: a merge patch must be a JSON object');
  return merged(target, patch);
}
