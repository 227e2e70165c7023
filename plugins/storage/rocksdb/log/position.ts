import { readRevision, type Records, writeRevision } from '../../engine/records.js';

/** The last record of the commit log that a database contains. */
export interface Position {
  readonly sequence: number;
  /** Whether the database was closed with all records of the log: then it is complete without the log. */
  readonly closed: boolean;
}

/** The key of the row with the position, which is in every batch that is written from the log. */
export const POSITION_KEY = Buffer.from('m/log');

/** Content of the row. */
export function encodePosition({ sequence, closed }: Position): Buffer {
  const row = Buffer.alloc(9);
  writeRevision(row, sequence, 0);
  row[8] = closed ? 1 : 0;
  return row;
}

/** Reads the position of a database; undefined if it never had a log. */
export async function readPosition(database: Records): Promise<Position | undefined> {
  const [row] = await database.getMany([POSITION_KEY]);
  return row && { sequence: readRevision(row, 0), closed: row[8] === 1 };
}
