import { crc32 } from 'node:zlib';
import { readRevision, writeRevision } from '../engine/records.js';

/**
 * A record of the commit log is one batch: a checksum of the rest (4 bytes, CRC-32 seeded by the segment), the length
 * of the operations (4), the sequence number (8), the operations. Each operation is the length of the key (4), the
 * length of the value plus one, or 0 for a removal (4), key and value. Records begin at multiples of ALIGNMENT.
 */
export const RECORD_HEADER = 16;
/** Where records may begin, so that a search for them is fast. */
export const ALIGNMENT = 8;
const OPERATION_HEADER = 8;

/** A put, or a removal if there is no value. */
export interface Operation {
  readonly key: Buffer;
  readonly value: Buffer | undefined;
}

/** A record that was read. `end` is the position of the next one. */
export interface Found {
  readonly sequence: number;
  readonly at: number;
  readonly end: number;
}

const align = (bytes: number): number => Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;

/** Bytes of an operation in a record. */
export const operationBytes = (key: Buffer, value: Buffer | undefined): number =>
  OPERATION_HEADER + key.length + (value?.length ?? 0);

/** Bytes of a record with operations of this many bytes. */
export const recordBytes = (operations: number): number => align(RECORD_HEADER + operations);

/** Encodes a record at the beginning of `to`, which has room for it. Returns its length. */
export function encodeRecord(to: Buffer, sequence: number, operations: readonly Operation[], seed: number): number {
  let at = RECORD_HEADER;
  for (const { key, value } of operations) {
    to.writeUInt32LE(key.length, at);
    to.writeUInt32LE(value ? value.length + 1 : 0, at + 4);
    to.set(key, at + OPERATION_HEADER);
    at += OPERATION_HEADER + key.length;
    if (!value) continue;
    to.set(value, at);
    at += value.length;
  }
  to.writeUInt32LE(at - RECORD_HEADER, 4);
  writeRevision(to, sequence, 8);
  to.writeUInt32LE(crc32(to.subarray(4, at), seed), 0);
  const end = align(at);
  to.fill(0, at, end);
  return end;
}

/** The record at a position; undefined if there is none that is complete and valid. */
export function findRecord(segment: Buffer, at: number, seed: number): Found | undefined {
  if (at + RECORD_HEADER > segment.length) return undefined;
  const end = at + RECORD_HEADER + segment.readUInt32LE(at + 4);
  if (end > segment.length || crc32(segment.subarray(at + 4, end), seed) !== segment.readUInt32LE(at)) return undefined;
  return { sequence: readRevision(segment, at + 8), at, end: align(end) };
}

/** The operations of a valid record. They refer to the bytes of the segment. */
export function* operationsOf(segment: Buffer, { at }: Found): Generator<Operation> {
  const end = at + RECORD_HEADER + segment.readUInt32LE(at + 4);
  for (let from = at + RECORD_HEADER; from < end; ) {
    const value = from + OPERATION_HEADER + segment.readUInt32LE(from);
    const length = segment.readUInt32LE(from + 4);
    const key = segment.subarray(from + OPERATION_HEADER, value);
    from = value + Math.max(0, length - 1);
    yield { key, value: length === 0 ? undefined : segment.subarray(value, from) };
  }
}
