import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { EXCHANGES } from './fixtures/lyingListener.js';
import { ConfiguredServer, fixture } from './support.js';
import { eventuallyPasses } from '../support/eventually.js';

const MAPS = '/api/v1/namespaces/default/configmaps';
const PLUGIN = 'test/lying-listener';
const start = (lie: string, more: object = {}) =>
  new ConfiguredServer().start({ plugins: [{ use: fixture('lyingListener'), config: lie, timeout: '1s', ...more }] });
/** Lies about streams, which make watches fail; the others make writes fail. */
const STREAMED = [
  'stream throws',
  'stream is missing',
  'write throws',
  'write returns text',
  'end throws',
  'onAbort throws',
];
/** Lies after which no answer can be sent. */
const SILENT = [
  'nothing',
  'no members',
  'respond throws',
  'write throws',
  'write returns text',
  'end throws',
  'onAbort throws',
];
const HARMLESS = ['address is missing', 'body ends twice'];

describe('a listener that lies about a request', () => {
  let server: ConfiguredServer;
  beforeAll(async () => void (server = await start('')));
  afterAll(() => server.dispose());
  afterEach(async () => {
    expect((await server.call('GET', MAPS)).status).toBe(200);
  });

  const failures = () => server.counter('capstan_plugin_errors_total', { plugin: PLUGIN, point: 'listener' });

  /** The status of a request at which it lies; undefined if it is not answered. */
  async function ask(lie: string): Promise<number | undefined> {
    const headers = { lie: lie.replaceAll(' ', '_') };
    const signal = AbortSignal.timeout(SILENT.includes(lie) ? 1500 : 10_000);
    const answer = STREAMED.includes(lie)
      ? server.call('GET', `${MAPS}?watch=1&timeoutSeconds=1`, { headers, signal })
      : server.call('POST', MAPS, { headers, body: { metadata: { generateName: 'lie-' } }, signal });
    return answer.then(
      ({ status }) => status,
      () => undefined,
    );
  }

  test.each(Object.keys(EXCHANGES).filter(lie => !HARMLESS.includes(lie)))('%s: only that request fails', async lie => {
    const before = await failures();
    expect(await ask(lie)).toBe(SILENT.includes(lie) ? undefined : 500);
    await eventuallyPasses(async () => expect(await failures()).toBeGreaterThan(before));
  });

  test.each(HARMLESS)('%s: the request is answered', async lie => {
    expect(await ask(lie)).toBe(201);
  });
});

describe('a server whose listener', () => {
  test.each(['listen throws', 'listen returns nothing', 'listen hangs'])(
    'does not open, %s: the start fails with the name of the plugin',
    async lie => {
      await expect(start(lie)).rejects.toThrow(/ended with 1:.*test\/lying-listener/s);
    },
  );

  test.each(['close throws', 'close hangs'])('does not close, %s: the server ends nevertheless', async lie => {
    const server = await start(lie);
    expect(await server.end()).toBe(0);
    expect(server.log.filter(({ name }) => name === PLUGIN)).toHaveLength(1);
    await server.dispose();
  });
});
