import { isAbsent, type UnknownRecord } from '../../../core/model/record.js';

/** Sets a member if it is absent: for fields whose empty string is a value that the client has set. */
export function setIfAbsent(owner: UnknownRecord, member: string, value: unknown): void {
  if (isAbsent(owner[member])) owner[member] = value;
}
