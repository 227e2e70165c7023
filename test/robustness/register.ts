import type { Model, Timed } from './linearizability.js';

/** An operation on one object. `revision` 0: the revision of the write is unknown. */
export type RegisterOperation = Timed & { readonly id: number } & (
    | { readonly is: 'create' | 'patch'; readonly token: string; readonly revision: number; readonly uid: string }
    | {
        readonly is: 'update';
        readonly token: string;
        readonly revision: number;
        readonly uid: string;
        readonly expect: number;
        readonly creates?: boolean;
      }
    | { readonly is: 'delete'; readonly revision: number; readonly uid: string; readonly expect?: number }
    | { readonly is: 'found'; readonly token: string; readonly revision: number; readonly uid: string }
    /** A create was refused because the object exists. */
    | { readonly is: 'exists' }
    | { readonly is: 'missing' }
    /** A write was refused because the object did not have the revision it expected. */
    | { readonly is: 'conflict'; readonly expect: number }
  );

/**
 * An object, or its absence. `floor`: writes after this state get revisions above it. `revision` 0 and `uid` '':
 * unknown.
 */
export interface RegisterState {
  readonly present: boolean;
  readonly revision: number;
  readonly floor: number;
  readonly token: string;
  readonly uid: string;
}

/** The state after a write; undefined if the write is impossible. */
function afterWrite(
  state: RegisterState,
  { revision, token, uid }: { revision: number; token: string; uid: string },
  isNew: boolean,
): RegisterState | undefined {
  if (state.present === isNew) return undefined;
  if (revision !== 0 && revision <= state.floor) return undefined;
  if (!isNew && uid !== '' && state.uid !== '' && uid !== state.uid) return undefined;
  if (isNew && uid !== '' && uid === state.uid) return undefined;
  return {
    present: true,
    revision,
    floor: Math.max(state.floor, revision),
    token,
    uid: uid || (isNew ? '' : state.uid),
  };
}

/** The state after a deletion; undefined if the deletion is impossible. */
function afterDeletion(
  state: RegisterState,
  operation: RegisterOperation & { is: 'delete' },
): RegisterState | undefined {
  const { revision, uid, expect } = operation;
  if (!state.present || (expect !== undefined && state.revision !== expect)) return undefined;
  if (uid !== '' && state.uid !== '' && uid !== state.uid) return undefined;
  if (revision !== 0 && revision <= state.floor) return undefined;
  return { ...state, present: false, revision: 0, floor: Math.max(state.floor, revision), token: '' };
}

/** The same state if the condition holds. */
const stateIf = (state: RegisterState, holds: boolean): RegisterState | undefined => (holds ? state : undefined);

/**
 * An object as a register with create, update if the revision is the expected one, patch, delete and get. Every write
 * raises the revision.
 */
export const registerFrom = (base: number): Model<RegisterState, RegisterOperation> => ({
  initial: { present: false, revision: 0, floor: base, token: '', uid: '' },
  step(state, operation) {
    switch (operation.is) {
      case 'create':
        return afterWrite(state, operation, true);
      case 'patch':
        return afterWrite(state, operation, false);
      case 'update':
        if (operation.creates && !state.present) return afterWrite(state, operation, true);
        return state.revision === operation.expect ? afterWrite(state, operation, false) : undefined;
      case 'delete':
        return afterDeletion(state, operation);
      case 'found':
        return stateIf(
          state,
          state.present && state.revision === operation.revision && state.token === operation.token,
        );
      case 'exists':
        return stateIf(state, state.present);
      case 'missing':
        return stateIf(state, !state.present);
      case 'conflict':
        return stateIf(state, state.present && state.revision !== operation.expect);
    }
  },
  key: ({ present, revision, floor, token, uid }) => `${present} ${revision} ${floor} ${token} ${uid}`,
});
