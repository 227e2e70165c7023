import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { compactVerify } from 'jose';
import { Connection, requestBytes } from '../load/connection.js';
import { type Capstan, sendAsAdmin, startCapstan } from '../lib/capstan.js';
import { type Bench, type Case, costOf, cpuPerOperation, type Row, rateOf, timesOf } from '../lib/case.js';
import { startProvider, startWebhook } from '../lib/identityServers.js';
import { load } from '../lib/load.js';
import { cpuOf } from '../lib/process.js';

const IDENTITIES = 200;
/** Identities that a webhook is asked about. */
const ASKED = 1000;
const CONNECTIONS = 32;
/** How long the webhook takes, so that requests which had to wait for others would be seen. */
const WEBHOOK_MS = 100;
/** The most that a token seen first may cost more than a static one, beside its signature, in microseconds of CPU. */
const FIRST_US = 250;

const PATH = '/api/v1/namespaces/default';
/** Tokens that are not those of the cases that measure them. */
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

/** Sends one get with each token, over a few connections. Returns the microseconds of CPU, and how long each took. */
async function getOnce(server: Capstan, tokens: readonly string[]): Promise<{ us: number; times: number[] }> {
  const connections = await Promise.all(Array.from({ length: CONNECTIONS }, () => Connection.open(server)));
  const times: number[] = [];
  let next = 0;
  const before = cpuOf(server.pid);
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
  const after = cpuOf(server.pid);
  for (const connection of connections) connection.close();
  return { us: (after.user - before.user + after.system - before.system) / tokens.length, times };
}

/** The microseconds that the signature of a token takes to verify, with the library that the server uses. */
async function verification(tokens: readonly string[], key: Parameters<typeof compactVerify>[1]): Promise<number> {
  const sample = tokens.slice(0, 200);
  for (const token of sample) await compactVerify(token, key);
  const before = process.cpuUsage();
  for (const token of sample) await compactVerify(token, key);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / sample.length;
}

async function providerRows(bench: Bench): Promise<Row[]> {
  const dir = join(bench.dir, 'access-provider');
  mkdirSync(dir);
  const provider = await startProvider(dir);
  const count = bench.short ? 1000 : 10_000;
  const fixed = tokensOf('bench-fixed', IDENTITIES + count);
  const server = await startCapstan({ dataDir: dir, tls: bench.tls, tokens: fixed, flags: provider.flags });
  try {
    await allowGets(server);
    const signed: string[] = [];
    for (let i = 0; i < fixed.length; i++) signed.push(await provider.token(`user-${i}@example.com`));
    const seen = signed.slice(0, IDENTITIES);
    // Half of the tokens are sent before, so that the code is compiled and the keys are there.
    const half = IDENTITIES + count / 2;
    for (const tokens of [fixed, signed]) await getOnce(server, tokens.slice(0, half));
    const firstFixed = await getOnce(server, fixed.slice(half));
    const firstSigned = await getOnce(server, signed.slice(half));
    const ownUs = await verification(seen, provider.publicKey);
    const task = { is: 'many', address: server, paths: [PATH], connections: CONNECTIONS, ms: bench.ms } as const;
    const byFixed = await load({ ...task, tokens: fixed.slice(0, IDENTITIES) }, server.pid);
    const bySigned = await load({ ...task, tokens: seen }, server.pid);
    return [
      {
        case: `get: ${IDENTITIES} tokens of a provider that were seen before; beside static ones`,
        unit: 'requests/s',
        value: rateOf(bySigned),
        baseline: rateOf(byFixed),
        aim: 0.9,
        ...costOf(bySigned),
        baselineUs: cpuPerOperation(byFixed),
        note: timesOf(bySigned),
      },
      {
        case: 'first get with a token of a provider, more than with a static one, without its signature; limit',
        unit: 'µs CPU',
        value: firstSigned.us - firstFixed.us - ownUs,
        baseline: FIRST_US,
        aim: 1,
        atMost: true,
        note: `in all ${firstSigned.us.toFixed(0)} µs, static ${firstFixed.us.toFixed(0)}, signature ${ownUs.toFixed(0)}`,
      },
    ];
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
    // Each identity three times more: the answers are known.
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
 * Identities and decisions from outside: tokens of a provider, seen before and first seen, and a webhook for access.
 * Each has a server of its own.
 */
const access: Case = {
  name: 'access',
  run: async bench => [...(await providerRows(bench)), ...(await webhookRows(bench))],
};

/** Identities and decisions from outside. */
export const accesses: readonly Case[] = [access];
