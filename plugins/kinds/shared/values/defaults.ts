import { isAbsent } from '../../../../core/model/record.js';

/** Sets a member if it is absent: for fields whose empty string is a value that the client has set. */
export function setIfAbsent<T extends object, Name extends keyof T>(owner: T, member: Name, value: T[Name]): void {
  if (isAbsent(owner[member])) owner[member] = value;
}
