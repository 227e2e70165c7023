import { StoreError } from '../../../core/api/index.js';
import { REMEDY } from '../engine/records.js';

/** One line that says why a store cannot be opened or read, and what helps, whatever the library or the system said. */
export function refusal(path: string, error: Error): StoreError {
  if (error instanceof StoreError) return error;
  return new StoreError(explain(path, readable(error.message)), { cause: error });
}

/** Whether an error says that another process, or this one, has the database open. */
export const saysInUse = (message: string): boolean =>
  /lock file|lock hold/i.test(message) &&
  /temporarily unavailable|no locks available|lock hold by current process/i.test(message);

function explain(path: string, message: string): string {
  if (saysInUse(message)) return `${path} is in use by another process: stop it first`;
  if (/permission denied|read-only file system|operation not permitted|EACCES|EROFS|EPERM/i.test(message))
    return `${path} cannot be written by this user: change its owner or mode, or start as its owner (${message})`;
  if (/no space left|disk quota|ENOSPC|EDQUOT|file too large|EFBIG/i.test(message))
    return `${path} has no space left: make room and start again, nothing is lost (${message})`;
  return `${path} is damaged: ${message}; ${REMEDY}`;
}

/** A message of the library in one line; it joins its parts without anything between them. */
export const readable = (message: string): string =>
  message
    .replace(/\s*\n\s*/g, ' ')
    .replace(/([a-z])While /g, '$1: while ')
    .replace(/(sstable)(?=\/)/g, '$1: ');
