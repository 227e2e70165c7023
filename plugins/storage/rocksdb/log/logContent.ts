import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StoreError } from '../../../../core/api/index.js';
import { REMEDY, readRevision } from '../../engine/records.js';
import { ALIGNMENT, type Found, findRecord, type Operation, operationsOf, RECORD_HEADER } from '../record.js';
import { decodeHeader, encodeHeader, logPath, SEGMENT_HEADER, type SegmentHeader, segmentFiles } from './segment.js';

/** How far the number of a record after damage can be above the expected number. */
const SEARCH_RANGE = 2 ** 32;

/** The content of the log of a closed store. */
export interface LogContent {
  readonly store: string;
  /** All files, including those that are not in use. */
  readonly files: readonly string[];
  /** The newest generation. */
  readonly generation: number;
  /** The number of the first record, or of the next one if there is none. */
  readonly first: number;
  /** The number of the last record before the end or the damage; first - 1 if there is none. */
  readonly last: number;
  readonly bytes: number;
  /** The description of damage that has lost durable records; undefined if there is none. */
  readonly damage?: string;
  /** The highest number of any valid record, including those after damage. */
  readonly highest: number;
  /**
   * The operations of all records in order. With `salvage`, including those that follow damage. The segments are read
   * again.
   */
  operations(options?: { readonly salvage: boolean }): AsyncGenerator<readonly Operation[]>;
}

/** Whether a log has records, which the database may not have. */
export const hasRecords = (log: LogContent | undefined): log is LogContent =>
  log !== undefined && (log.highest >= log.first || log.damage !== undefined);

interface NamedHeader extends SegmentHeader {
  readonly path: string;
}

/**
 * Reads the log in a store's directory; undefined if there is none. Changes nothing. An incomplete record at the end,
 * which a crash has interrupted, is not part of the log: it was not acknowledged. One that other records follow was
 * acknowledged: it is damage. Throws StoreError if a header is damaged.
 */
export async function readLog(path: string): Promise<LogContent | undefined> {
  const directory = logPath(path);
  const files = (await segmentFiles(directory)).map(file => join(directory, file));
  const headers: NamedHeader[] = [];
  for (const file of files) {
    const header = await readHeader(file);
    if (header) headers.push({ ...header, path: file });
  }
  if (headers.length === 0) return undefined;
  headers.sort((a, b) => a.generation - b.generation);
  const newest = headers.at(-1)!;
  const segments = newest.closed ? [] : selectNeeded(headers, newest);
  const scan = new Scan((segments[0] ?? newest).first);
  scan.compareStores(segments, newest);
  for (const segment of segments) scan.scanSegment(segment, await readFile(segment.path));
  return {
    store: newest.store,
    files,
    generation: newest.generation,
    first: (segments[0] ?? newest).first,
    last: scan.last,
    bytes: scan.bytes,
    damage: scan.damage && `${directory} is damaged: ${scan.damage}`,
    highest: scan.highest,
    async *operations({ salvage } = { salvage: false }) {
      for (const segment of segments) {
        const bytes = await readFile(segment.path);
        for (const record of recordsOf(bytes, segment))
          if (record.sequence <= scan.last || salvage) yield [...operationsOf(bytes, record)];
      }
    },
  };
}

/**
 * The segments with consecutive generations up to the newest one. The database may no longer need the oldest of them.
 * Earlier segments were removed or reused because the database did not need them; if it does, its position shows that.
 */
function selectNeeded(headers: readonly NamedHeader[], newest: NamedHeader): readonly NamedHeader[] {
  let from = headers.length - 1;
  while (from > 0 && headers[from - 1]!.generation === headers[from]!.generation - 1) from--;
  return headers.slice(from).filter(({ generation }) => generation >= newest.oldest);
}

/** Reads a header; undefined for a file that was never begun. Throws StoreError if it is damaged. */
async function readHeader(file: string): Promise<SegmentHeader | undefined> {
  const handle = await open(file, 'r');
  try {
    const bytes = Buffer.alloc(SEGMENT_HEADER + ALIGNMENT);
    await handle.read(bytes, 0, bytes.length, 0);
    const header = decodeHeader(bytes);
    // A header is durable before the first record is written.
    if (!header && bytes.some(byte => byte !== 0))
      throw new StoreError(`${file} is damaged: its header is invalid; ${REMEDY}`);
    return header;
  } finally {
    await handle.close();
  }
}

/** The valid records of a segment in order, including those after damage. */
function* recordsOf(bytes: Buffer, header: SegmentHeader): Generator<Found> {
  const { seed } = encodeHeader(header);
  let expected = header.first;
  for (let at: number | undefined = SEGMENT_HEADER; at !== undefined; ) {
    const found = findRecord(bytes, at, seed);
    if (found && found.sequence >= expected) {
      expected = found.sequence + 1;
      at = found.end;
      yield found;
    } else at = nextCandidate(bytes, at + ALIGNMENT, expected);
  }
}

/** The next position at which a record may begin, by its number. */
function nextCandidate(bytes: Buffer, from: number, expected: number): number | undefined {
  for (let at = from; at + RECORD_HEADER <= bytes.length; at += ALIGNMENT) {
    // Most skipped bytes are zeros, or records of an earlier generation.
    if (bytes[at + 15] === 0 && bytes[at + 14] === 0 && bytes[at + 13] === 0 && bytes[at + 12] === 0) continue;
    const sequence = readRevision(bytes, at + 8);
    if (sequence >= expected && sequence < expected + SEARCH_RANGE) return at;
  }
  return undefined;
}

/** Follows the records of the needed segments, and notices gaps between them. */
class Scan {
  last: number;
  highest: number;
  bytes = 0;
  damage: string | undefined;

  constructor(first: number) {
    this.last = this.highest = first - 1;
  }

  /** Checks that all segments belong to one store. */
  compareStores(segments: readonly NamedHeader[], { store }: NamedHeader): void {
    const foreign = segments.find(header => header.store !== store);
    if (foreign) this.damage = `${foreign.path} belongs to the store ${foreign.store}, not to ${store}`;
  }

  scanSegment(header: NamedHeader, bytes: Buffer): void {
    if (header.first > this.last + 1) this.#lost(header.path, header.first - 1);
    let end = SEGMENT_HEADER;
    for (const record of recordsOf(bytes, header)) {
      if (record.sequence === this.last + 1 && this.damage === undefined) this.last = record.sequence;
      else this.#lost(`${header.path} at byte ${end}`, record.sequence - 1);
      this.highest = Math.max(this.highest, record.sequence);
      end = record.end;
    }
    this.bytes += end - SEGMENT_HEADER;
  }

  #lost(where: string, to: number): void {
    const from = this.last + 1;
    const what = from === to ? `record ${from} is` : `records ${from} to ${to} are`;
    this.damage ??= `${where}: ${what} missing or damaged, and later ones follow`;
  }
}
