import { readFileSync } from 'node:fs';
import type { Transaction } from '../../core/api/storage.js';
import { systemTime } from '../../core/runtime/clock.js';
import { randomUUID } from '../../core/runtime/random.js';

/** An object in the file: its key, and its JSON with the texts below in place of values that differ between stores. */
type FirstObject = readonly [key: string, text: string];

const UID = '$uid';
const TIME = '$time';
const REVISION = '"resourceVersion":"';

/**
 * The creations of the first objects of a new store (`core/server/firstObjects.ts`), one transaction each, as requests
 * would make them at this moment.
 */
export function firstTransactions(file: string): Transaction[] {
  const now = `${new Date(systemTime()).toISOString().slice(0, 19)}Z`;
  return (JSON.parse(readFileSync(file, 'utf8')) as FirstObject[]).map(([key, text]) => {
    const value = Buffer.from(text.replace(UID, randomUUID()).replaceAll(TIME, now));
    return [{ is: 'put', key, value, gap: value.indexOf(REVISION) + REVISION.length, expect: 0 }];
  });
}
