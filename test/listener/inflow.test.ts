import { expect, test } from 'vitest';
import { BodyParts } from '../../core/runtime/bodyParts.js';
import { nextTurn } from '../../core/runtime/timers.js';
import { BodyReader } from '../../plugins/listener/inflow/bodyReader.js';

/** Bytes that differ from their neighbours. */
const pattern = (length: number): Buffer => Buffer.from(Array.from({ length }, (_, i) => i % 251));

test('parts of any size are collected in order, small ones in little memory', () => {
  const sent = pattern(400_000);
  const parts = new BodyParts();
  const sizes = [1, 1, 5000, 1, 1, 1023, 1024, ...Array.from({ length: 100_000 }, () => 1)];
  let at = 0;
  for (const size of sizes) parts.add(sent.subarray(at, (at += size)));
  parts.add(sent.subarray(at));
  expect(parts.size).toBe(sent.length);
  expect(Buffer.compare(parts.take(), sent)).toBe(0);
  expect([parts.size, parts.take().length]).toEqual([0, 0]);
});

test('a single part is not copied, also after others were removed', () => {
  const parts = new BodyParts();
  for (const part of [pattern(10), pattern(2000)]) {
    parts.add(part);
    expect(parts.take()).toBe(part);
  }
  parts.add(pattern(10));
  parts.add(pattern(10));
  parts.clear();
  const last = pattern(5);
  parts.add(last);
  expect(parts.take()).toBe(last);
});

test('parts that arrive while a sink is busy are passed on together and in order, before the sink is closed', async () => {
  const sent = pattern(200_000);
  const flow: string[] = [];
  const writes: Uint8Array[] = [];
  const release: (() => void)[] = [];
  let isClosed = false;
  const reader = new BodyReader(
    {
      write: bytes => {
        writes.push(bytes);
        return new Promise(resolve => release.push(resolve));
      },
      close: () => {
        isClosed = true;
      },
      abort: error => {
        throw error;
      },
    },
    { pause: () => flow.push('pause'), resume: () => flow.push('resume') },
  );
  for (let at = 0; at < 100_000; at++) reader.take(sent.subarray(at, at + 1));
  release[0]!();
  await nextTurn();
  expect(writes.map(({ length }) => length)).toEqual([1, 99_999]);
  for (let at = 100_000; at < 200_000; at++) reader.take(sent.subarray(at, at + 1), at === 199_999);
  release[1]!();
  await nextTurn();
  expect([writes.length, isClosed]).toEqual([3, false]);
  release[2]!();
  await nextTurn();
  expect(isClosed).toBe(true);
  expect(Buffer.compare(Buffer.concat(writes), sent)).toBe(0);
  expect(flow).toEqual(['pause']);
});
