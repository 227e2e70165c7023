import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { compactVerify } from 'jose';
import { Connection, requestBytes } from '../load/connection.js';
import { type Capstan, sendAsAdmin, startCapstan } from '../lib/capstan.js';
import { type Bench, type Case, cpuPerOperation, type Row } from '../lib/case.js';
import { type BenchProvider, startProvider, startWebhook } from '../lib/identityServers.js';
import { load } from '../lib/load.js';
import { median } from '../lib/median.js';
import { threadsOf, usedBetween } from '../lib/process.js';

const IDENTITIES = 200;
/** The number of identities that a webhook decides about. */
const ASKED = 1000;
const CONNECTIONS = 32;
/** The duration of an answer of the webhook in milliseconds: long enough to show requests that wait for others. */
const WEBHOOK_MS = 100;
/**
 * The limit for the cost of a new token above that of a static one, without its signature, in microseconds of CPU time.
 */
const FIRST_US = 250;
/** The number of turns for medians: other programs on the machine make single figures unreliable. */
const TURNS = 5;
/**
 * The number of tokens of the first turn, which is not measured: V8 optimizes the code for so many, in its own threads,
 * which takes more CPU time than the requests themselves.
 */
const WARM_UP = 3000;

const PATH = '/api/v1/namespaces/default';
/** Users whose tokens are not used by the cases that measure new tokens. */
const tokensOf = (prefix: string, count: number): string[] => Array.from({ length: count }, (_, i) => `${prefix}-${i}`);

/** Allows the group of the identities to get everything, by a role binding. */
async function allowGets(server: Capstan): Promise<void> {
  const group = 'rbac.authorization.k8s.io';
  await sendAsAdmin(server, 'POST', `/apis/${group}/v1/clusterrolebindings`, {
    metadata: { name: 'bench-many' },
    roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: group, kind: 'Group', name: 'bench-many' }],
  });
}

/**
 * Sends one get with each token, over a few connections. Returns the CPU time in microseconds, and the duration of
 * each.
 */
async function getOnce(server: Capstan, tokens: readonly string[]): Promise<{ us: number; times: number[] }> {
  const connections = await Promise.all(Array.from({ length: CONNECTIONS }, () => Connection.open(server)));
  const times: number[] = [];
  let next = 0;
  const before = threadsOf(server.pid);
  await Promise.all(
    connections.map(async connection => {
      for (let i = next++; i < tokens.length; i = next++) {
        const began = performance.now();
        const { status } = await connection.send(requestBytes({ ...server, token: tokens[i]! }, 'GET', PATH));
        if (status !== 200) throw new Error(`GET ${PATH}: ${status}`);
        times.push(performance.now() - began);
      }
    }),
  );
  const used = usedBetween(before, threadsOf(server.pid));
  for (const connection of connections) connection.close();
  return { us: Array.from(used.values(), ({ cpu }) => cpu).reduce((sum, cpu) => sum + cpu, 0) / tokens.length, times };
}

/**
 * The CPU time in microseconds of verifying the signature of a token, with the library that the server uses, and as
 * many at a time as concurrent requests are sent.
 */
async function verification(tokens: readonly string[], key: Parameters<typeof compactVerify>[1]): Promise<number> {
  let next = 0;
  const before = process.cpuUsage();
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      for (let i = next++; i < tokens.length; i = next++) await compactVerify(tokens[i]!, key);
    }),
  );
  const { user, system } = process.cpuUsage(before);
  return (user + system) / tokens.length;
}

/** Makes static tokens with the same lengths as these, so that the length of headers does not affect the comparison. */
const asLongAs = (tokens: readonly string[]): string[] =>
  tokens.map((token, i) => `bench-fixed-${i}-`.padEnd(token.length, 'x'));

/** The CPU time of first gets in microseconds, by turn, after a turn of WARM_UP tokens. */
async function firstGets(
  server: Capstan,
  provider: BenchProvider,
  fixed: readonly string[],
  signed: readonly string[],
) {
  const size = Math.floor((fixed.length - WARM_UP) / TURNS);
  const found = { fixed: [] as number[], signed: [] as number[], signature: [] as number[] };
  for (let turn = 0; turn <= TURNS; turn++) {
    const end = WARM_UP + turn * size;
    const [own, others] = [signed, fixed].map(all => all.slice(turn === 0 ? 0 : end - size, end)) as [
      string[],
      string[],
    ];
    const measure = {
      fixed: async () => (await getOnce(server, others)).us,
      signed: async () => (await getOnce(server, own)).us,
      signature: () => verification(own, provider.publicKey),
    };
    const names = Object.keys(measure) as (keyof typeof measure)[];
    for (const name of turn % 2 === 0 ? names : names.reverse()) {
      const us = await measure[name]();
      if (turn > 0) found[name].push(us);
    }
  }
  return found;
}

/** The cost of first gets without the signature: the median of the differences in each turn. */
function firstRow({ fixed, signed, signature }: Awaited<ReturnType<typeof firstGets>>): Row {
  const [all, others, own] = [signed, fixed, signature].map(values => median(values).toFixed(0));
  return {
    case: 'first get with a token of a provider, more than with a static one, without its signature; limit',
    unit: 'µs CPU',
    value: median(signed.map((us, turn) => us - fixed[turn]! - signature[turn]!)),
    baseline: FIRST_US,
    aim: 1,
    atMost: true,
    note: `medians of ${TURNS} turns after a warm-up: in all ${all} µs, static ${others}, signature ${own}`,
  };
}

/** The cost of gets with tokens that were seen before: medians of turns. */
async function seenRow(bench: Bench, server: Capstan, fixed: readonly string[], seen: readonly string[]): Promise<Row> {
  const task = { is: 'many', address: server, paths: [PATH], connections: CONNECTIONS, ms: bench.ms } as const;
  const cost = async (tokens: readonly string[]): Promise<number> =>
    cpuPerOperation(await load({ ...task, tokens }, server.pid));
  const turns: { fixed: number; seen: number }[] = [];
  for (let turn = 0; turn < TURNS; turn++) {
    const one = await cost(turn % 2 === 0 ? fixed : seen);
    const other = await cost(turn % 2 === 0 ? seen : fixed);
    turns.push(turn % 2 === 0 ? { fixed: one, seen: other } : { fixed: other, seen: one });
  }
  return {
    case: `get: ${IDENTITIES} tokens of a provider that were seen before; static ones of the same length`,
    unit: 'µs CPU',
    value: median(turns.map(turn => turn.seen)),
    baseline: median(turns.map(turn => turn.fixed)),
    aim: 1.05,
    atMost: true,
    note: `medians of ${TURNS} turns; median ratio ${median(turns.map(turn => turn.seen / turn.fixed)).toFixed(2)}`,
  };
}

async function providerRows(bench: Bench): Promise<Row[]> {
  const dir = join(bench.dir, 'access-provider');
  mkdirSync(dir);
  const provider = await startProvider(dir);
  const signed: string[] = [];
  for (let i = 0; i < WARM_UP + TURNS * (bench.short ? 400 : 3000); i++)
    signed.push(await provider.token(`user-${i}@example.com`));
  const fixed = asLongAs(signed);
  const server = await startCapstan({ dataDir: dir, tls: bench.tls, tokens: fixed, flags: provider.flags });
  try {
    await allowGets(server);
    const first = firstRow(await firstGets(server, provider, fixed, signed));
    return [await seenRow(bench, server, fixed.slice(0, IDENTITIES), signed.slice(0, IDENTITIES)), first];
  } finally {
    await server.close();
    provider.close();
  }
}

const worst = (times: readonly number[]): number => times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)]!;

async function webhookRows(bench: Bench): Promise<Row[]> {
  const dir = join(bench.dir, 'access-webhook');
  mkdirSync(dir);
  const webhook = await startWebhook(dir, WEBHOOK_MS);
  const asked = tokensOf('bench-asked', ASKED);
  const server = await startCapstan({ dataDir: dir, tls: bench.tls, tokens: asked, flags: webhook.flags });
  try {
    const others = (): Promise<{ times: number[] }> => getOnce(server, Array(500).fill(server.adminToken) as string[]);
    await others();
    const alone = await others();
    const running = getOnce(server, asked);
    const beside = await others();
    const { us } = await running;
    // Three more requests of each identity: the answers are cached.
    for (let i = 0; i < 3; i++) await getOnce(server, asked);
    const calls = asked.map((_, i) => webhook.calls.get(`bench-${i}`) ?? 0);
    return [
      {
        case: `calls of a webhook for access by each of ${ASKED} identities, of 4 gets`,
        unit: 'calls',
        value: Math.max(...calls),
        baseline: 1,
        aim: 1,
        atMost: true,
        note: `${calls.filter(count => count !== 1).length} identities with another number; first get ${us.toFixed(0)} µs CPU`,
      },
      {
        case: `get by others while ${ASKED} identities wait for the webhook; alone`,
        unit: 'ms, 99 %',
        value: worst(beside.times),
        baseline: worst(alone.times),
        note: `the webhook takes ${WEBHOOK_MS} ms`,
      },
    ];
  } finally {
    await server.close();
    webhook.close();
  }
}

/**
 * External identities and decisions: tokens of a provider, cached and new ones, and an authorization webhook.
 * Each has its own server.
 */
const access: Case = {
  name: 'access',
  run: async bench => [...(await providerRows(bench)), ...(await webhookRows(bench))],
};

/** External identities and decisions. */
export const accesses: readonly Case[] = [access];
