import { open, readFile } from 'node:fs/promises';

/** The result of the check of a log: a write-ahead log or a manifest. */
export interface LogReport {
  readonly bytes: number;
  /** The number of valid records. */
  readonly records: number;
  /** Position of the first invalid record; undefined if there is none. */
  readonly damagedAt?: number;
  /**
   * Whether a complete write follows the damage. If so, the damage is not a write torn by a crash, and durable data is
   * lost: a write starts only after the previous one has reached the disk.
   */
  readonly followedByWrite: boolean;
}

/** RocksDB's logs consist of blocks of 32 KB with records that do not cross block boundaries. */
const BLOCK = 32 * 1024;
/** A record's header: checksum (4 bytes), length (2), type (1). */
const HEADER = 7;
/** Types from 5 are like 1 to 4, but with the number of the log (4 bytes) in the header. */
const RECYCLED = 5;
const LAST_TYPE = 8;
/** Types of records that start a write: full, or the first part. */
const WRITE_STARTS = new Set([1, 2, 5, 6]);
/** Blocks read at once. */
const READ_BLOCKS = 32;

const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  let value = n;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0x82f63b78 : value >>> 1;
  return value;
});

/** CRC-32C as RocksDB stores it: rotated and offset, because checksums of data that contains checksums are weak. */
export function maskedCrc(bytes: Uint8Array, from: number, to: number): number {
  let crc = 0xffffffff;
  for (let i = from; i < to; i++) crc = TABLE[(crc ^ bytes[i]!) & 0xff]! ^ (crc >>> 8);
  crc = ~crc >>> 0;
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

/** Reads a log and verifies all records. The log must not be in use. */
export async function checkLog(file: string): Promise<LogReport> {
  const scan = new LogScan();
  const handle = await open(file, 'r');
  try {
    const buffer = Buffer.allocUnsafe(BLOCK * READ_BLOCKS);
    let at = 0;
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, at);
      if (bytesRead === 0) break;
      for (let from = 0; from < bytesRead; from += BLOCK)
        scan.scanBlock(buffer.subarray(from, Math.min(from + BLOCK, bytesRead)), at + from);
      at += bytesRead;
    }
    return { bytes: at, records: scan.records, damagedAt: scan.damagedAt, followedByWrite: scan.followedByWrite };
  } finally {
    await handle.close();
  }
}

class LogScan {
  records = 0;
  damagedAt: number | undefined;
  followedByWrite = false;

  scanBlock(bytes: Buffer, offset: number): void {
    for (let at = 0; at + HEADER <= bytes.length; ) {
      const length = bytes.readUInt16LE(at + 4);
      const type = bytes[at + 6]!;
      const end = at + (type >= RECYCLED ? HEADER + 4 : HEADER) + length;
      const valid =
        type > 0 &&
        type <= LAST_TYPE &&
        end <= bytes.length &&
        maskedCrc(bytes, at + 6, end) === bytes.readUInt32LE(at);
      if (valid) {
        this.records++;
        if (this.damagedAt !== undefined && WRITE_STARTS.has(type)) this.followedByWrite = true;
      } else {
        this.damagedAt ??= offset + at;
        // If the length is damaged, the rest of the block cannot be parsed.
        if (type === 0 || end > bytes.length) return;
      }
      at = end;
    }
  }
}

/** Types of the parts of a record: full, first, middle, last; others of recycled logs follow in the same order. */
const FIRST = 2;
const LAST = 4;

/** The records of a log, in order, up to the first that is incomplete or damaged. The log must not be in use. */
export async function* readRecords(file: string): AsyncGenerator<Buffer> {
  const log = await readFile(file);
  let parts: Buffer[] = [];
  for (let at = 0; at + HEADER <= log.length; ) {
    const left = BLOCK - (at % BLOCK);
    // A block ends with zeros if no header fits.
    if (left < HEADER) {
      at += left;
      continue;
    }
    const part = partAt(log, at);
    if (!part) return;
    at = part.end;
    parts.push(part.content);
    if (part.type < LAST && part.type >= FIRST) continue;
    yield parts.length === 1 ? parts[0]! : Buffer.concat(parts);
    parts = [];
  }
}

/** The part of a record at a position; undefined if it is incomplete or damaged. */
function partAt(log: Buffer, at: number): { type: number; content: Buffer; end: number } | undefined {
  const type = log[at + 6]!;
  const start = at + HEADER + (type >= RECYCLED ? 4 : 0);
  const end = start + log.readUInt16LE(at + 4);
  if (type === 0 || type > LAST_TYPE || end > log.length || maskedCrc(log, at + 6, end) !== log.readUInt32LE(at))
    return undefined;
  return { type: type >= RECYCLED ? type - RECYCLED + 1 : type, content: log.subarray(start, end), end };
}
