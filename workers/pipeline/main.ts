import { MessageChannel, parentPort, workerData } from 'node:worker_threads';
import { authenticator, authorizer } from '../../core/api/access.js';
import { mutator, validator } from '../../core/api/admission.js';
import type { Transaction } from '../../core/api/storage.js';
import { namingOf } from '../../core/naming.js';
import { hostOf, Releases } from '../../core/plugin/host.js';
import { logOf } from '../../core/plugin/log.js';
import { Informers } from '../../core/plugin/informers.js';
import { loadPlugins } from '../../core/plugin/load.js';
import { liveRegistry } from '../../core/server/registry.js';
import type { ThreadData } from '../../core/threads/data.js';
import { Entry } from '../../core/threads/entry.js';
import { StoreFeed } from '../../core/threads/feed.js';
import {
  type FromStore,
  type WireEvent,
  type Job,
  type JobResult,
  packProposals,
  packResults,
  type Proposal,
  type WorkerBegun,
} from '../../core/threads/messages.js';
import { readSnapshot } from '../../core/threads/snapshot.js';
import type { Context } from './context.js';
import { run } from './pipeline.js';

const data = workerData as ThreadData;
const { port1: toStore, port2: ofStore } = new MessageChannel();
const { port1: life, port2: ofLife } = new MessageChannel();
let loaded: () => void;
const snapshot = new Promise<void>(resolve => {
  loaded = resolve;
});

const informers = new Informers(() => feed.catchUp());
parentPort!.postMessage({ is: 'worker', port: ofStore, life: ofLife } satisfies WorkerBegun, [ofStore, ofLife]);
const counter: number = await new Promise(resolve =>
  toStore.once('message', (first: { counter: number }) => resolve(first.counter)),
);
const feed = new StoreFeed(toStore, new Int32Array(data.counters), counter, take);

function take(message: FromStore): void {
  if (message.is === 'snapshot') {
    readSnapshot(message.page, entry => {
      informers.set(entry);
      live.apply(entry);
    });
    if (message.last) loaded();
  } else if (message.is === 'events') for (const event of message.events) apply(event);
}

function apply(event: WireEvent): void {
  if (event.value) informers.set(Entry.of(event));
  else informers.delete(event.key, event.revision);
  live.apply(event);
}

const log = logOf('pipeline', data.verbosity);
const releases = new Releases();
life.once('message', () => void releases.run(log).then(() => life.postMessage('closed')));
const host = hostOf(data, 'request', { onClose: releases.add, informer: name => informers.of(name) });
const plugins = await loadPlugins(data.plugins, 'request', host);
const live = liveRegistry(data, plugins, log);
for (const { strategy } of live.current.stored) for (const name of strategy.looksAt ?? []) informers.of(name);
const context: Context = {
  naming: namingOf(data.naming),
  get registry() {
    return live.current;
  },
  authentication: plugins.at(authenticator),
  authorization: plugins.at(authorizer),
  mutate: plugins.at(mutator),
  validate: plugins.at(validator),
  anonymous: data.anonymous,
  log,
  now: Date.now,
  lookup: (storageName, namespace, name) => informers.of(storageName).get(namespace, name),
  listOf: storageName => informers.of(storageName).list(),
  catchUp: () => feed.catchUp(),
};
toStore.postMessage({ is: 'subscribe', prefixes: [...new Set([...informers.prefixes, ...live.prefixes])] });
await snapshot;

/** One batch of requests: the writer gets their proposals in one message. */
export default async function batch(jobs: readonly Job[]): Promise<JobResult[]> {
  const proposals: Proposal[] = [];
  const propose = (id: number, operations: Transaction): void => {
    proposals.push({ id, operations });
  };
  context.catchUp();
  const judgedBy = live.current;
  let results = await Promise.all(jobs.map(job => run(context, job, propose)));
  context.catchUp();
  if (live.current !== judgedBy && proposals.length > 0) {
    // Kinds changed meanwhile: what would be written is judged again.
    const proposed = new Set(proposals.splice(0).map(({ id }) => id));
    results = await Promise.all(results.map((result, i) => (proposed.has(result.id) ? run(context, jobs[i]!, propose) : result)));
  }
  if (proposals.length > 0) {
    const [packed, transfer] = packProposals(proposals);
    toStore.postMessage({ is: 'propose', proposals: packed }, transfer);
  }
  return packResults(results);
}
