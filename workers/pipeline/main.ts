/**
 * A thread of the pool: Piscina calls the default export with each batch. All else, from the port to the writer to the
 * close, goes through a channel of its own to the front end.
 */
import { MessageChannel, parentPort, threadId } from 'node:worker_threads';
import { move, transferableSymbol, valueSymbol } from 'piscina';
import { authenticator, authorizer } from '../../core/api/access.js';
import { mutator, validator } from '../../core/api/admission.js';
import { namingOf } from '../../core/naming.js';
import { Informers } from '../../core/plugin/informers.js';
import { liveRegistry } from '../../core/plugin/registry.js';
import type { FromPoolThread, PoolThreadCreated, ToPoolThread } from '../../core/threads/lifecycle.js';
import { type Batch, type BatchOutcome, packLate, packOutcomes } from '../../core/threads/messages.js';
import { ObjectFeed } from '../../core/threads/objectFeed.js';
import { runThread } from '../../core/threads/thread.js';
import { BatchRunner } from './batches.js';
import type { Context } from './context.js';

const { port1: port, port2: frontEnd } = new MessageChannel();
parentPort!.postMessage({ thread: threadId, port: frontEnd } satisfies PoolThreadCreated, [frontEnd]);

const thread = runThread<ToPoolThread, FromPoolThread, { ready: { is: 'ready' }; runner: BatchRunner }>({
  kind: 'request',
  name: 'pipeline',
  port,
  async start({ data, log, loadPlugins }, { writer }, post) {
    const informers = new Informers(() => feed.catchUp());
    const feed = new ObjectFeed(writer, data.counters, {
      apply(key, revision, entry) {
        if (entry) informers.set(entry);
        else informers.delete(key, revision);
        live.apply(entry ?? { key, revision });
      },
    });
    const plugins = await loadPlugins({ informer: name => informers.of(name) });
    const live = liveRegistry(data, plugins, log);
    for (const { strategy } of live.current.stored) for (const name of strategy.reads ?? []) informers.of(name);
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
    const runner = new BatchRunner(context, {
      propose: proposals => feed.post({ is: 'propose', proposals }),
      late(outcomes) {
        const [packed, transfer] = packLate(outcomes);
        post({ is: 'late', outcomes: packed }, transfer);
      },
    });
    await feed.subscribe([...new Set([...informers.prefixes, ...live.prefixes])]);
    return { ready: { is: 'ready' }, runner };
  },
});

/** Runs a batch, once the thread has started. */
export default async function runBatch(batch: Batch): Promise<BatchOutcome> {
  const { runner } = await thread;
  const { outcomes, thread: id } = await runner.run(batch);
  const [packed, transfer] = packOutcomes(outcomes);
  const answer = { thread: id, outcomes: packed };
  if (transfer.length === 0) return answer;
  return move({ [transferableSymbol]: transfer, [valueSymbol]: answer }) as never;
}
