import { open } from 'node:fs/promises';

/** What a log of the database (the write-ahead log, or the list of its files) was found to be. */
export interface LogReport {
  readonly bytes: number;
  /** Whole records. */
  readonly records: number;
  /** Where the first unreadable record begins; undefined if there is none. */
  readonly damagedAt?: number;
  /**
   * A whole write follows the damage. A write begins only after the one before it is on the disk, so the damage is no
   * torn end of a crash: something that was durable is gone.
   */
  readonly resumes: boolean;
}

/**
 * Layout of RocksDB's logs: blocks of 32 KB, records that do not cross them; a header of checksum (4), length (2), type
 * (1).
 */
const BLOCK = 32 * 1024;
const HEADER = 7;
/** Types from 5 on are the same as 1 to 4 with the number of the log (4 bytes) in the header. */
const RECYCLED = 5;
const LAST_TYPE = 8;
/** A whole record, or the first part of one. */
const BEGINS = new Set([1, 2, 5, 6]);
/** Blocks read at once. */
const READ_BLOCKS = 32;

const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  let value = n;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0x82f63b78 : value >>> 1;
  return value;
});

/** CRC-32C as RocksDB stores it: rotated and offset, so that checksums of data with checksums in it stay good. */
export function maskedCrc(bytes: Uint8Array, from: number, to: number): number {
  let crc = 0xffffffff;
  for (let i = from; i < to; i++) crc = TABLE[(crc ^ bytes[i]!) & 0xff]! ^ (crc >>> 8);
  crc = ~crc >>> 0;
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

/** Reads a whole log and verifies every record. The log must not be in use. */
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
        scan.block(buffer.subarray(from, Math.min(from + BLOCK, bytesRead)), at + from);
      at += bytesRead;
    }
    return { bytes: at, records: scan.records, damagedAt: scan.damagedAt, resumes: scan.resumes };
  } finally {
    await handle.close();
  }
}

class LogScan {
  records = 0;
  damagedAt: number | undefined;
  resumes = false;

  block(bytes: Buffer, offset: number): void {
    for (let at = 0; at + HEADER <= bytes.length; ) {
      const length = bytes.readUInt16LE(at + 4);
      const type = bytes[at + 6]!;
      const end = at + (type >= RECYCLED ? HEADER + 4 : HEADER) + length;
      const sound =
        type > 0 &&
        type <= LAST_TYPE &&
        end <= bytes.length &&
        maskedCrc(bytes, at + 6, end) === bytes.readUInt32LE(at);
      if (sound) {
        this.records++;
        if (this.damagedAt !== undefined && BEGINS.has(type)) this.resumes = true;
      } else {
        this.damagedAt ??= offset + at;
        // The length may be what is damaged: then the rest of the block says nothing.
        if (type === 0 || end > bytes.length) return;
      }
      at = end;
    }
  }
}
