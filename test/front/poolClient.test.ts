import { expect, test } from 'vitest';
import { LARGE_JOB_BYTES, LONG_JOB_MS, YAML_WEIGHT } from '../../core/limits.js';
import type { Route } from '../../core/request/route.js';
import type { Job, JobResult } from '../../core/threads/messages/messages.js';
import { AccessCache } from '../../workers/front/access/access.js';
import { FairLimiter } from '../../workers/front/fairness/fairLimiter.js';
import { JobCosts } from '../../workers/front/pool/jobCosts.js';
import type { JobRunner } from '../../workers/front/pool/pool.js';
import { PoolClient } from '../../workers/front/pool/poolClient.js';
import type { FrontRequest } from '../../workers/front/access/sender.js';
import { type Usage, Usages } from '../../workers/front/fairness/usage.js';
import { LocalExchange } from '../../workers/front/localExchange.js';
import { fakeFront, grantFor, postOf, turn } from './support.js';

/** The permission of a request that the pool has allowed. */
const ALLOWED = { until: 0, reason: '', revision: 0, resources: [] };

/** A pool that answers when the test says so. */
function setUp(threads = 2) {
  const began: string[] = [];
  const answers: (() => void)[] = [];
  const alone: boolean[] = [];
  const costs = new JobCosts();
  const longJobs = new FairLimiter(Math.max(1, threads - 1));
  const start = (job: Job, isAlone: boolean): Promise<JobResult> => {
    began.push(job.user?.name ?? '');
    alone.push(isAlone);
    return new Promise<JobResult>(resolve => answers.push(() => resolve({ id: job.id, is: 'granted' })));
  };
  const runInTurn = (sender: Usage, take: () => Job): Promise<JobResult> =>
    longJobs.run(sender, async () => await start(take(), true));
  const pool: JobRunner = {
    costs,
    run: job => start(job, false),
    runInTurn: runInTurn as JobRunner['runInTurn'],
  };
  const client = new PoolClient(
    pool,
    new AccessCache({ revision: () => 0, revisionOf: () => undefined, resource: () => undefined }),
    () => 0,
  );
  const usages = new Usages();
  const send = (name: string, bytes: number, weight?: number) => {
    const sent = postOf('');
    const sender = { user: grantFor(name).user, usage: usages.of(name), permission: ALLOWED };
    const request: FrontRequest = {
      exchange: sent.exchange,
      route: { resource: { strategy: { weight } } } as Route,
      sender,
    };
    return { sent, result: client.run(request, () => ({ body: new Uint8Array(0) }), bytes) };
  };
  const answer = async (): Promise<void> => {
    answers.shift()?.();
    await turn();
    await turn();
  };
  return { began, alone, costs, client, usages, send, answer };
}

test('large jobs of one user wait for each other; small jobs and those of others do not wait for all of them', async () => {
  const { began, alone, send, answer } = setUp();
  for (let i = 0; i < 3; i++) void send('heavy', LARGE_JOB_BYTES);
  void send('light', LARGE_JOB_BYTES - 1);
  void send('other', LARGE_JOB_BYTES);
  expect(began).toEqual(['heavy', 'light']);
  expect(alone).toEqual([true, false]);
  for (let i = 0; i < 4; i++) await answer();
  expect(began).toEqual(['heavy', 'light', 'heavy', 'other', 'heavy']);
});

test('a job counts as large according to the weight of its kind', () => {
  const { alone, send } = setUp(3);
  void send('one', LARGE_JOB_BYTES / 16, 16);
  void send('two', LARGE_JOB_BYTES / 16 - 1, 16);
  expect(alone).toEqual([true, false]);
});

test.each(['application/yaml', 'application/cbor', 'application/apply-patch+cbor'])(
  'a body in %s counts four times, unless it begins like JSON',
  type => {
    const { alone, client, usages } = setUp(4);
    const { exchange } = postOf('');
    const header = (name: string) => (name === 'content-type' ? type : undefined);
    const request = (name: string): FrontRequest => ({
      exchange: Object.assign(Object.create(exchange) as typeof exchange, { header }),
      route: { resource: { strategy: {} } } as Route,
      sender: { user: grantFor(name).user, usage: usages.of(name), permission: ALLOWED },
    });
    const run = (name: string, bytes: number, first: number) =>
      void client.run(request(name), () => ({ body: new Uint8Array(0) }), bytes, first);
    run('one', LARGE_JOB_BYTES / YAML_WEIGHT, 0xa1);
    run('two', LARGE_JOB_BYTES / YAML_WEIGHT - 1, 0xa1);
    run('three', LARGE_JOB_BYTES / YAML_WEIGHT, 0x7b);
    expect(alone).toEqual([true, false, false]);
  },
);

test('writes of a kind that took long count as large until they no longer do', () => {
  const { alone, costs, client, usages } = setUp(4);
  const write = (storageName: string): void => {
    const { exchange } = postOf('');
    const route = { resource: { storageName, strategy: {} } } as Route;
    const sender = { user: grantFor('one').user, usage: usages.of('one'), permission: ALLOWED };
    void client.run({ exchange, route, sender }, () => ({ body: new Uint8Array(0) }));
  };
  write('pods');
  costs.record(['POST pods '], LONG_JOB_MS);
  write('pods');
  write('secrets');
  costs.record(['POST pods '], 1);
  write('pods');
  expect(alone).toEqual([false, true, false, false]);
});

test('a large job whose client has disconnected before its turn is not run', async () => {
  const { began, send, answer } = setUp();
  void send('heavy', LARGE_JOB_BYTES);
  const { sent, result } = send('heavy', LARGE_JOB_BYTES);
  sent.leave();
  const gone = expect(result).rejects.toThrow('the client has closed the connection');
  await answer();
  await gone;
  expect(began).toEqual(['heavy']);
});

test('a large event is encoded even if its client has disconnected, since other watches share it', async () => {
  const { began, client, usages, send, answer } = setUp();
  void send('heavy', LARGE_JOB_BYTES);
  const sent = postOf('');
  const request: FrontRequest = { exchange: sent.exchange, route: {} as Route, sender: { usage: usages.of('gone') } };
  const objects = [new Uint8Array(LARGE_JOB_BYTES)];
  const result = client.render(request, {
    objects,
    status: 200,
    events: { types: ['ADDED'], header: false, listed: false },
  });
  sent.leave();
  await answer();
  await answer();
  await expect(result).resolves.toMatchObject({ is: 'granted' });
  expect(began.length).toBe(2);
});

test('permissions of a user of the embedding program are cached until the cache is reset', async () => {
  let asked = 0;
  const { front, access } = fakeFront(job => {
    asked++;
    return { id: job.id, is: 'granted', grant: grantFor('ann') };
  });
  const { user } = grantFor('ann');
  const ask = (): Promise<unknown> =>
    new Promise(respond =>
      front.handleOf(user, new LocalExchange({ method: 'GET', path: '/made', headers: new Map() }, { respond })),
    );
  await ask();
  await ask();
  expect(asked).toBe(1);
  access.reset();
  await ask();
  await ask();
  expect(asked).toBe(2);
});
