import { metaKey, type Records, type Row } from './records.js';

/** Rows of a store whose files may be damaged: reads what can be read and keeps count of what cannot. */
export class Salvage {
  /** Why reads failed, each reason once. */
  readonly failures = new Set<string>();

  constructor(readonly records: Records) {}

  /** A record of the store itself; undefined if it is not there or not readable. */
  async meta(name: Parameters<typeof metaKey>[0]): Promise<Buffer | undefined> {
    const [row] = await this.getMany([metaKey(name)]);
    return row;
  }

  /** As of `Records`, with undefined for what cannot be read. */
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

  /**
   * Visits rows in order. After a failed read it goes on behind what cannot be read; false if there was one.
   */
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
      next = await this.#behind(last, to);
      if (next) last = next;
    }
    return false;
  }

  /**
   * True if a read failed. A failed read takes the rows before it along, so it is repeated row by row up to the
   * failure.
   */
  async #scanUntilFailure(from: Buffer, to: Buffer, visit: (row: Row) => void): Promise<boolean> {
    let at = from;
    for (const bytes of [undefined, 1]) {
      try {
        for await (const rows of this.records.scan(at, to, bytes)) {
          for (const row of rows) visit(row);
          at = after(rows.at(-1)!.key);
        }
        return false;
      } catch (error) {
        this.failures.add((error as Error).message);
      }
    }
    return true;
  }

  /** The nearest position behind `last` from which reading works, found by bisection. */
  async #behind(last: Buffer, to: Buffer): Promise<Buffer | undefined> {
    const precision = Math.max(last.length, PRECISION);
    let low = last;
    let high = to;
    for (let middle = between(low, high, precision); middle; middle = between(low, high, precision)) {
      if (await this.#reads(middle, to)) high = middle;
      else low = middle;
    }
    return high === to ? undefined : high;
  }

  async #reads(from: Buffer, to: Buffer): Promise<boolean> {
    try {
      for await (const _ of this.records.scan(from, to, 1)) break;
      return true;
    } catch {
      return false;
    }
  }
}

/** Bytes of a key that a bisection tells apart at least. */
const PRECISION = 40;
/** Bytes behind what two keys have in common that one step of a bisection looks at. */
const STEP = 8;

/** A key about halfway; undefined if there is none of at most `precision` bytes. */
function between(low: Buffer, high: Buffer, precision: number): Buffer | undefined {
  let common = 0;
  while (common < high.length && (low[common] ?? 0) === high[common]) common++;
  const length = Math.min(common + STEP, precision);
  const [a, b] = [low, high].map(key =>
    BigInt(`0x${Buffer.concat([key, Buffer.alloc(length)], length).toString('hex')}`),
  );
  const middle = (a! + b!) / 2n;
  return middle === a ? undefined : Buffer.from(middle.toString(16).padStart(2 * length, '0'), 'hex');
}

const after = (key: Buffer): Buffer => Buffer.concat([key, Buffer.of(0)]);
