import { toUSVString } from 'node:util';
import type { User } from '../user.js';

/**
 * A copy of a user in which U+FFFD replaces each lone surrogate. UTF-8 cannot represent these: they would be replaced
 * on the way to another thread or server, where different names would become equal.
 */
export const wellFormedUser = ({ name, uid, groups, extra }: User): User => ({
  name: toUSVString(name),
  uid: toUSVString(uid),
  groups: Array.from(groups, toUSVString),
  extra: new Map(Array.from(extra, ([key, values]) => [toUSVString(key), Array.from(values, toUSVString)])),
});
