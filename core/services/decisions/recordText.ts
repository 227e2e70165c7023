import type { DecisionRecord } from '../../api/observe/decisions.js';
import type { User } from '../../model/user.js';

/** A user whose extra is a list of entries, because JSON has no maps. */
type PlainUser = Omit<User, 'extra'> & { readonly extra: readonly (readonly [string, readonly string[]])[] };

const toPlain = (user: User | undefined): PlainUser | undefined => user && { ...user, extra: [...user.extra] };
const fromPlain = (user: PlainUser | undefined): User | undefined => user && { ...user, extra: new Map(user.extra) };

/** A record in the form in which it is sent to the pool, which shows it. */
export const writeRecord = (record: DecisionRecord): Uint8Array =>
  Buffer.from(JSON.stringify({ ...record, user: toPlain(record.user), impersonator: toPlain(record.impersonator) }));

/** The record that `writeRecord` has written. */
export function readRecord(bytes: Uint8Array): DecisionRecord {
  const { user, impersonator, ...rest } = JSON.parse(Buffer.from(bytes).toString()) as Omit<
    DecisionRecord,
    'user' | 'impersonator'
  > & { readonly user?: PlainUser; readonly impersonator?: PlainUser };
  return { ...rest, user: fromPlain(user), impersonator: fromPlain(impersonator) };
}
