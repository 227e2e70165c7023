import { metaKey, type Records, type Row } from './records.js';

/** Reads the rows of a store whose files may be damaged, as far as they are readable. */
export class Salvage {
  /** Messages of failed reads, without duplicates. */
  readonly failures = new Set<string>();

  constructor(readonly records: Records) {}

  /** A record of the store itself; undefined if it is missing or unreadable. */
  async meta(name: Parameters<typeof metaKey>[0]): Promise<Buffer | undefined> {
    const [row] = await this.getMany([metaKey(name)]);
    return row;
  }

  /** Like `Records.getMany`, but with undefined for unreadable values. */
  async getMany(keys: readonly Buffer[]): Promise<(Buffer | undefined)[]> {
    try {
      return await this.records.getMany(keys);
    } catch (error) {
      if (keys.length === 1) {
        this.failures.add((error as Error).message);
        return [undefined];
      }
      const rows: (Buffer | undefined)[] = [];
      for (const key of keys) rows.push(...(await this.getMany([key])));
      return rows;
    }
  }

  /** Visits rows in order and skips unreadable ones. Returns whether all were readable. */
  async scan(from: Buffer, to: Buffer, visit: (row: Row) => void): Promise<boolean> {
    let complete = true;
    let next: Buffer | undefined = from;
    let last = from;
    while (next) {
      const failed = await this.#scanUntilFailure(next, to, row => {
        last = row.key;
        visit(row);
      });
      if (!failed) return complete;
      complete = false;
      next = await this.#firstReadableAfter(last, to);
      if (next) last = next;
    }
    return false;
  }

  /**
   * Visits rows up to a failed read. Returns whether one failed. A failed read also loses the rows before the damage,
   * so it is repeated row by row.
   */
  async #scanUntilFailure(from: Buffer, to: Buffer, visit: (row: Row) => void): Promise<boolean> {
    let at = from;
    for (const bytes of [undefined, 1]) {
      try {
        for await (const rows of this.records.scan(at, to, bytes)) {
          for (const row of rows) visit(row);
          at = keyAfter(rows.at(-1)!.key);
        }
        return false;
      } catch (error) {
        this.failures.add((error as Error).message);
      }
    }
    return true;
  }

  /** The first position after `last` that is readable, found by bisection. */
  async #firstReadableAfter(last: Buffer, to: Buffer): Promise<Buffer | undefined> {
    const precision = Math.max(last.length, MIN_KEY_BYTES);
    let low = last;
    let high = to;
    for (let middle = midpoint(low, high, precision); middle; middle = midpoint(low, high, precision)) {
      if (await this.#isReadable(middle, to)) high = middle;
      else low = middle;
    }
    return high === to ? undefined : high;
  }

  async #isReadable(from: Buffer, to: Buffer): Promise<boolean> {
    try {
      for await (const _ of this.records.scan(from, to, 1)) break;
      return true;
    } catch {
      return false;
    }
  }
}

/** Minimum length in bytes of the keys that a bisection distinguishes. */
const MIN_KEY_BYTES = 40;
/** Bytes after the common prefix of two keys that one step of a bisection considers. */
const STEP_BYTES = 8;

/** A key about halfway between two; undefined if there is none of at most `precision` bytes. */
function midpoint(low: Buffer, high: Buffer, precision: number): Buffer | undefined {
  let common = 0;
  while (common < high.length && (low[common] ?? 0) === high[common]) common++;
  const length = Math.min(common + STEP_BYTES, precision);
  const [a, b] = [low, high].map(key =>
    BigInt(`0x${Buffer.concat([key, Buffer.alloc(length)], length).toString('hex')}`),
  );
  const middle = (a! + b!) / 2n;
  return middle === a ? undefined : Buffer.from(middle.toString(16).padStart(2 * length, '0'), 'hex');
}

const keyAfter = (key: Buffer): Buffer => Buffer.concat([key, Buffer.of(0)]);
