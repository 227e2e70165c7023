/**
 * `npm run bench -- [--short] [--plain] [--out FILE] [--against DIR [--rounds N]] [case…]`: runs the named cases, or
 * all, each next to its baseline; `creates` means all cases of that group. Prints tables, and writes the rows as
 * JSON to FILE or below bench/results, charts as SVG next to it, and a page of all results, bench/report.html.
 * `--short`: rough figures, in about three minutes for all cases. `--plain`: HTTP instead of HTTPS. `--against`: runs
 * cases in turn on this build and on that of another checkout, which replaces the baseline, and writes no file
 * without `--out`. `--reference URL --reference-token TOKEN`: runs other cases, next to a running server of another
 * kind, which replaces the baseline, and writes no file without `--out` either.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { issue } from '../core/services/pki/certificate.js';
import { accesses } from './cases/access.js';
import { busyCases } from './cases/busy.js';
import { admissions } from './cases/admission.js';
import { expressions } from './cases/cel.js';
import { creates } from './cases/creates.js';
import { etcds } from './cases/etcd.js';
import { fanout } from './cases/fanout.js';
import { manyReaders } from './cases/identities.js';
import { latencies } from './cases/latency.js';
import { threadMessages } from './cases/messages.js';
import { reads } from './cases/reads.js';
import { referenceCases } from './cases/reference.js';
import { recoveries } from './cases/recovery.js';
import { resources } from './cases/resources.js';
import { slicedLists } from './cases/slices.js';
import { serializations } from './cases/serialization.js';
import { stores } from './cases/store.js';
import { validators } from './cases/validators.js';
import { compare } from './lib/against.js';
import { type Capstan, sendAsAdmin, startCapstan } from './lib/capstan.js';
import type { Bench, Case, Row } from './lib/case.js';
import { tableChart } from './lib/chart.js';
import { historyPage, readHistory } from './lib/history.js';
import { findReference } from './lib/reference.js';
import { table } from './lib/report.js';

const GROUPS: { readonly [name: string]: readonly Case[] } = {
  reads,
  slicedLists,
  manyReaders,
  accesses,
  creates,
  latencies,
  busyCases: busyCases(),
  fanout,
  resources,
  recoveries,
  stores,
  etcds,
  admissions,
  validators,
  expressions,
  serializations,
  threadMessages,
};
/** The folder of results by commit, which is under version control, and the page of all results, which is not. */
const RESULTS = join('bench', 'results');
const REPORT = join('bench', 'report.html');
/** The measured time of one load, in milliseconds. */
const LOAD_MS = { short: 500, long: 8000 };
/**
 * A server collects the garbage of its start after a second. V8 does so by itself, thread by thread, about 8 s after
 * the last work, and then again; a short run does not wait for that.
 */
const QUIET_MS = { short: 1000, long: 20_000 };

/** Creates a certificate for the baselines, like the one that the server creates for itself. */
async function makeCertificate(dir: string): Promise<{ cert: string; key: string }> {
  const year = 365 * 24 * 3600 * 1000;
  const now = Date.now();
  const issued = await issue({
    subject: { commonName: 'baseline' },
    notBefore: now - 3_600_000,
    notAfter: now + year,
    use: 'server',
    sans: ['localhost', '127.0.0.1'],
  });
  const files = { cert: join(dir, 'baseline.crt'), key: join(dir, 'baseline.key') };
  writeFileSync(files.cert, issued.certificate);
  writeFileSync(files.key, issued.key, { mode: 0o600 });
  return files;
}

/** Starts a server with a namespace and a user who may do everything because of a role binding. */
async function prepareServer(dataDir: string, tls: boolean, build?: string): Promise<Capstan> {
  const server = await startCapstan({ dataDir, tls, build });
  await sendAsAdmin(server, 'POST', '/api/v1/namespaces', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'bench' },
  });
  await sendAsAdmin(server, 'POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'bench' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'bench' }],
  });
  return server;
}

/** Ends the process because of a wrong argument. */
function refuse(message: string): never {
  console.error(message);
  process.exit(2);
}

/** The cases with these names, or in groups with these names; all cases if no names are given. */
function casesOf(names: readonly string[], groups: typeof GROUPS): readonly Case[] {
  const all = Object.values(groups).flat();
  const named = names.flatMap(name => {
    const found = Object.hasOwn(groups, name) ? groups[name]! : all.filter(known => known.name === name);
    if (found.length > 0) return found;
    const known = [...Object.keys(groups), ...all.map(one => one.name)];
    return refuse(`there is no case ${name}; the groups and cases are: ${known.join(', ')}`);
  });
  return names.length === 0 ? all : all.filter(known => named.includes(known));
}

/** The cases that compare with the reference at a URL. Ends the process if no server is there. */
function referenceGroup(url: string, token: string | undefined): typeof GROUPS {
  if (token === undefined) refuse('--reference needs --reference-token: a token of an administrator of that server');
  try {
    const found = findReference(url, token);
    return { reference: referenceCases(found), busyCases: busyCases(found) };
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

/** The abbreviated commit that is checked out. */
function commit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short=10', 'HEAD'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return 'unknown';
  }
}

interface Options {
  readonly short: boolean;
  readonly tls: boolean;
  readonly out?: string;
  /** Another checkout to compare with. */
  readonly against?: string;
  readonly rounds: number;
}

type OpenBench = Bench & { close(): Promise<void> };

/** A case and what it measured. */
interface Result {
  readonly of: Case;
  readonly rows: readonly Row[];
}

/** A chart for each table, with the suffix of its file name, which is empty for the common table. */
function chartsOf(results: readonly Result[], isBesideOther: boolean): (readonly [name: string, chart: string])[] {
  const common = results.filter(({ of }) => !of.report).flatMap(({ rows }) => rows);
  const own = results.flatMap(({ of, rows }) => (of.report ? [[`-${of.name}`, of.report.chart(rows)] as const] : []));
  if (!common.some(({ baseline }) => baseline)) return own;
  const than = isBesideOther ? 'the other server' : 'the baseline';
  return [['', tableChart(`Values as multiples of those of ${than}`, than, common)], ...own];
}

/** Writes the rows as JSON, and charts next to it. Returns the names of the files. */
function save(results: readonly Result[], { short, tls, out }: Options): string[] {
  const file = out ?? join(RESULTS, `${commit()}${short ? '-short' : ''}.json`);
  if (out === undefined) mkdirSync(RESULTS, { recursive: true });
  const machine = { node: process.version, cpus: cpus().length, model: cpus()[0]?.model };
  const rows = results.flatMap(result => result.rows);
  const content = { commit: commit(), at: new Date().toISOString(), machine, tls, short, rows };
  writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`);
  const charts = chartsOf(results, reference !== undefined).map(([name, chart]) => {
    const path = `${file.replace(/\.json$/, '')}${name}.svg`;
    writeFileSync(path, chart);
    return path;
  });
  if (out !== undefined) return [file, ...charts];
  writeFileSync(REPORT, historyPage(readHistory(RESULTS)));
  return [file, ...charts, REPORT];
}

/**
 * Creates the resources that cases share: a directory, and a server of a build, which is started for the first case
 * that needs it.
 */
async function prepareBench({ short, tls, against }: Options, build?: string): Promise<OpenBench> {
  const dir = mkdtempSync(join(tmpdir(), 'capstan-bench-'));
  let shared: Promise<Capstan> | undefined;
  const server = (): Promise<Capstan> => (shared ??= prepareServer(join(dir, 'shared'), tls, build));
  const length = short ? 'short' : 'long';
  return {
    short,
    tls,
    against: against !== undefined,
    ms: LOAD_MS[length],
    quietMs: QUIET_MS[length],
    certificate: tls ? await makeCertificate(dir) : {},
    dir,
    server,
    sendAsAdmin: async (method, path, body) => sendAsAdmin(await server(), method, path, body),
    async close() {
      await (await shared)?.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** Runs cases one after the other. */
async function runAll(cases: readonly Case[], options: Options): Promise<Result[]> {
  const bench = await prepareBench(options);
  const other =
    options.against === undefined ? undefined : await prepareBench(options, resolve(options.against, 'dist'));
  const results: Result[] = [];
  try {
    for (const of of cases) {
      const began = performance.now();
      results.push({ of, rows: await (other ? compare(of, bench, other, options.rounds) : of.run(bench)) });
      console.error(`${of.name}: ${((performance.now() - began) / 1000).toFixed(1)} s`);
    }
  } finally {
    await bench.close();
    await other?.close();
  }
  return results;
}

/** The common table of most cases, followed by those of cases with their own tables. */
function print(results: readonly Result[]): void {
  const common = results.filter(({ of }) => !of.report).flatMap(({ rows }) => rows);
  if (common.length > 0) console.log(table(common));
  for (const { of, rows } of results) if (of.report) console.log(of.report.table(rows));
}

const { values, positionals } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    plain: { type: 'boolean', default: false },
    out: { type: 'string' },
    against: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    reference: { type: 'string' },
    'reference-token': { type: 'string' },
  },
  allowPositionals: true,
});
const { short, plain, out, against, reference } = values;
const rounds = Number(values.rounds);
if (!Number.isInteger(rounds) || rounds < 1) refuse(`--rounds must be a positive whole number, not ${values.rounds}`);
if (against !== undefined && !existsSync(resolve(against, 'dist/core/command/main.js')))
  refuse(`--against must name a checkout that has been built (npm run build): there is no build in ${against}`);
const options: Options = { short, tls: !plain, out, against, rounds };
if (against !== undefined && reference !== undefined) refuse('--against and --reference exclude each other');
const groups = reference === undefined ? GROUPS : referenceGroup(reference, values['reference-token']);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));
const results = await runAll(casesOf(positionals, groups), options);
print(results);
if ((against ?? reference) === undefined || out !== undefined)
  for (const file of save(results, options)) console.log(file);
