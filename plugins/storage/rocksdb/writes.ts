import { Reader } from './reader.js';

/** A write to a database, as its files have it. */
export interface Write {
  readonly key: Buffer;
  /** Of two writes to a key, the one with the greater number is the later one. */
  readonly sequence: number;
  /** Undefined for a removal. */
  readonly value: Buffer | undefined;
}

/** Before the writes of a record in a log: the number of the first one (8 bytes), and their count (4). */
const HEADER = 12;
/** The first byte of each write in RocksDB's format. */
const TYPES = { removal: 0, put: 1, log: 3, singleRemoval: 7 };

/** The writes in a record of RocksDB's log. Throws RangeError if it has others than puts and removals. */
export function* writesIn(record: Buffer): Generator<Write> {
  let sequence = Number(record.readBigUInt64LE(0));
  const reader = new Reader(record, HEADER);
  while (!reader.isAtEnd) {
    const type = reader.bytes(1)[0];
    switch (type) {
      case TYPES.put:
        yield { key: reader.bytes(), sequence: sequence++, value: reader.bytes() };
        break;
      case TYPES.removal:
      case TYPES.singleRemoval:
        yield { key: reader.bytes(), sequence: sequence++, value: undefined };
        break;
      case TYPES.log:
        reader.bytes();
        break;
      default:
        throw new RangeError(`a write has the unknown type ${type}`);
    }
  }
}
