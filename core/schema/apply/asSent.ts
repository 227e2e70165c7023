import type { Json } from '../../model/object.js';
import type { Unstored } from '../decode/unstored.js';
import { copyOf, isMembers, memberOf, setMember } from '../patch/members.js';
import { memberShape, type Shape } from './shape.js';

/** Whether a value is in one that is compared as a whole, and whether it is in an item of a list in such a value. */
interface Place {
  readonly isWhole: boolean;
  readonly isInList: boolean;
}

const OUTSIDE: Place = { isWhole: false, isInList: false };

/**
 * The object from which the owners of its fields are determined: with the members that decoding has not kept, as they
 * were sent. Of the omitted empty lists and maps, only those in items of lists that are compared as a whole are
 * included. Unchanged parts are shared with `object`.
 */
export const asSent = (shape: Shape, object: Json, unstored: Unstored): Json =>
  unstored.members.length > 0 || unstored.below.length > 0 ? restore(shape, object, unstored, OUTSIDE) : object;

function restore(shape: Shape | undefined, value: Json, unstored: Unstored, { isWhole, isInList }: Place): Json {
  const { members, below } = unstored;
  if (Array.isArray(value)) {
    const form = shape?.list;
    const isPart = isWhole || form?.atomic === true;
    const items = [...value];
    for (const one of below) {
      const [at, item] = [Number(one.step), value[Number(one.step)]];
      if (item !== undefined) items[at] = restore(form?.of, item, one, { isWhole: isPart, isInList: isPart });
    }
    return items;
  }
  if (!isMembers(value)) return value;
  const form = shape?.map;
  const place = { isWhole: isWhole || form?.atomic === true, isInList };
  const sent = copyOf(value);
  for (const { name, value: member, omitted } of members)
    if ((!omitted || isInList) && memberOf(sent, name) == null) setMember(sent, name, member);
  for (const one of below) {
    const name = String(one.step);
    const member = memberOf(sent, name);
    if (member !== undefined) setMember(sent, name, restore(form && memberShape(form, name), member, one, place));
  }
  return sent;
}
