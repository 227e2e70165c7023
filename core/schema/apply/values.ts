import type { Json } from '../../model/object.js';
import { isMembers, type Members } from '../patch/members.js';
import type { Shape } from './shape.js';

/** The form of a value. */
export type ValueForm = 'scalar' | 'list' | 'map';

/** The form of a value; undefined for null. */
export const formOf = (value: Json): ValueForm | undefined =>
  value === null ? undefined : Array.isArray(value) ? 'list' : typeof value === 'object' ? 'map' : 'scalar';

/** The form of a value or, for null, the first form that the shape accepts. */
export const formFor = (shape: Shape, value: Json): ValueForm =>
  formOf(value) ?? (shape.map ? 'map' : shape.scalar ? 'scalar' : 'list');

const NO_ITEMS: readonly Json[] = [];
const NO_MEMBERS: Members = {};

/** The items of a list; empty for other values. */
export const itemsOf = (value: Json): readonly Json[] => (Array.isArray(value) ? value : NO_ITEMS);

/** The members of an object; empty for other values. */
export const membersOf = (value: Json): Members => (isMembers(value) ? value : NO_MEMBERS);

/** Whether an object has no members. */
export function isEmptyObject(members: Members): boolean {
  for (const _ in members) return false;
  return true;
}
