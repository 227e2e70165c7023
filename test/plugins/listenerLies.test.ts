import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { EXCHANGES } from './fixtures/lyingListener.js';
import { ConfiguredServer, fixture } from './support.js';

const MAPS = '/api/v1/namespaces/default/configmaps';
const PLUGIN = 'test/lying-listener';
const start = (lie: string, more: object = {}) =>
  new ConfiguredServer().start({ plugins: [{ use: fixture('lyingListener'), config: lie, timeout: '1s', ...more }] });
/** Lies that leave nothing to answer with. */
const SILENT = [
  'nothing',
  'no members',
  'respond throws',
  'write throws',
  'write returns text',
  'end throws',
  'onAbort throws',
];

describe('a listener that lies about a request', () => {
  let server: ConfiguredServer;
  beforeAll(async () => void (server = await start('')));
  afterAll(() => server.dispose());
  afterEach(async () => {
    expect((await server.call('GET', MAPS)).status).toBe(200);
  });

  const failures = () => server.counter('capstan_plugin_errors_total', { plugin: PLUGIN, point: 'listener' });

  /** A create and a watch at which it lies; undefined for one that is not answered. */
  const askFor = async (lie: string): Promise<readonly (number | undefined)[]> => {
    const headers = { lie: lie.replaceAll(' ', '_') };
    const signal = AbortSignal.timeout(SILENT.includes(lie) ? 2000 : 10_000);
    const body = { metadata: { generateName: 'lie-' } };
    const answers = [
      server.call('POST', MAPS, { headers, body, signal }),
      server.call('GET', `${MAPS}?watch=1&timeoutSeconds=1`, { headers, signal }),
    ];
    return (await Promise.allSettled(answers)).map(answer =>
      answer.status === 'fulfilled' ? answer.value.status : undefined,
    );
  };

  const HARMLESS = ['address is missing', 'counts no bytes'];
  test.each(Object.keys(EXCHANGES).filter(lie => !HARMLESS.includes(lie)))('%s: only that request fails', async lie => {
    const before = await failures();
    const statuses = await askFor(lie);
    expect(statuses.some(status => status === undefined || status === 500)).toBe(true);
    if (!SILENT.includes(lie)) expect(statuses).toContain(500);
    await vi.waitFor(async () => expect(await failures()).toBeGreaterThan(before), 10_000);
  });

  test.each(HARMLESS)('%s: the request is answered', async lie => {
    expect(await askFor(lie)).toEqual([201, 200]);
  });
});

describe('a server whose listener', { timeout: 60_000 }, () => {
  test.each(['listen throws', 'listen returns nothing', 'listen hangs'])(
    'does not open, %s: the start fails with its name',
    async lie => {
      await expect(start(lie)).rejects.toThrow(/ended with 1:.*test\/lying-listener/s);
    },
  );

  test.each(['close throws', 'close hangs'])('does not close, %s: the server ends all the same', async lie => {
    const server = await start(lie);
    expect(await server.end()).toBe(0);
    expect(server.log.filter(({ name }) => name === PLUGIN)).toHaveLength(1);
    await server.dispose();
  });
});
