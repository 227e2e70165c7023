import { describe, expect, test, vi } from 'vitest';
import type { HealthCheck, Host } from '../../core/api/index.js';
import { healthAnswer } from '../../core/services/health/answer.js';
import { registrationCheck, shutdownCheck, startCheck, storeCheck } from '../../core/services/health/checks.js';
import basic, { logCheck, ping } from '../../plugins/health/basic.js';
import { partly } from '../support/values.js';

const log = { debug() {}, info() {}, warn() {}, error() {} };
const hook = startCheck('start-controllers');
hook.done();
let draining = false;
const checks: HealthCheck[] = [
  ping,
  logCheck(log),
  storeCheck(() => {}),
  registrationCheck(() => true),
  hook.check,
  shutdownCheck(() => draining),
];
const failing: HealthCheck = {
  name: 'broken',
  of: ['livez', 'readyz', 'healthz'],
  check: () => Promise.reject(new Error('secret reason')),
};
const ask = (endpoint: 'livez' | 'readyz' | 'healthz', path = '', query = '') =>
  healthAnswer(endpoint, path, query, checks);

describe('all checks', () => {
  test.each(['livez', 'readyz', 'healthz'] as const)(
    '%s answers ok as plain text [R305] [R306] [R307] [R313]',
    async endpoint => {
      const { status, text, headers } = await ask(endpoint);
      expect([status, text]).toEqual([200, 'ok']);
      expect(new Map(headers)).toEqual(
        new Map([
          ['content-type', 'text/plain; charset=utf-8'],
          ['x-content-type-options', 'nosniff'],
          ['cache-control', 'no-cache, private'],
        ]),
      );
    },
  );

  test('verbose with any value prints one line per check and the result [R311] [R314] [R316] [R320] [R321]', async () => {
    const text =
      '[+]ping ok\n[+]log ok\n[+]etcd ok\n[+]autoregister-completion ok\n[+]poststarthook/start-controllers ok\nlivez check passed\n';
    for (const query of ['verbose', 'verbose=1', 'verbose=false&x=y'])
      expect((await ask('livez', '', query)).text).toBe(text);
  });

  test('readyz has shutdown, livez and healthz have the store [R319] [R322]', async () => {
    const names = async (endpoint: 'livez' | 'readyz' | 'healthz') =>
      (await ask(endpoint, '', 'verbose')).text
        .match(/(?<=^\[\+\])\S+/gm)
        ?.filter(n => n === 'etcd' || n === 'shutdown');
    expect([await names('livez'), await names('readyz'), await names('healthz')]).toEqual([
      ['etcd'],
      ['shutdown'],
      ['etcd'],
    ]);
  });

  test('each exclude skips one check; an unknown one causes a warning [R312] [R315]', async () => {
    const { status, text } = await ask(
      'livez',
      '',
      'verbose&exclude=etcd&exclude=poststarthook/start-controllers&exclude=z&exclude=a,b',
    );
    expect(status).toBe(200);
    expect(text).toBe(
      '[+]ping ok\n[+]log ok\n[+]etcd excluded: ok\n[+]autoregister-completion ok\n[+]poststarthook/start-controllers excluded: ok\n' +
        'warn: some health checks cannot be excluded: no matches for "a,b","z"\nlivez check passed\n',
    );
    expect((await ask('livez', '', 'exclude=nosuch')).text).toBe('ok');
  });

  test('one failing check makes the answer 500, with the reason only in the log; an excluded check does not run [R313]', async () => {
    const onResult = vi.fn();
    const failed = await healthAnswer('livez', '', '', [ping, failing], onResult);
    expect([failed.status, failed.text]).toEqual([
      500,
      '[+]ping ok\n[-]broken failed: reason withheld\nlivez check failed\n',
    ]);
    expect(onResult).toHaveBeenCalledWith('livez', 'ping', true);
    expect(onResult).toHaveBeenCalledWith('livez', 'broken', false, new Error('secret reason'));
    expect((await healthAnswer('livez', '', 'exclude=broken', [failing], onResult)).status).toBe(200);
    expect(onResult).toHaveBeenCalledTimes(2);
  });

  test('a check that never answers has failed', async () => {
    vi.useFakeTimers();
    try {
      const stuck: HealthCheck = { ...failing, check: () => new Promise(() => {}) };
      const pending = healthAnswer('livez', '', '', [stuck]);
      await vi.advanceTimersByTimeAsync(10_000);
      expect((await pending).status).toBe(500);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('one check', () => {
  test.each([
    ['livez', '/ping', 200],
    ['livez', '/log', 200],
    ['livez', '/etcd', 200],
    ['readyz', '/shutdown', 200],
    ['livez', '/poststarthook/start-controllers', 200],
    ['livez', '/shutdown', 404],
    ['healthz', '/shutdown', 404],
    ['livez', '/nosuch', 404],
    ['livez', '/poststarthook/nosuch', 404],
    ['livez', '/PING', 404],
    ['readyz', '/ping/more', 404],
    ['livez', '/', 404],
  ] as const)('%s%s answers %i [R308] [R309] [R317] [R318]', async (endpoint, path, status) => {
    const found = await ask(endpoint, path, 'verbose&exclude=etcd');
    expect([found.status, found.text]).toEqual([status, status === 200 ? 'ok' : '404 page not found\n']);
  });

  test('every name of the verbose output is such a path [R310]', async () => {
    const names = (await ask('readyz', '', 'verbose')).text.match(/(?<=^\[\+\])\S+(?= ok$)/gm) ?? [];
    expect(names).toHaveLength(5);
    for (const name of names) expect((await ask('readyz', `/${name}`)).status).toBe(200);
  });

  test('a failing check is answered with 500', async () => {
    expect(await healthAnswer('livez', '/broken', '', [failing])).toMatchObject({
      status: 500,
      text: 'internal server error: reason withheld\n',
    });
  });
});

describe('checks of the server', () => {
  test('shutdown fails readyz once the server drains [R322]', async () => {
    draining = true;
    const text = (await ask('readyz', '', 'verbose')).text;
    draining = false;
    expect(text).toContain('[-]shutdown failed: reason withheld\nreadyz check failed\n');
  });
  test('a post-start hook fails until its task is done [R320]', async () => {
    const { check, done } = startCheck('x');
    expect((await healthAnswer('readyz', '', '', [check])).status).toBe(500);
    done();
    expect((await healthAnswer('readyz', '', '', [check])).status).toBe(200);
  });
  test('registration and the store report their failures', async () => {
    const broken = storeCheck(() => Promise.reject(new Error('closed')));
    expect((await healthAnswer('livez', '/etcd', '', [broken])).status).toBe(500);
    expect((await healthAnswer('livez', '', '', [registrationCheck(() => false)])).status).toBe(500);
  });
  test('the plugin contributes ping and log', async () => {
    const made = await Promise.all(basic.contribute(basic.parse({})).map(c => c.make(partly<Host>({ log }))));
    expect(made.map(check => (check as HealthCheck).name)).toEqual(['ping', 'log']);
    expect((await healthAnswer('healthz', '', 'verbose', made as HealthCheck[])).text).toContain('[+]log ok');
  });
});
