import { describe, expect, test, vi } from 'vitest';
import {
  authenticator,
  authorizer,
  type Contribution,
  controller,
  healthCheck,
  type Host,
  type HttpDocument,
  httpDocuments,
  httpSite,
  listener,
  metrics,
  mutator,
  postStartHook,
  resourceSource,
  resourceType,
  storage,
  tokenIssuer,
  validator,
} from '../../core/api/index.js';
import { PLUGIN_START_MS } from '../../core/limits.js';
import { CallCounters } from '../../core/plugin/calls/callCounters.js';
import { loadPlugins } from '../../core/plugin/load/load.js';
import { Closers } from '../../core/plugin/closers.js';
import type { ThreadData } from '../../core/threads/data.js';
import { fixture } from './support.js';
import { partly } from '../support/values.js';

/* Plugins that create a value that their point does not accept, or never create one. */

const counted = { name: 'a', type: 'counter', help: 'A.' } as const;
const robots: HttpDocument = { path: '/robots.txt', contentType: 'text/plain', headers: {}, body: () => '' };

describe('a part', () => {
  const made = (contribution: Contribution) => contribution.make({} as Host);
  const nothing = (): never => undefined as never;

  test.each([
    [authenticator.of(nothing), 'the member authenticate must be a function'],
    [
      authenticator.of(() => ({ authenticate: () => null, cacheFor: 'always' }) as never),
      'the member cacheFor must be',
    ],
    [
      authenticator.of(() => ({ authenticate: () => null, cacheFor: -1 })),
      'forever, never or a number of milliseconds',
    ],
    [authorizer.of(() => ({ authorize: nothing }) as never), 'the member dependsOn must be a list of storage'],
    [authorizer.of(() => ({ authorize: nothing, dependsOn: Number.NaN })), 'the member dependsOn must be'],
    [
      authorizer.of(() => ({ authorize: nothing, dependsOn: ['namespaces'] })),
      'storage names (core/namespaces), { resources, milliseconds }, never',
    ],
    [mutator.of(() => ({ mutate: nothing }) as never), 'the member on must be an object'],
    [validator.of(() => ({ on: null, validate: nothing }) as never), 'the member on must be an object'],
    [validator.of(() => ({ on: {} }) as never), 'the member validate must be a function'],
    [controller.of(() => ({ name: 'c' }) as never), 'the member start must be a function'],
    [controller.of(() => ({ name: 'c', startsAfter: 'b', start: nothing }) as never), 'the member startsAfter must be'],
    [postStartHook.of(() => ({ name: 'a b', controllers: ['c'] })), 'the member name must be a name of letters'],
    [postStartHook.of(() => ({ name: 'a', controllers: [] })), 'the member controllers must be a list of names'],
    [healthCheck.of(() => ({ name: 'h', check: nothing }) as never), 'the member of must be a list'],
    [listener.of(() => ({}) as never), 'the member name must be a string'],
    [storage.of(async () => null as never), 'the member name must be a string'],
    [metrics.of(nothing), 'it must be a list of metrics'],
    [metrics.of(() => [{ ...counted, name: 'a-b' }]), 'the name of a metric must be letters'],
    [metrics.of(() => [{ ...counted, type: 'sum' as 'counter' }]), 'the type of the metric a must be counter'],
    [metrics.of(() => [{ ...counted, help: '' }]), 'the metric a must have a text as help'],
    [metrics.of(() => [{ ...counted, labels: ['b c'] }]), 'the labels of the metric a must be'],
    [metrics.of(() => [{ ...counted, type: 'histogram', buckets: [2, 1] }]), 'the buckets of the metric a must be'],
    [metrics.of(() => [{ ...counted, type: 'histogram', labels: ['le'], buckets: [1] }]), 'cannot have the label le'],
    [httpDocuments.of(nothing), 'it must be a list of documents'],
    [httpDocuments.of(() => [{ ...robots, path: '/a/' }]), 'the member path must be a path without a slash'],
    [httpDocuments.of(() => [{ ...robots, headers: { 'a\r\nb': 'c' } }]), 'the member headers must be an object of'],
    [httpDocuments.of(() => [{ ...robots, headers: { a: 'b\r\nc: d' } }]), 'the member headers must be an object of'],
    [httpDocuments.of(() => [{ ...robots, body: 'text' } as never]), 'the member body must be a function'],
    [httpSite.of(() => ({ path: '/api', answer: nothing }) as never), 'the member path must be one segment'],
    [httpSite.of(() => ({ path: '/a/b', answer: nothing }) as never), 'the member path must be one segment'],
    [httpSite.of(() => ({ path: '/help' }) as never), 'the member answer must be a function'],
    [tokenIssuer.of(() => ({ issue: nothing }) as never), 'the member audiences must be a list'],
    [resourceType.of(nothing), 'it must be the result of defineResource'],
    [resourceType.of(() => ({ group: 'a.example.com' }) as never), 'the member kind must be a string'],
    [resourceSource.of(() => ({ storageName: 'core/pods' }) as never), 'the member define must be a function'],
  ])('that lacks a member is refused when it is created (%#)', async (contribution, message) => {
    await expect((async () => made(contribution))()).rejects.toThrow(message);
  });

  test('that is complete is accepted', async () => {
    const part = { name: 'c', start: nothing };
    expect(await made(controller.of(() => part))).toBe(part);
  });
});

describe('a plugin', () => {
  const data = (exported: string): ThreadData =>
    partly<ThreadData>({
      naming: 'neutral',
      plugins: [{ use: fixture('lifecycle', exported), path: 'plugins[0]' }],
      calls: CallCounters.memory(1),
      verbosity: 0,
      inspection: new SharedArrayBuffer(4),
    });
  const load = (exported: string) => loadPlugins(data(exported), 'pool', { closers: new Closers() });

  test('that creates a value that its point does not accept fails the start with its name', async () => {
    await expect(load('makesNothing')).rejects.toThrow(
      'plugin test/makes-nothing (validator): the member on must be an object',
    );
  });

  test('that never creates its part fails the start with its name', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const failed = load('hangs').catch((error: Error) => error.message);
      // `vi.waitFor` would not wait for the module, since it advances the fake time itself.
      while (vi.getTimerCount() === 0) await new Promise(resolve => setImmediate(resolve));
      await vi.advanceTimersByTimeAsync(PLUGIN_START_MS);
      expect(await failed).toBe('plugin test/hangs (validator): it was not made within 60 s');
    } finally {
      vi.useRealTimers();
    }
  });
});
