import type { Json } from '../../model/object.js';
import { isMembers, type Members } from '../patch/members.js';
import type { Shape } from './shape.js';

/** The form that a value has. */
export type Form = 'scalar' | 'list' | 'map';

/** The form of a value; null has none of its own. */
export const formOf = (value: Json): Form | undefined =>
  value === null ? undefined : Array.isArray(value) ? 'list' : typeof value === 'object' ? 'map' : 'scalar';

/** The form that a value of the shape is read in: its own, or for null the first that the shape takes. */
export const readAs = (shape: Shape, value: Json): Form =>
  formOf(value) ?? (shape.map ? 'map' : shape.scalar ? 'scalar' : 'list');

const NO_ITEMS: readonly Json[] = [];
const NO_MEMBERS: Members = {};

/** Items of a list; none where there is no list. */
export const itemsOf = (value: Json): readonly Json[] => (Array.isArray(value) ? value : NO_ITEMS);

/** Members of an object; none where there is no object. */
export const membersOf = (value: Json): Members => (isMembers(value) ? value : NO_MEMBERS);

/** Whether an object has no member. */
export function hasNone(members: Members): boolean {
  for (const _ in members) return false;
  return true;
}
