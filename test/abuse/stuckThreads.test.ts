import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Hooks } from '../admission/hooks.js';
import { type Answer, ConfiguredServer } from '../plugins/support.js';

const use = pathToFileURL(resolve('dist/test/abuse/fixtures/spinning.js')).href;
const MAPS = '/api/v1/namespaces/default/configmaps';
const CONFIGURATIONS = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
/** Pause between two rounds of an honest user. */
const PAUSE_MS = 20;
const HONEST = ['ann', 'ben', 'cat', 'dan'];
const HOSTILE = ['eve', 'mallory', 'user-forever', 'user-later', 'user-exit', 'user-throw', 'user-2000'];

describe('a server with a plugin that blocks threads', () => {
  const server = new ConfiguredServer();
  let hooks: Hooks;
  beforeAll(async () => {
    hooks = await Hooks.start();
    const tokenAuthFile = join(server.directory, 'tokens.csv');
    const line = (user: string) => `${user}-token,${user},${user},"system:masters"\n`;
    writeFileSync(tokenAuthFile, [...HOSTILE, ...HONEST].map(line).join(''), { mode: 0o600 });
    await server.start({ plugins: [{ use, timeout: '3s' }], tokenAuthFile });
  });
  afterAll(async () => {
    await server.dispose();
    await hooks.close();
  });

  let names = 0;
  const call = (user: string, method: 'GET' | 'POST' | 'DELETE', path: string, body?: object) =>
    server.call(method, path, { headers: { authorization: `Bearer ${user}-token` }, ...(body && { body }) });
  const create = (user: string, labels: object = {}, data: object = {}): Promise<Answer> =>
    call(user, 'POST', MAPS, { metadata: { name: `map-${names++}`, labels }, data });

  /**
   * Creates objects with generated names until `isOver`. Returns their marks, or the reason why one was not created.
   */
  async function mark(user: string, run: string, isOver: () => boolean): Promise<string[]> {
    const marks: string[] = [];
    while (!isOver()) {
      const labels = { run, mark: `mark-${names++}`, wait: String(20 + (names % 4) * 20) };
      const { status, text } = await call(user, 'POST', MAPS, { metadata: { generateName: 'marked-', labels } });
      marks.push(status === 201 ? labels.mark : text);
    }
    return marks;
  }

  /** Has honest users create objects until `harmful` resolves. Each must be created exactly once. */
  async function expectOnce(run: string, harmful: Promise<unknown>): Promise<void> {
    let isOver = false;
    const others = HONEST.map(user => mark(user, run, () => isOver));
    await harmful;
    isOver = true;
    const made = (await Promise.all(others)).flat();
    const { body } = await call('ann', 'GET', `${MAPS}?labelSelector=run=${run}`);
    const { items } = body as unknown as { items: { metadata: { labels: { mark: string } } }[] };
    expect(items.map(({ metadata }) => metadata.labels.mark).toSorted()).toEqual(made.toSorted());
  }

  test('jobs that wait in a stuck thread are run in another one, unless they have called a service with side effects', {
    timeout: 300_000,
  }, async () => {
    const called = ['/none', '/some'].map(
      path =>
        new Promise<void>(done => {
          let calls = 0;
          // The first call never gets an answer.
          hooks.on(path, () => {
            done();
            return calls++ > 0 ? {} : new Promise(() => undefined);
          });
        }),
    );
    const webhooks = [
      hooks.webhook('/none', { timeoutSeconds: 30 }),
      hooks.webhook('/some', { timeoutSeconds: 30, sideEffects: 'NoneOnDryRun' }),
    ];
    expect((await call('ann', 'POST', CONFIGURATIONS, { metadata: { name: 'hooks' }, webhooks })).status).toBe(201);
    const file = join(server.directory, 'trap');
    writeFileSync(file, '');
    const waiting = ['none', 'some'].map(hook =>
      call('eve', 'POST', MAPS, { metadata: { name: hook, labels: { hook, harm: 'trap' } }, data: { file } }),
    );
    await Promise.all(called);
    rmSync(file);
    await expectOnce('eve', Promise.all(waiting));
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([201, 500]);
    expect([hooks.take('/none').length, hooks.take('/some').length]).toEqual([2, 1]);
  });

  test.each([
    ['forever', 500],
    ['later', 500],
    ['exit', 500],
    ['throw', 500],
    // The thread becomes responsive after its jobs were given to other threads.
    ['2000', 201],
  ])(
    'a job that harms its thread (%s) is run at most twice; each write of other users is executed once',
    { timeout: 300_000 },
    async (harm, status) => {
      const runs = join(server.directory, `runs-${harm}`);
      const wait = harm === 'forever' ? {} : { wait: '20' };
      const harmful = create(`user-${harm}`, { harm, ...wait }, { runs });
      await expectOnce(harm, harmful);
      const answer = await harmful;
      const times = readFileSync(runs, 'utf8').length;
      expect([answer.status, times]).toEqual([status, status === 500 ? 2 : expect.toSatisfy(some => some <= 2)]);
      if (status === 500)
        expect(answer.body.message).toMatch(/the request was tried twice, and its thread ended while .*test\/spinning/);
    },
  );

  /** Creates, reads and deletes objects until `isOver`. Returns the codes of all answers. */
  async function work(user: string, isOver: () => boolean): Promise<number[]> {
    const codes: number[] = [];
    while (!isOver()) {
      const created = await create(user);
      const { name } = created.body.metadata as { name?: string };
      const read = await call(user, 'GET', `${MAPS}/${name}`);
      const deleted = await call(user, 'DELETE', `${MAPS}/${name}`);
      codes.push(created.status, read.status, deleted.status);
      await pause(PAUSE_MS);
    }
    return codes;
  }

  test('while jobs of one user do not return, requests of other users succeed, and that user gets 429', {
    timeout: 300_000,
  }, async () => {
    await Promise.all(HONEST.map(user => create(user)));
    let isOver = false;
    const others = HONEST.map(user => work(user, () => isOver));
    const stuck = await Promise.all(Array.from({ length: 6 }, () => create('mallory', { harm: 'later' })));
    isOver = true;
    const codes = await Promise.all(others);
    for (const ofUser of codes) {
      expect(new Set(ofUser)).toEqual(new Set([200, 201]));
      // Two threads were blocked for four seconds each: a user who waited for one of them would not reach a second
      // round, which has three answers.
      expect(ofUser.length).toBeGreaterThan(3);
    }
    for (const { status, headers } of stuck)
      expect([status, Number(headers['retry-after']) > 0]).toEqual(status === 500 ? [500, false] : [429, true]);
    expect(stuck.map(({ status }) => status)).toContain(429);
  });

  test('jobs that take long but return are completed', async () => {
    const slow = Array.from({ length: 3 }, () => create('ben', { harm: '300' }));
    const beside = HONEST.map(user => create(user));
    for (const { status } of await Promise.all([...slow, ...beside])) expect(status).toBe(201);
  });
});
