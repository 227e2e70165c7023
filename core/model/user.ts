import { toUSVString } from 'node:util';

/** The user of a request (spec, "User attributes"). Only authorizers interpret the values. */
export interface User {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: ReadonlyMap<string, readonly string[]>;
}

/** The user of requests without credentials. */
export const ANONYMOUS: User = {
  name: 'system:anonymous',
  uid: '',
  groups: ['system:unauthenticated'],
  extra: new Map(),
};

/**
 * A copy of a user in which U+FFFD replaces each lone surrogate. UTF-8 cannot represent these: they would be replaced
 * on the way to another thread or server, where names would be equal that are different here.
 */
export const wellFormedUser = ({ name, uid, groups, extra }: User): User => ({
  name: toUSVString(name),
  uid: toUSVString(uid),
  groups: Array.from(groups, toUSVString),
  extra: new Map(Array.from(extra, ([key, values]) => [toUSVString(key), Array.from(values, toUSVString)])),
});
