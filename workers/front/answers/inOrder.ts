/**
 * Runs `work` on every item and yields the results in the order of the items. At most `ahead` items are being worked on
 * or wait to be taken: the next one begins when the consumer asks for another result. A consumer that ends early leaves
 * at most `ahead` pieces of work to end by themselves. Throws the errors of `work`, in their place.
 */
export async function* inOrder<T, R>(
  items: Iterable<T>,
  ahead: number,
  work: (item: T) => Promise<R> | R,
): AsyncGenerator<R> {
  const begun: (Promise<R> | R)[] = [];
  const source = items[Symbol.iterator]();
  const begin = (): void => {
    const next = source.next();
    if (next.done) return;
    const result = work(next.value);
    // The work may fail before its turn, or after the caller has stopped waiting for it.
    if (result instanceof Promise) result.catch(() => undefined);
    begun.push(result);
  };
  while (begun.length < ahead) {
    const before = begun.length;
    begin();
    if (begun.length === before) break;
  }
  while (begun.length > 0) {
    yield await begun.shift()!;
    begin();
  }
}
