import { compareKeys, type Version } from './keyIndex.js';
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
  rowBounds,
  verifyChecksum,
} from './records.js';
import { Salvage } from './salvage.js';

/** A range of revisions, both ends inclusive. */
export interface RevisionRange {
  readonly from: number;
  readonly to: number;
}

/** An object with its newest version. */
export interface ObjectVersion extends Version {
  readonly key: string;
}

/** The result of an examination of a store's rows, damaged or not. */
export interface Examination {
  readonly id?: string;
  readonly format?: string;
  /** The last revision with a record. */
  readonly revision: number;
  readonly compacted: number;
  /** Objects whose newest value is present, in key order. */
  readonly objects: readonly ObjectVersion[];
  /** The number of older values. */
  readonly older: number;
  readonly events: number;
  readonly bytes: number;
  /** Revisions with neither an event nor a value. */
  readonly missing: readonly RevisionRange[];
  /** Objects whose newest value is missing. */
  readonly lost: readonly ObjectVersion[];
  /** The number of missing objects with unknown keys. */
  readonly unaccounted: number;
  /** Descriptions of the damage: unreadable parts, rows that contradict each other. */
  readonly damage: readonly string[];
}

/** The records found for one key. */
interface KeyFindings {
  index?: Version;
  /** The newest change in history; version 0 for a deletion. */
  change?: Version;
  /** Modification revisions that history refers to. */
  referenced?: Set<number>;
  value?: Version;
}

/** The number of damaged rows that are described. */
const MAX_LINES = 20;

/**
 * Reads all rows of a store and checks that index, events and values are consistent. Keeps keys in memory, but no
 * values. `reached` is a revision that the store is known to have reached.
 */
export async function examine(records: Records, reached = 0): Promise<Examination> {
  return await new Examiner(new Salvage(records)).run(reached);
}

class Examiner {
  readonly #found = new Map<string, KeyFindings>();
  readonly #damage: string[] = [];
  readonly #gaps: RevisionRange[] = [];
  readonly #revisionsWithValue = new Set<number>();
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
    const expected = state && decodeState(state);
    const historyComplete = await this.#scan('e', row => this.#visitEvent(decodeChange(row)));
    this.#recordGap(Math.max(reached, expected?.revision ?? 0));
    const indexComplete = await this.#scan('i', row => {
      this.#findingsOf(row.key.toString('utf8', 2)).index = decodeIndex(row);
    });
    await this.#scan('v', row => this.#visitValue(decodeValueKey(row.key), verifyChecksum(row)));
    const objects: ObjectVersion[] = [];
    const lost: ObjectVersion[] = [];
    for (const [key, found] of this.#found) this.#classify(key, found, indexComplete, objects, lost);
    if (historyComplete && indexComplete) this.#checkReferences();
    const unaccounted =
      expected?.revision === this.#revision ? Math.max(0, expected.objects - objects.length - lost.length) : 0;
    if (!format || !id || !expected)
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
      missing: this.#missingRevisions(),
      lost,
      unaccounted,
      damage: [...this.rows.failures, ...limitLines(this.#damage)],
    };
  }

  /** Visits all rows of a kind. Returns whether all were readable and valid. */
  async #scan(kind: 'e' | 'i' | 'v', visit: (row: Row) => void): Promise<boolean> {
    let sound = true;
    const complete = await this.rows.scan(...rowBounds(kind), row => {
      try {
        visit(row);
      } catch (error) {
        sound = false;
        this.#damage.push((error as Error).message);
      }
    });
    return complete && sound;
  }

  #findingsOf(key: string): KeyFindings {
    let found = this.#found.get(key);
    if (!found) this.#found.set(key, (found = {}));
    return found;
  }

  #visitEvent(change: Change): void {
    if (change.revision <= this.#compacted) return;
    this.#events++;
    this.#recordGap(change.revision - 1);
    this.#revision = Math.max(this.#revision, change.revision);
    const found = this.#findingsOf(change.key);
    found.change = { modified: change.revision, created: change.created, version: change.version };
    found.referenced ??= new Set();
    found.referenced.add(change.before.modified);
    if (change.version > 0) found.referenced.add(change.revision);
  }

  /** Records that there are no events between the last revision and `to`, inclusive. */
  #recordGap(to: number): void {
    if (to <= this.#revision) return;
    this.#gaps.push({ from: this.#revision + 1, to });
    this.#revision = to;
  }

  #visitValue({ key, modified }: { key: string; modified: number }, row: Buffer): void {
    this.#count++;
    this.#bytes += row.length;
    if (this.#gaps.some(({ from, to }) => modified >= from && modified <= to)) this.#revisionsWithValue.add(modified);
    const revisions = this.#values.get(key);
    if (revisions) revisions.push(modified);
    else this.#values.set(key, [modified]);
    const found = this.#findingsOf(key);
    if (!found.value || found.value.modified < modified) found.value = { modified, ...decodeValueHeader(row) };
  }

  #classify(
    key: string,
    found: KeyFindings,
    indexComplete: boolean,
    objects: ObjectVersion[],
    lost: ObjectVersion[],
  ): void {
    const { index, change, value } = found;
    const name = JSON.stringify(key);
    const recorded = newerVersion(index, change);
    if (change && (change.version === 0 ? index : index?.modified !== change.modified) && (indexComplete || index))
      this.#damage.push(`the index and the history disagree about ${name}`);
    // If the index is unreadable, the value shows that the object exists: a deletion would be in the history as long as
    // the value is stored.
    const newest = recorded ?? (indexComplete ? undefined : value);
    if (!newest || newest.version === 0) return;
    if (value?.modified === newest.modified) {
      if (value.created !== newest.created || value.version !== newest.version)
        this.#damage.push(`the value and the index disagree about ${name}`);
      objects.push({ key, ...newest });
    } else {
      this.#damage.push(`the value of ${name} at revision ${newest.modified} is missing`);
      lost.push({ key, ...newest });
    }
  }

  /** Reports values without a reference, and references of the history to missing values. */
  #checkReferences(): void {
    for (const [key, { index, referenced }] of this.#found) {
      const present = new Set(this.#values.get(key));
      for (const revision of present)
        if (revision !== index?.modified && !referenced?.has(revision))
          this.#damage.push(`the value of ${JSON.stringify(key)} at revision ${revision} is not referenced`);
      for (const revision of referenced ?? [])
        if (revision > 0 && revision !== index?.modified && !present.has(revision))
          this.#damage.push(`the older value of ${JSON.stringify(key)} at revision ${revision} is missing`);
    }
  }

  #missingRevisions(): RevisionRange[] {
    const missing: RevisionRange[] = [];
    for (const { from, to } of this.#gaps) {
      let first = from;
      for (const revision of [...this.#revisionsWithValue].filter(r => r >= from && r <= to).sort((a, b) => a - b)) {
        if (revision > first) missing.push({ from: first, to: revision - 1 });
        first = revision + 1;
      }
      if (first <= to) missing.push({ from: first, to });
    }
    return missing;
  }
}

const newerVersion = (a: Version | undefined, b: Version | undefined): Version | undefined =>
  a && b ? (a.modified >= b.modified ? a : b) : (a ?? b);

const limitLines = (lines: readonly string[]): readonly string[] =>
  lines.length <= MAX_LINES ? lines : [...lines.slice(0, MAX_LINES), `and ${lines.length - MAX_LINES} more`];
