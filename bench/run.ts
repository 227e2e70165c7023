/** `npm run bench -- [--short] [--plain] [--out FILE] [case…]`: each case beside its baseline, in one run. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { issue } from '../core/pki/certificate.js';
import { expressions } from './cases/cel.js';
import { creates } from './cases/creates.js';
import { etcds } from './cases/etcd.js';
import { fanout } from './cases/fanout.js';
import { reads } from './cases/reads.js';
import { resources } from './cases/resources.js';
import { stores } from './cases/store.js';
import { admin, type Capstan, startCapstan } from './lib/capstan.js';
import type { Bench, Case, Row } from './lib/case.js';
import { table } from './lib/report.js';

const CASES: readonly Case[] = [...reads, ...creates, ...fanout, ...resources, ...stores, ...etcds, ...expressions];
const SHORT_MS = 2000;
const LONG_MS = 8000;

/** A certificate for the baselines, of the kind that the server makes for itself. */
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

/** The shared server with a namespace, and a user who may do everything by a role binding. */
async function prepared(dir: string, tls: boolean): Promise<Capstan> {
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

function chosen(names: readonly string[]): readonly Case[] {
  const unknown = names.find(name => !CASES.some(known => known.name === name));
  if (unknown !== undefined) {
    console.error(`no case ${unknown}; there are: ${CASES.map(known => known.name).join(', ')}`);
    process.exit(2);
  }
  return names.length === 0 ? CASES : CASES.filter(known => names.includes(known.name));
}

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

function save(rows: readonly Row[], options: { short: boolean; tls: boolean; out?: string }): string {
  const file = options.out ?? join('bench', 'results', `${commit()}${options.short ? '-short' : ''}.json`);
  if (options.out === undefined && !existsSync('bench/results')) mkdirSync('bench/results', { recursive: true });
  const machine = { node: process.version, cpus: cpus().length, model: cpus()[0]?.model };
  const result = {
    commit: commit(),
    at: new Date().toISOString(),
    machine,
    tls: options.tls,
    short: options.short,
    rows,
  };
  writeFileSync(file, `${JSON.stringify(result, null, 2)}\n`);
  return file;
}

async function runAll(cases: readonly Case[], short: boolean, tls: boolean): Promise<Row[]> {
  const dir = mkdtempSync(join(tmpdir(), 'capstan-bench-'));
  let shared: Promise<Capstan> | undefined;
  const server = (): Promise<Capstan> => (shared ??= prepared(dir, tls));
  const bench: Bench = {
    short,
    tls,
    ms: short ? SHORT_MS : LONG_MS,
    certificate: tls ? await certificate(dir) : {},
    dir,
    server,
    admin: async (method, path, body) => admin(await server(), method, path, body),
  };
  const rows: Row[] = [];
  try {
    for (const one of cases) {
      console.error(`${one.name} …`);
      rows.push(...(await one.run(bench)));
    }
  } finally {
    await (await shared)?.close();
    rmSync(dir, { recursive: true, force: true });
  }
  return rows;
}

const { values, positionals } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    plain: { type: 'boolean', default: false },
    out: { type: 'string' },
  },
  allowPositionals: true,
});
const rows = await runAll(chosen(positionals), values.short, !values.plain);
console.log(table(rows));
console.log(save(rows, { short: values.short, tls: !values.plain, out: values.out }));
