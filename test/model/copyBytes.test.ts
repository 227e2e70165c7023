import fc from 'fast-check';
import { expect, it } from 'vitest';
import { copyBytes } from '../../core/runtime/copyBytes.js';

it('copies exactly the bytes, however many and whether shared or not', () => {
  const size = fc.integer({ min: 0, max: 2000 });
  fc.assert(
    fc.property(size, size, size, fc.boolean(), fc.boolean(), (at, length, after, isShared, isSharedSource) => {
      const memory = (bytes: number, shared: boolean) =>
        Buffer.from(shared ? new SharedArrayBuffer(bytes) : new ArrayBuffer(bytes));
      const from = memory(length, isSharedSource).map((_, i) => i % 251);
      const to = memory(at + length + after, isShared);
      copyBytes(to, at, from);
      const expected = Buffer.concat([Buffer.alloc(at), Buffer.from(from), Buffer.alloc(after)]);
      expect(Buffer.compare(Buffer.from(to), expected)).toBe(0);
    }),
  );
});
