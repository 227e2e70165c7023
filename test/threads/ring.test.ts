import { expect, test } from 'vitest';
import { createRing, Ring } from '../../core/threads/messages/ring.js';

/** Both ends of a ring. */
function setUp(): { writer: Ring; reader: Ring } {
  const memory = createRing();
  return { writer: new Ring(memory), reader: new Ring(memory) };
}

const message = (number: number, length: number): Uint8Array => new Uint8Array(length).fill(number);

/** True if the next message is `expected`. */
const reads = (reader: Ring, number: number, expected: Uint8Array): boolean =>
  Buffer.from(reader.read(number) ?? 'none').equals(expected);

test('messages are read as they were written, also those that begin at the end of the memory', () => {
  const { writer, reader } = setUp();
  let written = 0;
  let read = 0;
  // Lengths without a common divisor: over time every position is the first of a message.
  const lengthOf = (number: number): number => (number * 7919) % 30_011;
  while (written < 2000) {
    while (writer.write(written, message(written, lengthOf(written)))) written++;
    for (; read < written - 3; read++) expect(reads(reader, read, message(read, lengthOf(read)))).toBe(true);
  }
  for (; read < written; read++) expect(reads(reader, read, message(read, lengthOf(read)))).toBe(true);
  expect([reader.read(read), reader.isEmpty]).toEqual([undefined, true]);
});

test('a full ring accepts no message until one is read, and loses none', () => {
  const { writer, reader } = setUp();
  const large = message(1, 200_000);
  expect([writer.write(0, large), writer.write(1, large)]).toEqual([true, false]);
  expect(reads(reader, 0, large)).toBe(true);
  expect([writer.write(1, large), reads(reader, 1, large)]).toEqual([true, true]);
  expect(writer.write(2, message(2, 2 ** 20))).toBe(false);
});

test('a message is read only with its number', () => {
  const { writer, reader } = setUp();
  writer.write(7, message(7, 10));
  expect([reader.read(6), reader.isEmpty]).toEqual([undefined, false]);
  expect(reads(reader, 7, message(7, 10))).toBe(true);
});
