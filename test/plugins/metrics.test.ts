import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Settings } from '../../core/index.js';
import { startServer } from '../server/library.js';
import { ConfiguredServer, fixture } from './support.js';
import { eventuallyPasses } from '../support/eventually.js';

/* Sentences of docs/guides/plugins.md about metrics. */

const ANN = { authorization: 'User ann' };
const MAPS = '/api/v1/namespaces/default/configmaps';

describe('the metrics of a plugin', () => {
  const server = new ConfiguredServer();
  beforeAll(() => server.start({ plugins: [{ use: fixture('metrics') }] }));
  afterAll(() => server.dispose());

  test('count credentials by their authenticator', async () => {
    expect(await server.counter('test_credentials_total', {})).toBe(0);
    for (let i = 0; i < 3; i++) await server.call('GET', MAPS, { headers: ANN });
    expect(await server.counter('test_credentials_total', {})).toBe(3);
  });

  test('observe values of plugins in the pool, by label and bucket', async () => {
    for (const name of ['ab', 'long-name', 'a-very-long-name'])
      await server.call('POST', MAPS, { headers: ANN, body: { metadata: { name } } });
    await eventuallyPasses(async () => expect(await server.counter('test_writes_total', { user: 'ann' })).toBe(3));
    const upTo = (le: string) => server.counter('test_name_length_bucket', { le });
    expect([await upTo('3'), await upTo('10'), await upTo('+Inf')]).toEqual([1, 2, 3]);
  });

  test('that do not exist, or have other labels, are logged once', async () => {
    await server.call('POST', MAPS, { headers: ANN, body: { metadata: { name: 'again' } } });
    const lost = () => server.log.filter(({ message }) => message === 'what a plugin has counted in a metric is lost');
    await eventuallyPasses(() => expect(lost()).toHaveLength(3));
    expect(lost()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ metric: 'test_forgotten_total', why: 'no plugin defines it at the point metrics' }),
        expect.objectContaining({ metric: 'test_absent_total', why: 'no plugin defines it at the point metrics' }),
        expect.objectContaining({ metric: 'test_writes_total', why: expect.stringContaining('"color"') }),
      ]),
    );
    await eventuallyPasses(async () => expect(await server.counter('test_writes_total', { user: 'ann' })).toBe(4));
    expect(lost()).toHaveLength(3);
  });
});

describe('a start fails', () => {
  const definesMetrics = (...names: readonly string[]) => ({
    use: fixture('metrics', 'definesMetrics'),
    config: names,
  });
  const start = (...plugins: Settings['plugins']) => startServer({ storage: 'memory', port: 0, plugins });

  test.each([
    ['of the server', 'process_cpu_seconds_total', 'the server has a metric process_cpu_seconds_total itself'],
    ['of its requests', 'apiserver_request_total', 'the server has a metric apiserver_request_total itself'],
    [
      'of a built-in plugin',
      'serviceaccount_valid_tokens_total',
      'the plugin service-account defines the metric serviceaccount_valid_tokens_total already',
    ],
  ])('if a plugin defines a metric %s', async (_of, name, why) => {
    await expect(start(definesMetrics(name))).rejects.toThrow(
      `plugins: test/defines-metrics: ${why}: use another name`,
    );
  });

  test('if two plugins define one metric', async () => {
    await expect(start(definesMetrics('test_writes_total'), { use: fixture('metrics') })).rejects.toThrow(
      'plugins: test/metrics: the plugin test/defines-metrics defines the metric test_writes_total already',
    );
  });
});
