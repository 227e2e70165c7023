import { expect, test } from 'vitest';
import type { PastEvent } from '../../core/threads/messages/messages.js';
import { Slices } from '../../workers/front/fairness/slices.js';
import { Usages } from '../../workers/front/fairness/usage.js';
import type { ReadContext } from '../../workers/front/reads/readContext.js';
import type { Selection } from '../../workers/front/reads/selection.js';
import { Collection } from '../../workers/front/state/collection.js';
import { History } from '../../workers/front/state/history.js';
import { pastEvents } from '../../workers/front/watch/pastEvents.js';
import { partly } from '../support/values.js';
import { unreadableValue } from '../../core/api/index.js';

const selection: Selection = {
  of: { group: '', resource: 'secrets' },
  prefix: 'core/secrets/a/',
  scope: '',
  filtered: false,
  matches: () => true,
};
const watched = {
  selection,
  collection: new Collection('core/secrets', new Map()),
  usage: new Usages().unknown,
};

/** The events of a watch after revision 1, of a store that returns these parts of its history. */
function eventsOf(parts: readonly { readonly events: readonly PastEvent[]; readonly revision: number }[]) {
  const asked: [from: number, to: number][] = [];
  const context = partly<ReadContext>({
    state: { history: new History(10, 1000) },
    slices: new Slices(),
    past: async (_usage: unknown, _prefix: string, from: number, to: number) => {
      asked.push([from, to]);
      return parts[asked.length - 1]!;
    },
  });
  return { asked, events: pastEvents(context, watched, 1, 10) };
}
const object = (name: string) => Buffer.from(`{"metadata":{"name":"${name}","resourceVersion":"1"}}`);

test('a watch asks the store for the next part of its past when its reader has taken the one before', async () => {
  const { asked, events } = eventsOf([
    { events: [{ key: 'core/secrets/a/x', revision: 3, created: 3, value: object('x') }], revision: 5 },
    { events: [], revision: 7 },
    { events: [{ key: 'core/secrets/a/x', revision: 8, created: 3, previous: object('x') }], revision: 10 },
  ]);
  expect((await events.next()).value).toMatchObject([{ type: 'ADDED' }]);
  expect(asked).toEqual([[1, 10]]);
  expect((await events.next()).value).toEqual([]);
  expect((await events.next()).value).toMatchObject([{ type: 'DELETED' }]);
  expect(await events.next()).toEqual({ done: true, value: undefined });
  expect(asked).toEqual([
    [1, 10],
    [5, 10],
    [7, 10],
  ]);
});

test('a watch that cannot be shown a deletion is refused with 410', async () => {
  const previous = unreadableValue('its key is away');
  const { events } = eventsOf([
    { events: [{ key: 'core/secrets/a/x', revision: 3, created: 1, previous }], revision: 10 },
  ]);
  await expect(events.next()).rejects.toMatchObject({ reason: 'Expired', code: 410 });
});
