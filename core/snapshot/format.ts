import type { Stored } from '../api/storage.js';

/**
 * Where a running server gives a snapshot of its store: a path like any other, so that whoever may read it is a matter
 * of authorization (verb get).
 */
export const SNAPSHOT_PATH = '/store/snapshot';

/**
 * A snapshot: every object of a store at one revision, in one file.
 *
 *   `capstan-snapshot 2 {"revision":…,"objects":…,"store":…,"created":…}` and a line feed,
 *   blocks: number of bytes (4), then as many bytes of MessagePack: an array of rows, each an array of key, value,
 *   revision that created the object, revision that last changed it, and its version (how many changes since then),
 *   an end mark (4 bytes of 0), the number of objects (8), SHA-256 of everything before it (32).
 *
 * The numbers outside of blocks are big-endian. Keys are in neutral names, whatever names the server speaks.
 *
 * Format 1, which is still read, has rows of a fixed layout instead of blocks (rows1.ts).
 */
export interface SnapshotHeader {
  readonly revision: number;
  readonly objects: number;
  /** Name of the backend it was taken from. */
  readonly store: string;
  /** When it was taken: an RFC 3339 time. */
  readonly created: string;
}

/** A file that is no snapshot, or a damaged or incomplete one. The message begins with "it". */
export class SnapshotError extends Error {}

/** Begins every snapshot; the format's number and the header follow. */
export const MAGIC = 'capstan-snapshot ';
/** The format that is written. */
export const FORMAT = 2;
/** Bytes that the first line may have. */
export const HEADER_BYTES = 4096;
/** Bytes of the end mark and the number of objects. */
export const TRAILER_BYTES = 12;
/** Bytes of the digest, which follows the trailer. */
export const DIGEST_BYTES = 32;

/** What stands at a place behind the header. */
export type Piece =
  /** Objects, and the number of bytes that they take. */
  | { readonly is: 'objects'; readonly objects: readonly Stored[]; readonly length: number }
  /** The bytes end before the piece does. */
  | { readonly is: 'incomplete' }
  | { readonly is: 'end' };

/** Reads the piece at a place. Throws SnapshotError if none can be there. */
export type PieceReader = (bytes: Buffer, at: number) => Piece;

/** The refusal of bytes that cannot be what their place says. */
export const damaged = (what: string): SnapshotError => new SnapshotError(`it is damaged: ${what}`);
