import type { Model, Timed } from './linearizability.js';

/** An operation on one object, as the model judges it. `revision` 0: it is not known which one the write got. */
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
    /** It was said to exist already. */
    | { readonly is: 'exists' }
    | { readonly is: 'missing' }
    /** A write was refused because the object did not have the revision it expected. */
    | { readonly is: 'conflict'; readonly expect: number }
  );

/**
 * An object, or its absence. `floor`: no write after this state may get a revision up to it. `revision` 0 and `uid` '':
 * not known.
 */
export interface RegisterState {
  readonly present: boolean;
  readonly revision: number;
  readonly floor: number;
  readonly token: string;
  readonly uid: string;
}

function written(
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

function removed(state: RegisterState, operation: RegisterOperation & { is: 'delete' }): RegisterState | undefined {
  const { revision, uid, expect } = operation;
  if (!state.present || (expect !== undefined && state.revision !== expect)) return undefined;
  if (uid !== '' && state.uid !== '' && uid !== state.uid) return undefined;
  if (revision !== 0 && revision <= state.floor) return undefined;
  return { ...state, present: false, revision: 0, floor: Math.max(state.floor, revision), token: '' };
}

const when = (state: RegisterState, holds: boolean): RegisterState | undefined => (holds ? state : undefined);

/**
 * One object as a register: create, update if the revision is the expected one, patch, delete, get. Every write raises
 * the revision.
 */
export const registerFrom = (base: number): Model<RegisterState, RegisterOperation> => ({
  initial: { present: false, revision: 0, floor: base, token: '', uid: '' },
  step(state, operation) {
    switch (operation.is) {
      case 'create':
        return written(state, operation, true);
      case 'patch':
        return written(state, operation, false);
      case 'update':
        if (operation.creates && !state.present) return written(state, operation, true);
        return state.revision === operation.expect ? written(state, operation, false) : undefined;
      case 'delete':
        return removed(state, operation);
      case 'found':
        return when(state, state.present && state.revision === operation.revision && state.token === operation.token);
      case 'exists':
        return when(state, state.present);
      case 'missing':
        return when(state, !state.present);
      case 'conflict':
        return when(state, state.present && state.revision !== operation.expect);
    }
  },
  key: ({ present, revision, floor, token, uid }) => `${present} ${revision} ${floor} ${token} ${uid}`,
});
