import { expect, it } from 'vitest';
import { type Storage, type StoreEvent, Unavailable } from '../../core/api/index.js';
import { SharedFeed } from '../../workers/writer/sharedFeed.js';
import { delay, nextTurn } from '../../core/runtime/timers.js';
import { partly } from '../support/values.js';
import { inVirtualTime } from '../support/virtualTime.js';

/** A shared store whose revision and events the test controls. */
function byHand() {
  let deliver: (events: readonly StoreEvent[], revision: number) => void = () => {};
  let answers: ((revision: number) => void)[] = [];
  const state = { revision: 1, asked: 0, marks: 0, away: false, stalled: false };
  const storage = partly<Storage>({
    shared: {
      secret: new Uint8Array(),
      mark: async () => {
        if (state.away) throw new Unavailable('away');
        state.marks++;
        const revision = ++state.revision;
        if (!state.stalled) queueMicrotask(() => deliver([], revision));
        return revision;
      },
    },
    revision: () => {
      state.asked++;
      return new Promise<number>(resolve => answers.push(resolve));
    },
    watch: (_prefix: string, _from: number, take: typeof deliver, signal: AbortSignal) => {
      deliver = take;
      return new Promise<void>(resolve => signal.addEventListener('abort', () => resolve()));
    },
  });
  const failures: Error[] = [];
  const feed = new SharedFeed(
    storage,
    () => {},
    error => failures.push(error),
  );
  const answer = (revision: number) => {
    const waiting = answers;
    answers = [];
    for (const resolve of waiting) resolve(revision);
  };
  return { feed, state, answer, failures, commit: (revision: number) => deliver([], revision) };
}

it('readers that arrive during a request for the revision share the next one', async () => {
  const { feed, state, answer, commit } = byHand();
  await feed.start();
  const first = feed.sync();
  const later = Promise.all(Array.from({ length: 100 }, () => feed.sync()));
  expect(state.asked).toBe(1);
  answer(feed.revision);
  await first;
  await new Promise(resolve => setImmediate(resolve));
  expect(state.asked).toBe(2);
  commit(50);
  answer(50);
  await later;
  expect(state.asked).toBe(2);
  feed.stop();
});

it('a reader waits for the revision of the store, and a mark is written if no event has this revision', async () => {
  const { feed, state, answer } = byHand();
  await feed.start();
  const { marks } = state;
  state.revision = 90;
  const reading = feed.sync();
  answer(90);
  await reading;
  expect(feed.revision).toBe(91);
  expect(state.marks).toBe(marks + 1);
  feed.stop();
});

it('one mark is written for all readers that wait for a watch which stalls', async () => {
  await inVirtualTime(async pass => {
    const { feed, state, answer, commit } = byHand();
    await pass(feed.start());
    const { marks } = state;
    state.stalled = true;
    const refused: Promise<void>[] = [];
    for (const revision of [90, 90, 91]) {
      state.revision = 90;
      const reading = feed.sync();
      answer(revision);
      refused.push(expect(reading).rejects.toThrow('the changes of the store do not arrive'));
      await nextTurn();
    }
    await pass(Promise.all(refused));
    expect(state.marks).toBe(marks + 1);
    state.revision = 100;
    const reading = feed.sync();
    answer(100);
    while (state.marks === marks + 1) await pass(delay(1));
    commit(state.revision);
    await pass(reading);
    feed.stop();
  });
});

it('a store that has lost data is no longer served', async () => {
  const { feed, answer, failures, commit } = byHand();
  await feed.start();
  commit(80);
  const reading = feed.sync();
  answer(70);
  await expect(reading).rejects.toThrow('it lost data');
  expect(failures.map(error => error.message)).toEqual([
    'the store is at revision 70, but was at 80 before: it lost data; start again',
  ]);
  feed.stop();
});

it('readers that wait when the feed ends get an error that the store is not available', async () => {
  const { feed } = byHand();
  await feed.start();
  const waiting = feed.waitFor(1000, false);
  feed.stop();
  await expect(waiting).rejects.toThrow(Unavailable);
});
