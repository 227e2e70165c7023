import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { median } from '../lib/median.js';
import { type Kind, kindsOf } from './kinds.js';

const READER = new URL('./reader.js', import.meta.url);
/** Messages that are posted before the sender waits for the reader. */
const IN_FLIGHT = 32;
/** The number of items that are sent in a round. */
const ROUND_ITEMS = 4096;
const WAYS = ['cloned', 'messagePack'] as const;

/** CPU of both threads per item, in microseconds. */
export interface MessageCost {
  readonly kind: string;
  readonly count: number;
  readonly used: Kind['used'];
  readonly cloned: number;
  readonly messagePack: number;
}

/** Resolves when the reader has read all messages that were posted before. */
async function waitUntilDrained(reader: Worker): Promise<void> {
  const answer = once(reader, 'message');
  reader.postMessage(null);
  await answer;
}

async function roundOf(reader: Worker, kind: Kind, count: number, way: (typeof WAYS)[number]): Promise<number> {
  reader.postMessage(`${count}/${kind.name}/${way}`);
  await waitUntilDrained(reader);
  const messages = Math.ceil(ROUND_ITEMS / count);
  const before = process.cpuUsage();
  for (let i = 1; i <= messages; i++) {
    reader.postMessage(...kind[way].encode());
    if (i % IN_FLIGHT === 0 || i === messages) await waitUntilDrained(reader);
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / (messages * count);
}

/**
 * Sends messages of `count` items to another thread. Figures are medians of rounds, in which the two ways take turns;
 * the first round warms up.
 */
export async function measureMessages(count: number, rounds: number): Promise<MessageCost[]> {
  const reader = new Worker(READER);
  const costs: MessageCost[] = [];
  for (const kind of kindsOf(count)) {
    const all = { cloned: [] as number[], messagePack: [] as number[] };
    for (let round = 0; round <= rounds; round++)
      for (const way of round % 2 === 0 ? WAYS : WAYS.toReversed()) {
        const us = await roundOf(reader, kind, count, way);
        if (round > 0) all[way].push(us);
      }
    const { name, used } = kind;
    costs.push({ kind: name, count, used, cloned: median(all.cloned), messagePack: median(all.messagePack) });
  }
  await reader.terminate();
  return costs;
}
