import { expect, it } from 'vitest';
import type { StoreEvent } from '../../core/api/index.js';
import { Tail } from '../../plugins/storage/engine/tail.js';
import { countKept } from '../support/garbage.js';

it('events that are removed from the tail are freed, also large ones of which there are few', async () => {
  const tail = new Tail(0, 10_000);
  const pushed: WeakRef<object>[] = [];
  for (let revision = 1; revision <= 500; revision++) {
    const value = new Uint8Array(1000);
    const event: StoreEvent = { type: 'put', key: 'a', revision, created: 1, version: revision, value };
    pushed.push(new WeakRef(event));
    tail.push([event]);
  }
  const kept = await countKept(pushed);
  expect(kept).toBeLessThan(10);
  expect(tail.read(500 - kept, 100)!.map(({ revision }) => revision)).toEqual(
    Array.from({ length: kept }, (_, i) => 501 - kept + i),
  );
  expect(tail.read(500 - kept - 1, 100)).toBeUndefined();
});
