import { join } from 'node:path';
import { ConfigError } from '../../api/point.js';
import type { Check } from '../../../plugins/storage/rocksdb/offline/check.js';
import type { Recovery } from '../../../plugins/storage/rocksdb/offline/recover.js';
import { parseArguments, requireValue, formatBytes } from '../arguments.js';
import { flagsOf } from '../commands.js';
import { loadSettings } from '../config.js';
import type { Io } from '../serve.js';

/** The largest number of missing revisions and lost objects that are listed; further ones are only counted. */
const MAX_LISTED = 100;

/**
 * `capstan store check|recover --data-dir=DIR`, for the files of a stopped server, `capstan store rewrite` and `capstan
 * store migrate`. Returns 0 on success, otherwise 1.
 */
export async function storeCommand(args: readonly string[], io: Io): Promise<number> {
  if (args[0] === 'rewrite') return await rewrite(args.slice(1), io);
  if (args[0] === 'migrate') return await (await import('./migrate.js')).migrateCommand(args.slice(1), io);
  const parsed = parseArguments(args, { ...flagsOf('store check'), ...flagsOf('store recover') });
  const [action, ...more] = parsed.positionals;
  if ((action !== 'check' && action !== 'recover') || more.length > 0)
    throw new ConfigError('capstan store', 'expects check, recover, rewrite or migrate, and --data-dir=DIR');
  const path = join(requireValue(parsed, 'data-dir', 'DIR'), 'store');
  const accept = parsed.values['accept-loss'] === true;
  if (action === 'recover') return await recoverStore(path, accept, io);
  if (accept) throw new ConfigError('--accept-loss', 'is a flag of capstan store recover');
  return await checkStore(path, io);
}

/** Takes the flags of the server: of a stopped one, or of any of those that share an etcd. */
async function rewrite(args: readonly string[], io: Io): Promise<number> {
  const settings = loadSettings(args);
  const { rewriteStore } = await import('../../server/rewriteStore.js');
  const ignore = (): void => undefined;
  const tell = (_fields: object, message: string): void => io.err(message);
  const log = { debug: ignore, info: ignore, warn: tell, error: tell };
  const { objects, rewritten, unreadable } = await rewriteStore(settings, log, count =>
    io.out(`${formatCount(count, 'object')} rewritten`),
  );
  for (const { key, reason } of unreadable.slice(0, MAX_LISTED)) io.err(`unreadable: ${key}: ${reason}`);
  if (unreadable.length > 0)
    io.err(
      `${formatCount(unreadable.length, 'object')} cannot be read, and stayed: bring back their key, or delete them`,
    );
  io.out(`${rewritten} of ${formatCount(objects, 'object')} had to be rewritten`);
  return unreadable.length === 0 ? 0 : 1;
}

async function checkStore(path: string, io: Io): Promise<number> {
  const { checkRocksDb } = await import('../../../plugins/storage/rocksdb/offline/check.js');
  const check = await checkRocksDb(path);
  for (const line of formatReport(check)) io.out(line);
  for (const problem of check.problems) io.err(`problem: ${problem}`);
  io.out(
    check.problems.length === 0
      ? 'the store is sound'
      : `the store is damaged: ${formatCount(check.problems.length, 'problem')}`,
  );
  return check.problems.length === 0 ? 0 : 1;
}

function formatReport({ files, log, mark, rows }: Check): string[] {
  const lines = files.logs.map(({ file, bytes, records, damagedAt, followedByWrite }) => {
    const damage = damagedAt === undefined ? '' : followedByWrite ? ', damaged' : ', ends within a record';
    return `log ${file}: ${formatBytes(bytes)}, ${formatCount(records, 'record')}${damage}`;
  });
  if (log && log.last >= log.first)
    lines.push(`commit log: ${formatBytes(log.bytes)}, ${formatCount(log.last - log.first + 1, 'record')} to apply`);
  if (mark) lines.push(`high-water mark: revision ${mark.revision}`);
  if (!rows) return lines;
  return [
    ...lines,
    `revisions: ${rows.revision}, history after ${rows.compacted}: ${formatCount(rows.events, 'event')}`,
    `objects: ${rows.objects.length}, older versions: ${rows.older}, values: ${formatBytes(rows.bytes)}`,
  ];
}

async function recoverStore(path: string, acceptLoss: boolean, io: Io): Promise<number> {
  const { isLossy, planRecovery, recover } = await import('../../../plugins/storage/rocksdb/offline/recover.js');
  const plan = await planRecovery(path);
  if (plan.problems.length === 0) {
    io.out(`nothing to recover: ${formatCount(plan.objects, 'object')} at revision ${plan.revision}`);
    return 0;
  }
  for (const problem of plan.problems) io.out(`problem: ${problem}`);
  for (const line of formatLosses(plan)) io.out(`lost: ${line}`);
  io.out(`kept: ${formatCount(plan.objects, 'object')}; the history is discarded, so watches must list again`);
  if (isLossy(plan) && !acceptLoss) {
    io.err('nothing was changed: restore a snapshot, or run this again with --accept-loss to give up the lost data');
    return 1;
  }
  const { damagedFilesPath, revision } = await recover(path, { acceptLoss });
  io.out(`recovered: new revisions are above ${revision}; the damaged files are in ${damagedFilesPath}`);
  return 0;
}

function formatLosses({ missing, lost, unaccounted, isMarkMissing }: Recovery): string[] {
  const lines = [
    ...missing.map(({ from, to }) => (from === to ? `revision ${from}` : `revisions ${from} to ${to}`)),
    ...lost.map(({ key, modified }) => `object ${key} (revision ${modified})`),
  ];
  const named =
    lines.length > MAX_LISTED ? [...lines.slice(0, MAX_LISTED), `and ${lines.length - MAX_LISTED} more`] : lines;
  if (unaccounted > 0) named.push(`${formatCount(unaccounted, 'object')} of unknown name`);
  if (isMarkMissing) named.push('possibly the last revisions: there is no high-water mark to compare with');
  return named;
}

const formatCount = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;
