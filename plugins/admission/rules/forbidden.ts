import type { Change } from '../../../core/api/admission.js';
import type { ApiObject } from '../../../core/model/object.js';
import type { Refusal } from '../../../core/model/refusal.js';
import { forbiddenError } from '../podDraft.js';

/**
 * 403 of an admission plugin about the object of a change. The name in it is the one that upstream shows: the objects
 * of a deletecollection have none.
 */
export function forbiddenByPlugin({ view }: Change, object: ApiObject | undefined, why: string): Refusal {
  const { group, resource } = view.resource;
  const name = view.name || object?.metadata?.name || 'Unknown';
  return forbiddenError({ group, resource }, name, why);
}
