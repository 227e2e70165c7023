import { compareKeys, type Version } from './key-index.js';
import {
  type Change,
  decodeChange,
  decodeIndex,
  decodeState,
  decodeValueHeader,
  decodeValueKey,
  readRevision,
  type Records,
  type Row,
  rowsOf,
  sound,
} from './records.js';
import { Salvage } from './salvage.js';

/** Revisions from the first to the last. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** An object with its newest version. */
export interface Survivor extends Version {
  readonly key: string;
}

/** Everything there is to say about a store's rows, damaged or not. */
export interface Examination {
  readonly id?: string;
  readonly format?: string;
  /** The last revision of which something is there. */
  readonly revision: number;
  readonly compacted: number;
  /** Objects whose newest version is there, in key order. */
  readonly objects: readonly Survivor[];
  /** Further values that history holds, and events. */
  readonly older: number;
  readonly events: number;
  readonly bytes: number;
  /** Revisions of which neither an event nor a value is there. */
  readonly missing: readonly Span[];
  /** Objects whose newest value is gone. */
  readonly lost: readonly Survivor[];
  /** Objects of which nothing but their number is known. */
  readonly unaccounted: number;
  /** What is damaged, a line each: unreadable parts, rows that contradict each other. */
  readonly damage: readonly string[];
}

/** What was found of one key. */
interface Found {
  index?: Version;
  /** The newest change in history; version 0 for a deletion. */
  change?: Version;
  /** Modification revisions that history refers to. */
  referred?: Set<number>;
  value?: Version;
}

/** Lines about single rows; more say nothing new. */
const LINES = 20;

/**
 * Reads every row and compares what the kinds of rows say about each other. Holds keys in memory, never values.
 * `reached` is the revision the store is known to have had.
 */
export async function examine(records: Records, reached = 0): Promise<Examination> {
  return await new Examiner(new Salvage(records)).run(reached);
}

class Examiner {
  readonly #found = new Map<string, Found>();
  readonly #damage: string[] = [];
  readonly #gaps: Span[] = [];
  readonly #witnessed = new Set<number>();
  readonly #values = new Map<string, number[]>();
  #events = 0;
  #count = 0;
  #bytes = 0;
  #compacted = 0;
  #revision = 0;

  constructor(readonly rows: Salvage) {}

  async run(reached: number): Promise<Examination> {
    const [format, id, compacted, state] = [
      await this.rows.meta('format'),
      await this.rows.meta('id'),
      await this.rows.meta('compacted'),
      await this.rows.meta('state'),
    ];
    this.#compacted = this.#revision = compacted ? readRevision(compacted, 0) : 0;
    const known = state && decodeState(state);
    const told = await this.#scan('e', row => this.#event(decodeChange(row)));
    this.#gap(Math.max(reached, known?.revision ?? 0));
    const indexed = await this.#scan('i', row => {
      this.#of(row.key.toString('utf8', 2)).index = decodeIndex(row);
    });
    await this.#scan('v', row => this.#value(decodeValueKey(row.key), sound(row)));
    const objects: Survivor[] = [];
    const lost: Survivor[] = [];
    for (const [key, found] of this.#found) this.#judge(key, found, indexed, objects, lost);
    if (told && indexed) this.#unrelated();
    const unaccounted =
      known?.revision === this.#revision ? Math.max(0, known.objects - objects.length - lost.length) : 0;
    if (!format || !id || !known)
      this.#damage.push(`the ${!format ? 'format' : !id ? 'id' : 'state'} record is missing or unreadable`);
    return {
      id: id?.toString(),
      format: format?.toString(),
      revision: this.#revision,
      compacted: this.#compacted,
      objects: objects.sort((a, b) => compareKeys(a.key, b.key)),
      older: this.#count - objects.length,
      events: this.#events,
      bytes: this.#bytes,
      missing: this.#missing(),
      lost,
      unaccounted,
      damage: [...this.rows.failures, ...bounded(this.#damage)],
    };
  }

  /** True if every row could be read and has a good checksum. */
  async #scan(kind: 'e' | 'i' | 'v', visit: (row: Row) => void): Promise<boolean> {
    let sound = true;
    const complete = await this.rows.scan(...rowsOf(kind), row => {
      try {
        visit(row);
      } catch (error) {
        sound = false;
        this.#damage.push((error as Error).message);
      }
    });
    return complete && sound;
  }

  #of(key: string): Found {
    let found = this.#found.get(key);
    if (!found) this.#found.set(key, (found = {}));
    return found;
  }

  #event(change: Change): void {
    if (change.revision <= this.#compacted) return;
    this.#events++;
    this.#gap(change.revision - 1);
    this.#revision = Math.max(this.#revision, change.revision);
    const found = this.#of(change.key);
    found.change = { modified: change.revision, created: change.created, version: change.version };
    found.referred ??= new Set();
    found.referred.add(change.before.modified);
    if (change.version > 0) found.referred.add(change.revision);
  }

  /** Everything after the last revision up to `to` is not told. */
  #gap(to: number): void {
    if (to <= this.#revision) return;
    this.#gaps.push({ from: this.#revision + 1, to });
    this.#revision = to;
  }

  #value({ key, modified }: { key: string; modified: number }, row: Buffer): void {
    this.#count++;
    this.#bytes += row.length;
    if (this.#gaps.some(({ from, to }) => modified >= from && modified <= to)) this.#witnessed.add(modified);
    const revisions = this.#values.get(key);
    if (revisions) revisions.push(modified);
    else this.#values.set(key, [modified]);
    const found = this.#of(key);
    if (!found.value || found.value.modified < modified) found.value = { modified, ...decodeValueHeader(row) };
  }

  #judge(key: string, found: Found, indexed: boolean, objects: Survivor[], lost: Survivor[]): void {
    const { index, change, value } = found;
    const name = JSON.stringify(key);
    const stated = newer(index, change);
    if (change && (change.version === 0 ? index : index?.modified !== change.modified) && (indexed || index))
      this.#damage.push(`the index and the history disagree about ${name}`);
    // Without the index only the value tells that there was an object; a deletion would be in history as long as the
    // value is there.
    const newest = stated ?? (indexed ? undefined : value);
    if (!newest || newest.version === 0) return;
    if (value?.modified === newest.modified) {
      if (value.created !== newest.created || value.version !== newest.version)
        this.#damage.push(`the value and the index disagree about ${name}`);
      objects.push({ key, ...newest });
    } else {
      this.#damage.push(`the value of ${name} at revision ${newest.modified} is gone`);
      lost.push({ key, ...newest });
    }
  }

  /** Values that nothing refers to, and references of history to values that are not there. */
  #unrelated(): void {
    for (const [key, { index, referred }] of this.#found) {
      const there = new Set(this.#values.get(key));
      for (const revision of there)
        if (revision !== index?.modified && !referred?.has(revision))
          this.#damage.push(`nothing refers to the value of ${JSON.stringify(key)} at revision ${revision}`);
      for (const revision of referred ?? [])
        if (revision > 0 && revision !== index?.modified && !there.has(revision))
          this.#damage.push(`history lacks the value of ${JSON.stringify(key)} at revision ${revision}`);
    }
  }

  #missing(): Span[] {
    const missing: Span[] = [];
    for (const { from, to } of this.#gaps) {
      let first = from;
      for (const revision of [...this.#witnessed].filter(r => r >= from && r <= to).sort((a, b) => a - b)) {
        if (revision > first) missing.push({ from: first, to: revision - 1 });
        first = revision + 1;
      }
      if (first <= to) missing.push({ from: first, to });
    }
    return missing;
  }
}

const newer = (a: Version | undefined, b: Version | undefined): Version | undefined =>
  a && b ? (a.modified >= b.modified ? a : b) : (a ?? b);

const bounded = (lines: readonly string[]): readonly string[] =>
  lines.length <= LINES ? lines : [...lines.slice(0, LINES), `and ${lines.length - LINES} more of that kind`];
