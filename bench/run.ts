/**
 * `npm run bench -- [--short] [--plain] [--out FILE] [case…]`: runs the named cases, or all, each beside its baseline.
 * Prints tables, and writes the rows as JSON to FILE or below bench/results, charts as SVG beside it. `--short`: rough
 * figures, in a few minutes for all cases. `--plain`: HTTP instead of HTTPS.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { issue } from '../core/pki/certificate.js';
import { expressions } from './cases/cel.js';
import { creates } from './cases/creates.js';
import { etcds } from './cases/etcd.js';
import { fanout } from './cases/fanout.js';
import { manyReaders } from './cases/identities.js';
import { reads } from './cases/reads.js';
import { resources } from './cases/resources.js';
import { serializations } from './cases/serialization.js';
import { stores } from './cases/store.js';
import { admin, type Capstan, startCapstan } from './lib/capstan.js';
import type { Bench, Case, Row } from './lib/case.js';
import { table } from './lib/report.js';

const CASES: readonly Case[] = [
  ...reads,
  ...manyReaders,
  ...creates,
  ...fanout,
  ...resources,
  ...stores,
  ...etcds,
  ...expressions,
  ...serializations,
];
/** Measured time of one load. */
const LOAD_MS = { short: 2000, long: 8000 };
/**
 * A server collects the garbage of its start a second after it. V8 does so by itself, thread by thread, some 8 s after
 * the last work, and a second time; a short run does not wait for that.
 */
const QUIET_MS = { short: 2000, long: 20_000 };

/** Makes a certificate for the baselines, of the kind that the server makes for itself. */
async function certificate(dir: string): Promise<{ cert: string; key: string }> {
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

/** Starts the shared server, with a namespace and a user who may do everything by a role binding. */
async function prepareServer(dir: string, tls: boolean): Promise<Capstan> {
  const server = await startCapstan({ dataDir: join(dir, 'shared'), tls });
  await admin(server, 'POST', '/api/v1/namespaces', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'bench' },
  });
  await admin(server, 'POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'bench' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'bench' }],
  });
  return server;
}

/** The cases of these names; all, if there are none. Ends the process at a name that no case has. */
function casesOf(names: readonly string[]): readonly Case[] {
  const unknown = names.find(name => !CASES.some(known => known.name === name));
  if (unknown !== undefined) {
    console.error(`there is no case ${unknown}; the cases are: ${CASES.map(known => known.name).join(', ')}`);
    process.exit(2);
  }
  return names.length === 0 ? CASES : CASES.filter(known => names.includes(known.name));
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
}

/** A case and what it measured. */
interface Result {
  readonly of: Case;
  readonly rows: readonly Row[];
}

/** Writes the rows as JSON, and charts beside it. Returns the names of the files. */
function save(results: readonly Result[], { short, tls, out }: Options): string[] {
  const file = out ?? join('bench', 'results', `${commit()}${short ? '-short' : ''}.json`);
  if (out === undefined) mkdirSync('bench/results', { recursive: true });
  const machine = { node: process.version, cpus: cpus().length, model: cpus()[0]?.model };
  const rows = results.flatMap(result => result.rows);
  const content = { commit: commit(), at: new Date().toISOString(), machine, tls, short, rows };
  writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`);
  const charts = results.flatMap(({ of, rows }) => {
    if (!of.report) return [];
    const chart = `${file.replace(/\.json$/, '')}-${of.name}.svg`;
    writeFileSync(chart, of.report.chart(rows));
    return [chart];
  });
  return [file, ...charts];
}

/** Runs cases one after the other. They share a server, which is started when the first one asks for it. */
async function runAll(cases: readonly Case[], { short, tls }: Options): Promise<Result[]> {
  const dir = mkdtempSync(join(tmpdir(), 'capstan-bench-'));
  let shared: Promise<Capstan> | undefined;
  const server = (): Promise<Capstan> => (shared ??= prepareServer(dir, tls));
  const length = short ? 'short' : 'long';
  const bench: Bench = {
    short,
    tls,
    ms: LOAD_MS[length],
    quietMs: QUIET_MS[length],
    certificate: tls ? await certificate(dir) : {},
    dir,
    server,
    admin: async (method, path, body) => admin(await server(), method, path, body),
  };
  const results: Result[] = [];
  try {
    for (const of of cases) {
      const began = performance.now();
      results.push({ of, rows: await of.run(bench) });
      console.error(`${of.name}: ${((performance.now() - began) / 1000).toFixed(1)} s`);
    }
  } finally {
    await (await shared)?.close();
    rmSync(dir, { recursive: true, force: true });
  }
  return results;
}

/** The common table of most cases, then those of cases that have their own. */
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
  },
  allowPositionals: true,
});
const options: Options = { short: values.short, tls: !values.plain, out: values.out };
const results = await runAll(casesOf(positionals), options);
print(results);
for (const file of save(results, options)) console.log(file);
