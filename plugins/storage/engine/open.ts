import { randomUUID } from 'node:crypto';
import { StoreError } from '../../../core/api/index.js';
import type { Opened } from './engine.js';
import { KeyIndex, type Version } from './key-index.js';
import { type Change, decodeChange, decodeIndex, eventKey, FORMAT, metaKey, readRevision, type Records } from './records.js';

/** The identity of a store and what it holds. */
export interface Loaded extends Opened {
  readonly id: string;
  readonly fresh: boolean;
}

const INDEX_FROM = Buffer.from('i/');
const INDEX_TO = Buffer.from('i0');

/** Reads (or for empty records makes) the store's own records, rebuilds the index and verifies that no revision of its history is missing. */
export async function load(records: Records): Promise<Loaded> {
  const [format, id, compactedRow] = await records.getMany([metaKey('format'), metaKey('id'), metaKey('compacted')]);
  if (!format) return create(records);
  if (format.toString() !== String(FORMAT))
    throw new StoreError(`the store has format ${format}, this version reads format ${FORMAT}`);
  if (!id) throw new StoreError('the store has lost its id record; run `capstan store recover`');
  const compacted = compactedRow ? readRevision(compactedRow, 0) : 0;
  const index = await loadIndex(records);
  const history = await loadHistory(records, index, compacted);
  return { id: id.toString(), fresh: false, index, compacted, ...history };
}

async function create(records: Records): Promise<Loaded> {
  for await (const _ of records.scan(Buffer.from('e/'), Buffer.from('w')))
    throw new StoreError('the store has lost its format record');
  const id = randomUUID();
  const batch = records.batch();
  batch.put(metaKey('format'), Buffer.from(String(FORMAT)));
  batch.put(metaKey('id'), Buffer.from(id));
  await batch.write(true);
  return { id, fresh: true, index: new KeyIndex(), revision: 0, compacted: 0, leftovers: false };
}

async function loadIndex(records: Records): Promise<KeyIndex> {
  const index = new KeyIndex();
  for await (const rows of records.scan(INDEX_FROM, INDEX_TO)) {
    for (const { key, value } of rows) {
      const { modified, created, version } = decodeIndex(value);
      index.add(key.toString('utf8', 2), modified, created, version);
    }
  }
  return index;
}

/** Adds the versions that history still holds, and finds the last revision. Throws StoreError with the first revision that is missing. */
async function loadHistory(records: Records, index: KeyIndex, compacted: number) {
  let revision = compacted;
  let leftovers = false;
  /** Per changed key its versions in history, ascending. */
  const history = new Map<string, Version[]>();
  for await (const rows of records.scan(eventKey(0), eventKey(Number.MAX_SAFE_INTEGER))) {
    for (const row of rows) {
      const change = decodeChange(row);
      if (change.revision <= compacted) {
        leftovers = true;
        continue;
      }
      if (change.revision > revision + 1) throw missing(revision + 1, change.revision - 1);
      revision = change.revision;
      remember(history, change);
    }
  }
  for (const [key, versions] of history) restore(index, key, versions);
  return { revision, leftovers };
}

function remember(history: Map<string, Version[]>, change: Change): void {
  let versions = history.get(change.key);
  if (!versions) {
    versions = change.before.modified > 0 ? [change.before] : [];
    history.set(change.key, versions);
  }
  versions.push({ modified: change.revision, created: change.created, version: change.version });
}

function restore(index: KeyIndex, key: string, versions: Version[]): void {
  const last = versions.at(-1)!;
  const newest = index.newest(key);
  if ((newest?.modified ?? last.modified) !== last.modified || (newest === undefined) !== (last.version === 0)) {
    throw new StoreError(
      `the store is damaged: the newest version of ${JSON.stringify(key)} does not agree with its history; run \`capstan store recover\``,
    );
  }
  index.replace(key, versions);
}

/** The refusal of a store that lacks revisions. */
export const missing = (from: number, to: number): StoreError =>
  new StoreError(
    `the store is damaged: ${from === to ? `revision ${from} is` : `revisions ${from} to ${to} are`} missing; restore a backup, or run \`capstan store recover\` to go on without them`,
  );
