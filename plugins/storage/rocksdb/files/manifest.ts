import { readRecords } from '../log/logFile.js';
import { Reader } from '../reader.js';

/** The files of a database, as its manifest lists them. */
export interface Manifest {
  /** Sizes of the tables in bytes, by number. */
  readonly tables: ReadonlyMap<number, number>;
  /** Logs with lower numbers are obsolete: tables have their records. */
  readonly firstLog: number;
}

/** Tags of the fields of an edit. Fields with other tags are ignored if they say that they may be. */
const TAG = {
  comparator: 1,
  logNumber: 2,
  nextFile: 3,
  lastSequence: 4,
  compactPointer: 5,
  deletedFile: 6,
  previousLog: 9,
  minLogToKeep: 10,
  newFile: 103,
  columnFamily: 200,
  maxColumnFamily: 203,
} as const;
/** RocksDB sets this bit in tags that a reader which does not know them may skip. */
const IGNORABLE = 1 << 13;
/** Ends the list of optional fields of a table. */
const END_OF_FIELDS = 1;

/**
 * Reads a manifest up to its first damage, as RocksDB does. Undefined if it cannot be read, or has an edit that this
 * program does not know.
 */
export async function readManifest(file: string): Promise<Manifest | undefined> {
  const found = { tables: new Map<number, number>(), firstLog: 0 };
  try {
    for await (const edit of readRecords(file)) if (!applyEdit(edit, found)) return undefined;
  } catch {
    return undefined;
  }
  return found;
}

/** Applies an edit. Returns false if it has a field that is unknown and may not be ignored. */
function applyEdit(edit: Buffer, found: { tables: Map<number, number>; firstLog: number }): boolean {
  const reader = new Reader(edit);
  while (!reader.isAtEnd) {
    const tag = reader.varint();
    switch (tag) {
      case TAG.logNumber:
        found.firstLog = Math.max(found.firstLog, reader.varint());
        break;
      case TAG.deletedFile:
        reader.varint();
        found.tables.delete(reader.varint());
        break;
      case TAG.newFile:
        addTable(reader, found.tables);
        break;
      case TAG.comparator:
        reader.bytes();
        break;
      case TAG.compactPointer:
        reader.varint();
        reader.bytes();
        break;
      case TAG.nextFile:
      case TAG.lastSequence:
      case TAG.previousLog:
      case TAG.minLogToKeep:
      case TAG.columnFamily:
      case TAG.maxColumnFamily:
        reader.varint();
        break;
      default:
        if ((tag & IGNORABLE) === 0) return false;
        reader.bytes();
    }
  }
  return true;
}

function addTable(reader: Reader, tables: Map<number, number>): void {
  reader.varint();
  const number = reader.varint();
  tables.set(number, reader.varint());
  // The first and last key of the table, and their sequence numbers.
  reader.bytes();
  reader.bytes();
  reader.varint();
  reader.varint();
  while (reader.varint() !== END_OF_FIELDS) reader.bytes();
}
