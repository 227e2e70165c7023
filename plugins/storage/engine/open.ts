import { randomUUID } from 'node:crypto';
import { StoreError } from '../../../core/api/index.js';
import type { Opened } from './engine.js';
import { KeyIndex, type Version } from './key-index.js';
import {
  type Change,
  decodeChange,
  decodeIndex,
  decodeState,
  encodeState,
  eventKey,
  FORMAT,
  metaKey,
  readRevision,
  REMEDY,
  type Records,
  rowsOf,
  type StateRow,
} from './records.js';

/** The identity of a store and what it holds. */
export interface Loaded extends Opened {
  readonly id: string;
  readonly fresh: boolean;
}

/** Rows that lie between the store's own rows in key order never belong to a new store. */
const ANY_ROW = [Buffer.from('e/'), Buffer.from('w')] as const;

/**
 * Reads (or for empty records makes) the store's own records, rebuilds the index, and verifies that no revision of its
 * history is missing and that the index holds what the last commit left behind.
 */
export async function load(records: Records): Promise<Loaded> {
  const names = ['format', 'id', 'compacted', 'state'] as const;
  const [format, id, compactedRow, state] = await records.getMany(names.map(metaKey));
  if (!format) return create(records);
  if (format.toString() !== String(FORMAT))
    throw new StoreError(`the store has format ${format}, this version reads format ${FORMAT}`);
  if (!id || !state) throw new StoreError(`the store has lost its ${id ? 'state' : 'id'} record; ${REMEDY}`);
  const compacted = compactedRow ? readRevision(compactedRow, 0) : 0;
  const index = await loadIndex(records);
  const revision = await loadHistory(records, index, compacted);
  verifyState(decodeState(state), revision, index);
  return { id: id.toString(), fresh: false, index, compacted, revision, leftovers: compacted > 0 };
}

async function create(records: Records): Promise<Loaded> {
  for await (const _ of records.scan(...ANY_ROW))
    throw new StoreError(`the store has lost its format record; ${REMEDY}`);
  const id = randomUUID();
  const batch = records.batch();
  batch.put(metaKey('format'), Buffer.from(String(FORMAT)));
  batch.put(metaKey('id'), Buffer.from(id));
  batch.put(metaKey('state'), encodeState({ revision: 0, objects: 0, sum: 0 }));
  await batch.write(true);
  return { id, fresh: true, index: new KeyIndex(), revision: 0, compacted: 0, leftovers: false };
}

async function loadIndex(records: Records): Promise<KeyIndex> {
  const index = new KeyIndex();
  for await (const rows of records.scan(...rowsOf('i'))) {
    for (const row of rows) {
      const { modified, created, version } = decodeIndex(row);
      index.add(row.key.toString('utf8', 2), modified, created, version);
    }
  }
  return index;
}

/**
 * Adds the versions that history still holds, and finds the last revision. Throws StoreError with the first revision
 * that is missing.
 */
async function loadHistory(records: Records, index: KeyIndex, compacted: number): Promise<number> {
  let revision = compacted;
  /** Per changed key its versions in history, ascending. */
  const history = new Map<string, Version[]>();
  for await (const rows of records.scan(eventKey(compacted + 1), eventKey(Number.MAX_SAFE_INTEGER))) {
    for (const row of rows) {
      const change = decodeChange(row);
      if (change.revision > revision + 1) throw missing(revision + 1, change.revision - 1);
      revision = change.revision;
      if (history.has(change.key) || !isWhole(change, index)) remember(history, change);
    }
  }
  for (const [key, versions] of history) restore(index, key, versions);
  return revision;
}

/** Every commit writes the state with its events; an index of other objects has lost or regained some. */
function verifyState(state: StateRow, revision: number, index: KeyIndex): void {
  if (state.revision > revision) throw missing(revision + 1, state.revision);
  if (state.revision < revision)
    throw new StoreError(
      `the store is damaged: its state record is of revision ${state.revision}, its history ends at ${revision}; ${REMEDY}`,
    );
  const { objects, sum } = index.totals;
  if (state.objects === objects && state.sum === sum) return;
  throw new StoreError(
    `the store is damaged: its index holds ${objects} objects, but ${state.objects}${state.objects === objects ? ' others' : ''} are stored; ${REMEDY}`,
  );
}

/** The key's only version: nothing of it but what the index says. */
const isWhole = ({ key, revision, version, before }: Change, index: KeyIndex): boolean =>
  before.modified === 0 && version > 0 && index.newest(key)?.modified === revision;

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
      `the store is damaged: the newest version of ${JSON.stringify(key)} does not agree with its history; ${REMEDY}`,
    );
  }
  index.replace(key, versions);
}

/** The refusal of a store that lacks revisions. */
export const missing = (from: number, to: number): StoreError =>
  new StoreError(
    `the store is damaged: ${from === to ? `revision ${from} is` : `revisions ${from} to ${to} are`} missing; ${REMEDY}`,
  );
