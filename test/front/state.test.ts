import { expect, test } from 'vitest';
import { unreadableValue } from '../../core/api/index.js';
import { LiveRegistry } from '../../core/schema/registry/live.js';
import { packStartPage } from '../../core/threads/entries/startPage.js';
import { State } from '../../workers/front/state/state.js';
import { registryOf } from '../kinds/builtIn.js';

const KEY = 'core/secrets/default/a';
const SECRETS = { group: '', resource: 'secrets' };
const ignore = (): void => undefined;

test('an object that could not be read is read when its page is sent again', () => {
  const live = new LiveRegistry(registryOf('neutral'), [], [], { error: ignore });
  const unreadable: string[] = [];
  const state = new State(live, Date.now, ignore, ignore, ignore, undefined, 1000, ({ reason }) =>
    unreadable.push(reason),
  );
  const load = (value: Uint8Array): void => {
    const page = packStartPage([{ key: KEY, modified: 2, value }], false);
    state.take({ is: 'startPage', revision: 2, page, last: false });
  };
  const check = () => state.collections.get('core/secrets')!.checkReadable({ key: KEY, prefix: '', of: SECRETS });
  load(unreadableValue('its key is away'));
  expect([unreadable, state.find(KEY)]).toEqual([['its key is away'], undefined]);
  expect(check).toThrow('failed to read one or more secrets from the storage');
  load(Buffer.from('{}'));
  check();
  expect(state.unreadable).toBeUndefined();
  expect(Buffer.from(state.find(KEY)!.value).toString()).toBe('{}');
});

test('the deletion of an object that could never be read is reported, and resumed watches look for it in the store', () => {
  const live = new LiveRegistry(registryOf('neutral'), [], [], { error: ignore });
  const lost: string[] = [];
  const state = new State(live, Date.now, ignore, ignore, ignore, undefined, 1000, ignore, (_, key) => lost.push(key));
  const event = (key: string, revision: number, value?: Uint8Array) => {
    const events = [{ key, revision, created: 1, value }];
    state.take({ is: 'events', revision, events, verdicts: [] });
  };
  event(KEY, 3, unreadableValue('its key is away'));
  event(`${KEY}b`, 4, Buffer.from('{}'));
  event(`${KEY}b`, 5, unreadableValue('its key is away'));
  event(`${KEY}b`, 6);
  expect([lost, state.history.floor]).toEqual([[], 0]);
  event(KEY, 7);
  expect([lost, state.history.floor]).toEqual([[KEY], 7]);
});
