import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Collects garbage, and resolves with how many of the objects are still in memory. */
export async function countKept(objects: readonly WeakRef<object>[]): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  // A reference is not collected in the turn in which it was made or read.
  await new Promise(resolve => setImmediate(resolve));
  collect();
  return objects.filter(one => one.deref() !== undefined).length;
}
