import { expect, test } from 'vitest';
import type { ResourceEvent } from '../../core/api/index.js';
import { EntryEvent } from '../../core/plugin/informers/entryEvent.js';
import { Entry } from '../../core/threads/entries/entry.js';
import { claimProtection, garbageCollector } from '../../plugins/controllers/index.js';
import { FakeServer } from './fakeHost.js';
import { startControllers, waitForIdle } from './settle.js';

test('the text of a pod without owners and finalizers is searched three times, and not decoded', async () => {
  const server = new FakeServer();
  const searched: string[] = [];
  let decoded = 0;
  const { host } = server;
  const counted =
    (listener: (event: ResourceEvent) => void) =>
    (event: ResourceEvent): void =>
      listener({
        ...event,
        mentions: text => {
          searched.push(text);
          return event.mentions!(text);
        },
        object: () => {
          decoded++;
          return event.object();
        },
      });
  const counting: typeof host = {
    ...host,
    watch: listener => host.watch(counted(listener)),
    onChange: (name, listener) => host.onChange(name, counted(listener)),
  };
  const on = { host: counting } as FakeServer;
  await startControllers(on, garbageCollector, {});
  await startControllers(on, claimProtection, {});
  const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }];
  server.create('v1', 'Pod', { name: 'p', namespace: 'n' }, { spec: { nodeName: 'node', volumes } });
  await waitForIdle(server);
  expect(searched).toEqual(['"ownerReferences"', '"finalizers"', '"deletionTimestamp"']);
  expect(decoded).toBe(0);
  server.close();
});

test('the functions of an event can be called without their object', () => {
  const bytes = Buffer.from('{"metadata":{"name":"a"},"spec":{"nodeName":"n1"}}');
  const { object, mentions, stringsNamed, storageName, name } = new EntryEvent(
    new Entry('core/pods/shop/a', 1, { buffer: bytes.buffer, byteOffset: bytes.byteOffset, length: bytes.length }),
    'ADDED',
    1,
  );
  expect([storageName, name, mentions('"nodeName"'), mentions('x')]).toEqual(['core/pods', 'a', true, false]);
  expect(stringsNamed('nodeName')).toEqual(['n1']);
  expect(object().metadata).toEqual({ name: 'a' });
});
