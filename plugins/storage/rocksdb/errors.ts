import { StoreError } from '../../../core/api/index.js';
import { toOneLine } from '../../../core/model/text/trailing.js';
import { REMEDY } from '../engine/records.js';

/** Converts an error of RocksDB or the system to a StoreError, whose message has one line and names the remedy. */
export function toStoreError(path: string, error: Error): StoreError {
  if (error instanceof StoreError) return error;
  return new StoreError(explain(path, formatMessage(error.message)), { cause: error });
}

function explain(path: string, message: string): string {
  if (/lock hold by current process|LOCK: Resource temporarily unavailable/i.test(message))
    return `${path} is in use by another process: stop it first`;
  if (/permission denied|read-only file system|operation not permitted|EACCES|EROFS|EPERM/i.test(message))
    return `${path} cannot be written by this user: change its owner or mode, or start as its owner (${message})`;
  if (/no space left|disk quota|ENOSPC|EDQUOT|file too large|EFBIG/i.test(message))
    return `${path} has no space left: free some and start again, no data is lost (${message})`;
  return `${path} is damaged: ${message}; ${REMEDY}`;
}

/** Formats a message of RocksDB as one line, with separators between its parts. */
export const formatMessage = (message: string): string =>
  toOneLine(message)
    .replace(/([a-z])While /g, '$1: while ')
    .replace(/(sstable)(?=\/)/g, '$1: ');
