import { StoreError } from '../../../core/api/index.js';
import { randomUUID } from '../../../core/runtime/random.js';
import type { StoreState } from './engine.js';
import { KeyIndex, type Version } from './keyIndex.js';
import {
  type Change,
  decodeChange,
  decodeIndex,
  decodeState,
  encodeState,
  eventKey,
  findFormatProblem,
  FORMAT,
  metaKey,
  readRevision,
  REMEDY,
  type Records,
  rowBounds,
  type StateRow,
} from './records.js';

/** A loaded store with its identity. */
export interface LoadedStore extends StoreState {
  readonly id: string;
  /** The format that it was written in. */
  readonly format: string;
  readonly isNew: boolean;
}

/** Bounds of all rows except the store's own records. A new store has no such rows. */
const ALL_ROWS = [Buffer.from('e/'), Buffer.from('w')] as const;

/**
 * Loads a store, or creates one if there are no records: reads its own records, rebuilds the index, and verifies that
 * no revision of the history is missing and that the index matches the last commit. Throws StoreError.
 */
export async function loadStore(records: Records): Promise<LoadedStore> {
  const names = ['format', 'id', 'compacted', 'state'] as const;
  const [format, id, compactedRow, state] = await records.getMany(names.map(metaKey));
  if (!format) return createStore(records);
  const problem = findFormatProblem(format.toString());
  if (problem) throw new StoreError(problem);
  if (!id || !state) throw new StoreError(`the store has lost its ${id ? 'state' : 'id'} record; ${REMEDY}`);
  const compacted = compactedRow ? readRevision(compactedRow, 0) : 0;
  const index = await loadIndex(records);
  const revision = await loadHistory(records, index, compacted);
  verifyState(decodeState(state), revision, index);
  return {
    id: id.toString(),
    format: format.toString(),
    isNew: false,
    index,
    compacted,
    revision,
    compactionIncomplete: compacted > 0,
  };
}

async function createStore(records: Records): Promise<LoadedStore> {
  for await (const _ of records.scan(...ALL_ROWS))
    throw new StoreError(`the store has lost its format record; ${REMEDY}`);
  const id = randomUUID();
  const batch = records.batch();
  batch.put(metaKey('format'), Buffer.from(String(FORMAT)));
  batch.put(metaKey('id'), Buffer.from(id));
  batch.put(metaKey('state'), encodeState({ revision: 0, objects: 0, sum: 0 }));
  await batch.write(true);
  return {
    id,
    format: String(FORMAT),
    isNew: true,
    index: new KeyIndex(),
    revision: 0,
    compacted: 0,
    compactionIncomplete: false,
  };
}

async function loadIndex(records: Records): Promise<KeyIndex> {
  const index = new KeyIndex();
  for await (const rows of records.scan(...rowBounds('i'))) {
    for (const row of rows) {
      const { modified, created, version } = decodeIndex(row);
      index.add(row.key.toString('utf8', 2), modified, created, version);
    }
  }
  return index;
}

/** Adds the versions in history to the index and returns the last revision. Throws StoreError if one is missing. */
async function loadHistory(records: Records, index: KeyIndex, compacted: number): Promise<number> {
  let revision = compacted;
  /** The versions of each changed key, ascending. */
  const history = new Map<string, Version[]>();
  for await (const rows of records.scan(eventKey(compacted + 1), eventKey(Number.MAX_SAFE_INTEGER))) {
    for (const row of rows) {
      const change = decodeChange(row);
      if (change.revision > revision + 1) throw missingRevisionsError(revision + 1, change.revision - 1);
      revision = change.revision;
      if (history.has(change.key) || !isOnlyVersion(change, index)) addToHistory(history, change);
    }
  }
  for (const [key, versions] of history) restoreVersions(index, key, versions);
  return revision;
}

/** Compares the index with the state record, which every commit writes, to detect lost or reappeared objects. */
function verifyState(state: StateRow, revision: number, index: KeyIndex): void {
  if (state.revision > revision) throw missingRevisionsError(revision + 1, state.revision);
  if (state.revision < revision)
    throw new StoreError(
      `the store is damaged: its state record has revision ${state.revision}, its history ends at ${revision}; ` +
        `${REMEDY}`,
    );
  const { objects, sum } = index.totals;
  if (state.objects === objects && state.sum === sum) return;
  throw new StoreError(
    `the store is damaged: its index holds ${objects} objects, but ` +
      `${state.objects}${state.objects === objects ? ' others' : ''} are stored; ${REMEDY}`,
  );
}

/** Whether a change created the only version of its key, which the index contains already. */
const isOnlyVersion = ({ key, revision, version, before }: Change, index: KeyIndex): boolean =>
  before.modified === 0 && version > 0 && index.newest(key)?.modified === revision;

function addToHistory(history: Map<string, Version[]>, change: Change): void {
  let versions = history.get(change.key);
  if (!versions) {
    versions = change.before.modified > 0 ? [change.before] : [];
    history.set(change.key, versions);
  }
  versions.push({ modified: change.revision, created: change.created, version: change.version });
}

function restoreVersions(index: KeyIndex, key: string, versions: Version[]): void {
  const last = versions.at(-1)!;
  const newest = index.newest(key);
  if ((newest?.modified ?? last.modified) !== last.modified || (newest === undefined) !== (last.version === 0)) {
    throw new StoreError(
      `the store is damaged: the newest version of ${JSON.stringify(key)} does not agree with its history; ${REMEDY}`,
    );
  }
  index.setVersions(key, versions);
}

/** The error of a store with missing revisions. */
export const missingRevisionsError = (from: number, to: number): StoreError =>
  new StoreError(
    `the store is damaged: ${from === to ? `revision ${from} is` : `revisions ${from} to ${to} are`} missing; ` +
      `${REMEDY}`,
  );
