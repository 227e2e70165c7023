/** Runs `work` for all items, at most `limit` concurrently. After all are done, throws the first error, if any. */
export async function forEachParallel<T>(
  limit: number,
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const remaining = items.values();
  const failures: unknown[] = [];
  const runWorker = async (): Promise<void> => {
    for (const item of remaining) await work(item).catch(error => failures.push(error));
  };
  await Promise.all(Array.from({ length: limit }, runWorker));
  if (failures.length > 0) throw failures[0];
}
