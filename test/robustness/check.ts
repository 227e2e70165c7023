import type { Call, History, Operation, Violation } from './history.js';
import { Ledger } from './ledger.js';
import { checkLinearizability } from './linearizability.js';
import { checkListing, checkOldGet, checkRevisions } from './reads.js';
import { type RegisterOperation, registerFrom } from './register.js';
import { checkSession } from './watches.js';

/** The operation for the model; undefined if it does not constrain the order. */
function toRegisterOperation(ledger: Ledger, operation: Operation): RegisterOperation | undefined {
  const { id, call, result, start, end } = operation;
  const timed = { id, start, end };
  switch (result.is) {
    case 'refused':
      return undefined;
    case 'missing':
    case 'exists':
      return call.is === 'get' && call.at !== undefined ? undefined : { ...timed, is: result.is };
    case 'conflict':
      return { ...timed, is: 'conflict', expect: (call as { expect: number }).expect };
    case 'deleted': {
      const { uid } = result;
      const expect = call.is === 'delete' ? call.expect : undefined;
      return { ...timed, is: 'delete', uid, expect, revision: ledger.deletions.get(uid)?.revision ?? 0 };
    }
    case 'ok': {
      const { revision, token, uid } = result.version;
      if (call.is !== 'get') return call.is === 'delete' ? undefined : toWrite(timed, call, result.version);
      return call.at === undefined ? { ...timed, is: 'found', revision, token, uid } : undefined;
    }
    case 'unknown':
      return fromUnanswered(ledger, operation);
  }
}

/**
 * The operation of a call without an answer. A write that a client saw took place before it was seen. A write that no
 * client saw may have taken place only if there are revisions that no watch covered.
 */
function fromUnanswered(ledger: Ledger, { id, collection, call, start }: Operation): RegisterOperation | undefined {
  if (call.is === 'get') return undefined;
  const seen = 'token' in call ? ledger.tokens.get(call.token) : undefined;
  if (seen) return toWrite({ id, start, end: Math.max(start, seen.at) }, call as WriteCall, seen.version!);
  if (!ledger.mayMissAfter(collection, ledger.knownBefore(start))) return undefined;
  if (call.is === 'delete') return { id, start, is: 'delete', uid: '', expect: call.expect, revision: 0 };
  return toWrite({ id, start }, call, { revision: 0, uid: '' });
}

type WriteCall = Exclude<Call, { is: 'delete' | 'get' }>;

/** A write for the model. Revision 0: unknown. */
const toWrite = (
  timed: Timing,
  call: WriteCall,
  { revision, uid }: { revision: number; uid: string },
): RegisterOperation =>
  call.is === 'update'
    ? { ...timed, ...call, revision, uid }
    : { ...timed, is: call.is, token: call.token, revision, uid };

interface Timing {
  readonly id: number;
  readonly start: number;
  readonly end?: number;
}

/**
 * Finds deletions that were seen but not acknowledged. Each must be the effect of a delete without an answer; otherwise
 * it is a violation.
 */
function findUnacknowledged(
  ledger: Ledger,
  operations: readonly Operation[],
): { operations: RegisterOperation[]; violations: Violation[] } {
  const found: { operations: RegisterOperation[]; violations: Violation[] } = { operations: [], violations: [] };
  const claimed = new Set(operations.flatMap(({ result }) => (result.is === 'deleted' ? [result.uid] : [])));
  const lost = operations.filter(({ call, result }) => call.is === 'delete' && result.is === 'unknown');
  const [{ collection, name } = { collection: '', name: '' }] = operations;
  for (const [uid, { at, revision, ...change }] of ledger.deletions) {
    if (change.collection !== collection || change.name !== name || claimed.has(uid)) continue;
    const starts = lost.filter(({ start }) => start <= at).map(({ start }) => start);
    if (starts.length > 0)
      found.operations.push({ id: 0, start: Math.min(...starts), end: at, is: 'delete', uid, revision });
    else
      found.violations.push({
        guarantee: 'phantom',
        message: `${collection}/${name} was deleted at ${revision}, but no client had deleted it`,
      });
  }
  return found;
}

const describe = (operation: RegisterOperation): string => {
  const { id, start, end, ...rest } = operation;
  return `#${id} [${start.toFixed(1)}, ${end?.toFixed(1) ?? '…'}] ${JSON.stringify(rest)}`;
};

/** Checks one object's history. */
function checkObject(ledger: Ledger, key: string, operations: readonly Operation[]): Violation[] {
  const others = findUnacknowledged(ledger, operations);
  const modelled = [
    ...operations.flatMap(operation => toRegisterOperation(ledger, operation) ?? []),
    ...others.operations,
  ];
  const result = checkLinearizability(registerFrom(ledger.history.base), modelled);
  if (result.is === 'linearizable') return others.violations;
  if (result.is === 'undecided') {
    const message = `${key}: the search was given up after too many configurations`;
    return [...others.violations, { guarantee: 'undecided', message }];
  }
  const { longest, stuck } = result;
  const placed = new Set(longest);
  const open = modelled.filter(operation => !placed.has(operation) && operation.start <= (stuck.end ?? stuck.start));
  const message = [
    `${key}: no order of its operations explains ${describe(stuck)}`,
    ...longest.slice(-8).map(operation => `  after  ${describe(operation)}`),
    ...open.slice(0, 8).map(operation => `  open   ${describe(operation)}`),
  ].join('\n');
  return [...others.violations, { guarantee: 'linearizable', message }];
}

/** The operations of each object. */
function groupByObject(operations: readonly Operation[]): Map<string, Operation[]> {
  const groups = new Map<string, Operation[]>();
  for (const operation of operations) {
    const key = `${operation.collection}/${operation.name}`;
    const group = groups.get(key);
    if (group) group.push(operation);
    else groups.set(key, [operation]);
  }
  return groups;
}

/** Checks everything that the clients of a round observed. Returns the violations. */
export function check(history: History): { readonly violations: readonly Violation[]; readonly ledger: Ledger } {
  const ledger = new Ledger(history);
  const violations = [
    ...ledger.violations,
    ...checkRevisions(ledger),
    ...history.operations.flatMap(operation => checkOldGet(ledger, operation)),
    ...history.listings.flatMap(listing => checkListing(ledger, listing)),
    ...history.sessions.flatMap(session => checkSession(ledger, session)),
    ...[...groupByObject(history.operations)].flatMap(([key, operations]) => checkObject(ledger, key, operations)),
  ];
  return { violations, ledger };
}
