import type { Call, History, Operation, Violation } from './history.js';
import { Ledger } from './ledger.js';
import { judge } from './linearizability.js';
import { checkListing, checkOldGet, checkRevisions } from './reads.js';
import { type RegisterOperation, registerFrom } from './register.js';
import { checkSession } from './watches.js';

/** An operation for the model; undefined if it says nothing about the order. */
function modelled(ledger: Ledger, operation: Operation): RegisterOperation | undefined {
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
      if (call.is !== 'get') return call.is === 'delete' ? undefined : writing(timed, call, result.version);
      return call.at === undefined ? { ...timed, is: 'found', revision, token, uid } : undefined;
    }
    case 'unknown':
      return unanswered(ledger, operation);
  }
}

/**
 * A write without an answer: it happened if somebody saw it, before they saw it. Else it may have happened only if
 * there are revisions that nobody watched; where everything was watched, an unseen write is none.
 */
function unanswered(ledger: Ledger, { id, collection, call, start }: Operation): RegisterOperation | undefined {
  if (call.is === 'get') return undefined;
  const seen = 'token' in call ? ledger.tokens.get(call.token) : undefined;
  if (seen) return writing({ id, start, end: Math.max(start, seen.at) }, call as Written, seen.version!);
  if (!ledger.incomplete(collection, ledger.knownBefore(start))) return undefined;
  if (call.is === 'delete') return { id, start, is: 'delete', uid: '', expect: call.expect, revision: 0 };
  return writing({ id, start }, call, { revision: 0, uid: '' });
}

type Written = Exclude<Call, { is: 'delete' | 'get' }>;

/** A write whose revision is known, or 0. */
const writing = (
  timed: Timing,
  call: Written,
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
 * Deletions that were seen but acknowledged to nobody, as operations: one of the deletes without an answer did each.
 */
function unclaimed(
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
        message: `${collection}/${name} went at ${revision}, but nobody deleted it`,
      });
  }
  return found;
}

const told = (operation: RegisterOperation): string => {
  const { id, start, end, ...rest } = operation;
  return `#${id} [${start.toFixed(1)}, ${end?.toFixed(1) ?? '…'}] ${JSON.stringify(rest)}`;
};

/** Checks one object's history. */
function checkObject(ledger: Ledger, key: string, operations: readonly Operation[]): Violation[] {
  const others = unclaimed(ledger, operations);
  const judged = [...operations.flatMap(operation => modelled(ledger, operation) ?? []), ...others.operations];
  const judgement = judge(registerFrom(ledger.history.base), judged);
  if (judgement.is === 'linearizable') return others.violations;
  if (judgement.is === 'undecided') {
    const message = `${key}: too many configurations to decide`;
    return [...others.violations, { guarantee: 'undecided', message }];
  }
  const { longest, stuck } = judgement;
  const placed = new Set(longest);
  const open = judged.filter(operation => !placed.has(operation) && operation.start <= (stuck.end ?? stuck.start));
  const message = [
    `${key}: no order of its operations explains ${told(stuck)}`,
    ...longest.slice(-8).map(operation => `  after  ${told(operation)}`),
    ...open.slice(0, 8).map(operation => `  open   ${told(operation)}`),
  ].join('\n');
  return [...others.violations, { guarantee: 'linearizable', message }];
}

function grouped(operations: readonly Operation[]): Map<string, Operation[]> {
  const groups = new Map<string, Operation[]>();
  for (const operation of operations) {
    const key = `${operation.collection}/${operation.name}`;
    const group = groups.get(key);
    if (group) group.push(operation);
    else groups.set(key, [operation]);
  }
  return groups;
}

/** Checks everything the clients of a round saw. */
export function check(history: History): { readonly violations: readonly Violation[]; readonly ledger: Ledger } {
  const ledger = new Ledger(history);
  const violations = [
    ...ledger.violations,
    ...checkRevisions(ledger),
    ...history.operations.flatMap(operation => checkOldGet(ledger, operation)),
    ...history.listings.flatMap(listing => checkListing(ledger, listing)),
    ...history.sessions.flatMap(session => checkSession(ledger, session)),
    ...[...grouped(history.operations)].flatMap(([key, operations]) => checkObject(ledger, key, operations)),
  ];
  return { violations, ledger };
}
