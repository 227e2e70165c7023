import type { Stored } from '../../api/storage.js';

/**
 * A snapshot: every object of a store at one revision, in one file.
 *
 *   `capstan-snapshot 3 {"revision":…,"objects":…,"store":…,"created":…}` and a line feed,
 *   blocks: number of bytes (4), then as many bytes of MessagePack: an array of rows, each an array of key, value,
 *   revision that created the object, revision that last changed it, and its version (how many changes since then),
 *   an end mark (4 bytes of 0), the number of objects (8), SHA-256 of everything before it (32).
 *
 * The numbers outside of blocks are big-endian. Keys are in neutral names, independent of the server's naming.
 *
 * Formats 1 and 2 are still read. In both, custom kinds have the keys of built-in ones (core/schema/storageLayout.ts);
 * format 1 has rows of a fixed layout instead of blocks (rows1.ts).
 */
export interface SnapshotHeader {
  readonly revision: number;
  readonly objects: number;
  /** Name of the storage backend. */
  readonly store: string;
  /** Time of the snapshot (RFC 3339). */
  readonly created: string;
}

/** Thrown for a file that is not a snapshot, is damaged or is incomplete. The message begins with "it". */
export class SnapshotError extends Error {}

/** The beginning of every snapshot, followed by the format number and the header. */
export const MAGIC = 'capstan-snapshot ';
/** The format that is written. */
export const FORMAT = 3;
/** Maximum length of the first line. */
export const HEADER_BYTES = 4096;
/** Size of the end mark and the number of objects. */
export const TRAILER_BYTES = 12;
/** Size of the digest, which follows the trailer. */
export const DIGEST_BYTES = 32;

/** A part of a snapshot that was read at a position after the header. */
export type Part =
  /** Objects, and the number of bytes they occupy. */
  | { readonly is: 'objects'; readonly objects: readonly Stored[]; readonly length: number }
  /** There are not enough bytes to read the next part. */
  | { readonly is: 'incomplete' }
  | { readonly is: 'end' };

/** Reads the part at a position. Throws SnapshotError if the bytes are invalid. */
export type PartReader = (bytes: Buffer, at: number) => Part;

/** Creates the error for invalid bytes. */
export const damagedError = (what: string): SnapshotError => new SnapshotError(`it is damaged: ${what}`);
