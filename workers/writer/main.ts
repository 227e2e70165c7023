/** The writer's thread: opens the store, then commits the proposals of other threads until it is closed. */
import { storage } from '../../core/api/storage.js';
import type { FromWriterThread, ToWriterThread } from '../../core/threads/messages/lifecycle.js';
import { Observations } from '../../core/threads/observations.js';
import { runThreadOrGuests } from '../../core/threads/sharedThread.js';
import { fail, type Started } from '../../core/threads/thread.js';
import { MainWatch } from './mainWatch.js';
import { Writer } from './writer.js';

runThreadOrGuests<ToWriterThread, FromWriterThread, Started<ToWriterThread, FromWriterThread>>({
  kind: 'writer',
  name: 'writer',
  async start({ data, log, closers, loadPlugins }, { firstObjects }, post) {
    const observations = new Observations(observed => post({ is: 'observed', observations: observed }));
    const plugins = await loadPlugins({
      observe: (metric, labels, value) => observations.add(metric, labels, value),
    });
    const store = plugins.at(storage);
    const writer = new Writer(store, new Int32Array(data.counters), fail, log);
    closers.add('the store', () => writer.close());
    const mainWatch = new MainWatch(() => post({ is: 'mainPing' }), log);
    closers.add('the watch of the main thread', () => mainWatch.end());
    const { revision, isNew } = await writer.start(firstObjects);
    // The writer continues: it answers proposals with the error until the server has drained.
    void store.failed?.then(error => post({ is: 'failed', message: error.message }));
    const shared = store.shared && { secret: store.shared.secret };
    return {
      ready: { is: 'ready', storeName: store.name, revision, isNew, ...(shared && { shared }) },
      take(message) {
        switch (message.is) {
          case 'connect':
            return writer.connect(message);
          case 'watchMain':
            return mainWatch.watch(message.main);
          case 'mainPong':
            return mainWatch.answered();
        }
      },
    };
  },
});
