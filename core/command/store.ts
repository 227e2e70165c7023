import { join } from 'node:path';
import { ConfigError } from '../api/point.js';
import type { Check } from '../../plugins/storage/rocksdb/check.js';
import type { Recovery } from '../../plugins/storage/rocksdb/recover.js';
import { givenTo, needed, shownBytes } from './arguments.js';
import type { Io } from './serve.js';

/** Missing revisions and lost objects named one by one; the rest is counted. */
const NAMED = 100;

/**
 * `capstan store check|recover --data-dir=DIR`: works on the files of a server that does not run. 0 if all is well, 1
 * if not.
 */
export async function storeCommand(args: readonly string[], io: Io): Promise<number> {
  const given = givenTo(args, { 'data-dir': { type: 'string' }, 'accept-loss': { type: 'boolean' } });
  const [action, ...more] = given.words;
  if ((action !== 'check' && action !== 'recover') || more.length > 0)
    throw new ConfigError('capstan store', 'is followed by check or recover, and --data-dir=DIR');
  const path = join(needed(given, 'data-dir', 'DIR'), 'store');
  const accept = given.values['accept-loss'] === true;
  if (action === 'recover') return await recoverStore(path, accept, io);
  if (accept) throw new ConfigError('--accept-loss', 'belongs to capstan store recover');
  return await checkStore(path, io);
}

async function checkStore(path: string, io: Io): Promise<number> {
  const { checkRocks } = await import('../../plugins/storage/rocksdb/check.js');
  const check = await checkRocks(path);
  for (const line of report(check)) io.out(line);
  for (const problem of check.problems) io.err(`problem: ${problem}`);
  io.out(
    check.problems.length === 0
      ? 'the store is sound'
      : `the store is damaged: ${counted(check.problems.length, 'problem')}`,
  );
  return check.problems.length === 0 ? 0 : 1;
}

function report({ logs, mark, rows }: Check): string[] {
  const lines = logs.map(
    ({ file, bytes, records, damagedAt, resumes }) =>
      `log ${file}: ${shownBytes(bytes)}, ${counted(records, 'record')}${damagedAt === undefined ? '' : resumes ? ', damaged' : ', ends within a record'}`,
  );
  if (mark) lines.push(`high-water mark: revision ${mark.revision}`);
  if (!rows) return lines;
  return [
    ...lines,
    `revisions: ${rows.revision}, history after ${rows.compacted}: ${counted(rows.events, 'event')}`,
    `objects: ${rows.objects.length}, older versions: ${rows.older}, values: ${shownBytes(rows.bytes)}`,
  ];
}

async function recoverStore(path: string, acceptLoss: boolean, io: Io): Promise<number> {
  const { isLossy, planRecovery, recover } = await import('../../plugins/storage/rocksdb/recover.js');
  const plan = await planRecovery(path);
  if (plan.problems.length === 0) {
    io.out(`nothing to recover: ${counted(plan.objects, 'object')} at revision ${plan.revision}`);
    return 0;
  }
  for (const problem of plan.problems) io.out(`problem: ${problem}`);
  for (const line of losses(plan)) io.out(`gone: ${line}`);
  io.out(`kept: ${counted(plan.objects, 'object')}; history is given up, so that every watch lists again`);
  if (isLossy(plan) && !acceptLoss) {
    io.err(
      'nothing was changed: restore a snapshot, or run this again with --accept-loss to go on without what is gone',
    );
    return 1;
  }
  const { kept, revision } = await recover(path, { acceptLoss });
  io.out(`recovered: revisions go on above ${revision}; the damaged files are in ${kept}`);
  return 0;
}

function losses({ missing, lost, unaccounted, markless }: Recovery): string[] {
  const lines = [
    ...missing.map(({ from, to }) => (from === to ? `revision ${from}` : `revisions ${from} to ${to}`)),
    ...lost.map(({ key, modified }) => `object ${key} (revision ${modified})`),
  ];
  const named = lines.length > NAMED ? [...lines.slice(0, NAMED), `and ${lines.length - NAMED} more`] : lines;
  if (unaccounted > 0) named.push(`${counted(unaccounted, 'object')} of unknown name`);
  if (markless) named.push('perhaps revisions at the end: without a high-water mark nobody can tell');
  return named;
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;
