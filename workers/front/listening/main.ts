/**
 * A listening thread: a front end of its own, with its own view of all objects, for connections that the main thread
 * accepts. Its jobs are passed to the pool by the main thread, which also answers requests outside of the resources.
 */
import { parentPort } from 'node:worker_threads';
import type { DecisionRecord } from '../../../core/api/observe/decisions.js';
import type { Host } from '../../../core/api/host.js';
import { listener } from '../../../core/api/listener.js';
import { RequestMetrics } from '../../../core/services/metrics/index.js';
import { StoreFeed } from '../../../core/threads/feed.js';
import { Observations } from '../../../core/threads/observations.js';
import {
  type FromListeningThread,
  postedError,
  type ToListeningThread,
} from '../../../core/threads/messages/listening.js';
import { runThread, type Started } from '../../../core/threads/thread.js';
import { buildFront } from '../buildFront.js';
import { batchedByTurn } from '../decisions/batchedByTurn.js';
import { RemotePaths } from './remotePaths.js';
import { RemotePool } from './remotePool.js';

void runThread<ToListeningThread, FromListeningThread, Started<ToListeningThread, FromListeningThread>>({
  kind: 'front',
  name: 'listener',
  port: parentPort!,
  async start(scope, { writer, front: number, shared, continueSecret, settings, aggregation, bindings }, post) {
    const { data, closers } = scope;
    const pool = new RemotePool(post);
    const paths = new RemotePaths(post);
    const metrics = new RequestMetrics();
    const observations = new Observations(observed => post({ is: 'observed', observations: observed }));
    const observe: Host<'front'>['observe'] = (metric, labels, value) => observations.add(metric, labels, value);
    const plugins = await scope.loadPlugins({ observe });
    const { front, state, healthAccess, finishWatches } = await buildFront({
      scope,
      plugins,
      settings,
      aggregation,
      number,
      feed: take => new StoreFeed(writer, new Int32Array(data.counters), take),
      pool,
      decided: batchedByTurn<DecisionRecord>(records => post({ is: 'decided', records })),
      record: use => post({ is: 'used', use }),
      shared,
      continueSecret,
      metrics,
      observe,
      paths: () => paths.handle,
    });
    const serve = plugins.at(listener).at(-1);
    if (!serve?.join) throw new Error('the listener serves in one thread only');
    const joined = await Promise.all(bindings.map(binding => serve.join!(binding, exchange => front.handle(exchange))));
    closers.add('the listeners', () => Promise.all(joined.map(one => one.close())));
    closers.add('the watches', finishWatches);
    await state.loading.first;
    const renew = (id: number): void => {
      try {
        post({ is: 'renewed', id, targets: joined.map(one => one.renew?.() ?? one.target) });
      } catch (error) {
        post({ is: 'notRenewed', id, error: postedError(error) });
      }
    };
    return {
      ready: { is: 'ready', targets: joined.map(({ target }) => target) },
      take(message) {
        switch (message.is) {
          case 'answer':
            return paths.take(message.requestId, message.answer);
          case 'count':
            return post({ is: 'counted', id: message.id, counts: metrics.counts() });
          case 'renew':
            return renew(message.id);
          case 'serve':
            return void healthAccess.refresh();
          default:
            pool.take(message);
        }
      },
    };
  },
});
