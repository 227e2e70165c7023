import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { authenticator, authorizer } from '../../core/api/access.js';
import { mutator, validator } from '../../core/api/admission.js';
import type { Transaction } from '../../core/api/storage.js';
import { namingOf } from '../../core/naming.js';
import { hostOf } from '../../core/plugin/host.js';
import { Releases } from '../../core/plugin/releases.js';
import { logOf } from '../../core/plugin/log.js';
import { Informers } from '../../core/plugin/informers.js';
import { loadPlugins } from '../../core/plugin/load.js';
import { liveRegistry } from '../../core/plugin/registry.js';
import type { ThreadData } from '../../core/threads/data.js';
import { Entry } from '../../core/threads/entry.js';
import { StoreFeed } from '../../core/threads/feed.js';
import {
  type FromPool,
  type FromWriter,
  type Job,
  type JobResult,
  packProposals,
  packResults,
  type Proposal,
  type ToPool,
  type WireEvent,
} from '../../core/threads/messages.js';
import { readSnapshot } from '../../core/threads/snapshot.js';
import type { Context } from './context.js';
import { run } from './pipeline.js';

const { start, ...data } = workerData as ThreadData & {
  readonly start: { readonly port: MessagePort; readonly counter: number };
};
const front = parentPort!;
const tell = (message: FromPool, transfer: readonly ArrayBuffer[] = []): void => front.postMessage(message, transfer);
let snapshotTaken: () => void;
const snapshot = new Promise<void>(resolve => {
  snapshotTaken = resolve;
});
let begin: () => void;
const begun = new Promise<void>(resolve => {
  begin = resolve;
});
front.on('message', (message: ToPool) => {
  if (message.is === 'close') void releases.run(log).then(() => tell({ is: 'closed' }));
  else void begun.then(() => ran(message));
});

const informers = new Informers(() => feed.catchUp());
const feed = new StoreFeed(start.port, new Int32Array(data.counters), start.counter, take);

function take(message: FromWriter): void {
  if (message.is === 'snapshot') {
    readSnapshot(message.page, entry => {
      informers.set(entry);
      live.apply(entry);
    });
    if (message.last) snapshotTaken();
  } else if (message.is === 'events') for (const event of message.events) apply(event);
}

function apply(event: WireEvent): void {
  if (event.value) informers.set(Entry.of(event));
  else informers.delete(event.key, event.revision);
  live.apply(event);
}

const log = logOf('pipeline', data.verbosity);
const releases = new Releases();
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
start.port.postMessage({ is: 'subscribe', prefixes: [...new Set([...informers.prefixes, ...live.prefixes])] });
await snapshot;
tell({ is: 'ready' });
begin!();

/** Answers a batch. */
async function ran({ batch, jobs }: Extract<ToPool, { is: 'run' }>): Promise<void> {
  try {
    const [results, transfer] = packResults(await resultsOf(jobs));
    tell({ is: 'ran', batch, results }, transfer);
  } catch (error) {
    log.error({ stack: (error as Error).stack }, 'a batch of requests failed');
    tell({ is: 'failed', batch, message: String(error) });
  }
}

/** Runs the jobs of a batch: the writer gets their proposals in one message. */
async function resultsOf(jobs: readonly Job[]): Promise<JobResult[]> {
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
    results = await Promise.all(
      results.map((result, i) => (proposed.has(result.id) ? run(context, jobs[i]!, propose) : result)),
    );
  }
  if (proposals.length > 0) {
    const [packed, transfer] = packProposals(proposals);
    start.port.postMessage({ is: 'propose', proposals: packed }, transfer);
  }
  return results;
}
