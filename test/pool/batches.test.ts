import { RecordingBudget } from '../../workers/pool/recordingBudget.js';
import { afterEach, expect, test, vi } from 'vitest';
import type { Log } from '../../core/api/host.js';
import type { User } from '../../core/model/user.js';
import { namingOf } from '../../core/naming.js';
import { registryOf } from '../kinds/builtIn.js';
import type { Job, LateOutcome, Proposal } from '../../core/threads/messages/messages.js';
import { OwnProgress, WatchedProgress } from '../../core/threads/progress.js';
import { BEGUN, ENDED, FINAL, type Phase, QUEUED, Run, type RunId, Runs } from '../../core/threads/runs.js';
import { BatchRunner } from '../../workers/pool/batches.js';
import type { Context } from '../../workers/pool/context.js';
import type { RunningJob } from '../../workers/pool/runJob.js';
import { eventually } from '../support/eventually.js';
import { partly } from '../support/values.js';

const USER: User = { name: 'somebody', uid: '', groups: [], extra: new Map() };
const log = partly<Log>({ error: vi.fn(), warn: vi.fn() });
afterEach(() => void vi.clearAllMocks());

/** A user from an authenticator that returns invalid values. */
const UNCLONABLE = { ...USER, refresh: () => undefined } as User;

/**
 * A runner whose mutators wait until `release` is called if the name of the object begins with `wait`, and say that
 * they have effects if it contains `effect`. `hooks` are called while the mutators of an object with a name run, and
 * when the thread receives events.
 */
function runner() {
  const registry = registryOf('neutral');
  let current = registry;
  const memory = OwnProgress.memory();
  const watched = new WatchedProgress(memory);
  const runs = new Runs(100);
  const hooks: { mutate?: (name: string) => void; catchUp?: () => void; propose?: () => void } = {};
  const released = new Map<string, () => void>();
  const mutated: string[] = [];
  const context: Context = {
    naming: namingOf('neutral'),
    cbor: false,
    unsafeDeletion: false,
    claimsOf: () => [],
    recording: new RecordingBudget(),
    get registry() {
      return current;
    },
    authentication: {
      authenticate: async ({ path }) => ({
        user: path.includes('unclonable') ? UNCLONABLE : USER,
        cacheFor: 'never',
        objects: [],
      }),
    },
    authorization: {
      explain: async () => [],
      authorize: async () => ({ decision: { is: 'allow' }, cacheFor: 'never', resources: [], opinions: [] }),
      rulesFor: async () => ({ resourceRules: [], pathRules: [], incomplete: false }),
    },
    mutate: async (change, { metadata: { name = '' } }) => {
      mutated.push(name);
      hooks.mutate?.(name);
      if (name.includes('effect')) change.beginSideEffects();
      if (name.startsWith('wait')) await new Promise<void>(resolve => released.set(name, resolve));
    },
    validate: async () => [],
    conversion: () => undefined,
    anonymous: { enabled: false },
    log,
    tracksRequests: true,
    now: () => 1000,
    lookup: () => undefined,
    listOf: () => [],
    catchUp: () => hooks.catchUp?.(),
  };
  const proposals: (readonly Proposal[])[] = [];
  const late: (readonly LateOutcome[])[] = [];
  const handlers = {
    propose(all: readonly Proposal[]) {
      proposals.push(all);
      hooks.propose?.();
    },
    late: (outcomes: readonly LateOutcome[]) => void late.push(outcomes),
  };
  const batches = new BatchRunner(context, handlers, new OwnProgress(memory));
  const words = new Int32Array(runs.memory);
  /** A run of a job, by default the first one. */
  const running = (one: Job, { word, number }: RunId = runs.open()): RunningJob => ({
    job: one,
    run: new Run(words, word, number),
  });
  return {
    /** Runs jobs for the first time. */
    run: (id: number, jobs: readonly Job[]) =>
      batches.run(
        id,
        jobs.map(one => running(one)),
      ),
    batches,
    running,
    runs,
    hooks,
    watched,
    proposals,
    late,
    mutated,
    release: (name: string) => released.get(name)!(),
    changeKinds: () => (current = { ...registry, generation: registry.generation + 1 }),
  };
}

let ids = 0;
const job = (method: string, path: string, body?: object): Job => ({
  id: ++ids,
  method,
  path,
  query: '',
  accept: '',
  contentType: 'application/json',
  userAgent: '',
  ifMatch: '',
  credentials: { headers: [], remoteAddress: '' },
  granted: false,
  ...(body ? { body: Buffer.from(JSON.stringify(body)) } : {}),
});
const create = (name: string): Job =>
  job('POST', '/api/v1/namespaces/default/configmaps', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });

test('a batch resolves with all outcomes, after its proposals were posted together', async () => {
  const { run, proposals, late } = runner();
  const jobs = [create('a'), job('GET', '/api/v1/namespaces'), create('b'), create('c')];
  const outcomes = await run(1, jobs);
  expect(outcomes.map(outcome => outcome?.is)).toEqual(['proposed', 'granted', 'proposed', 'proposed']);
  expect(proposals.map(all => all.map(({ id }) => id))).toEqual([[jobs[0]!.id, jobs[2]!.id, jobs[3]!.id]]);
  expect(late).toEqual([]);
});

test('a waiting job does not delay its batch; its outcome and proposal are sent when it ends', async () => {
  const { run, proposals, late, release } = runner();
  const jobs = [create('a'), create('wait-1'), create('b'), create('wait-2')];
  const outcomes = await run(7, jobs);
  expect(outcomes.map(outcome => outcome?.is)).toEqual(['proposed', undefined, 'proposed', undefined]);
  expect(proposals.flat().map(({ id }) => id)).toEqual([jobs[0]!.id, jobs[2]!.id]);
  release('wait-2');
  release('wait-1');
  await eventually(() => late.length > 0);
  expect(late[0]!.map(({ batch, at, outcome }) => [batch, at, outcome.is]).toSorted()).toEqual([
    [7, 1, 'proposed'],
    [7, 3, 'proposed'],
  ]);
  expect(proposals[1]!.map(({ id }) => id).toSorted()).toEqual([jobs[1]!.id, jobs[3]!.id]);
});

test('if kinds have changed meanwhile, only jobs with proposals run again', async () => {
  const { run, proposals, late, mutated, changeKinds } = runner();
  const running = run(1, [create('a'), job('GET', '/api/v1/namespaces')]);
  changeKinds();
  const outcomes = await running;
  expect(outcomes.map(outcome => outcome?.is)).toEqual([undefined, 'granted']);
  await eventually(() => late.length > 0);
  expect(late[0]).toMatchObject([{ batch: 1, at: 0, outcome: { is: 'proposed' } }]);
  expect(mutated).toEqual(['a', 'a']);
  expect(proposals.flat()).toHaveLength(1);
});

test('a user that cannot be sent to another thread fails only its own request, without a proposal', async () => {
  const { run, proposals } = runner();
  const path = '/api/v1/namespaces/unclonable/configmaps';
  const body = { metadata: { name: 'a' } };
  const outcomes = await run(1, [job('POST', path, body), job('GET', '/api/v1/namespaces')]);
  expect(outcomes.map(outcome => outcome?.is)).toEqual(['failed', 'granted']);
  expect(proposals).toEqual([]);
  expect(log.error).toHaveBeenCalledOnce();
});

test('jobs that were moved to another thread are neither started nor proposed, unlike the others of the batch', async () => {
  const { batches, running, runs, proposals, mutated, watched, hooks } = runner();
  const jobs = ['a', 'keep', 'b', 'c'].map(name => running(create(name)));
  const behind = running(create('d'));
  hooks.mutate = name => {
    if (name !== 'keep') return;
    expect(watched.running).toMatchObject({ word: jobs[1]!.run.word });
    expect(runs.take(jobs[0]!.run, ENDED)).toBeDefined();
    for (const { run } of [jobs[2]!, behind]) expect(runs.take(run, QUEUED)).toBeDefined();
  };
  const [outcomes, later] = await Promise.all([batches.run(1, jobs), batches.run(2, [behind])]);
  expect([outcomes.map(outcome => outcome?.is), later]).toEqual([
    [undefined, 'proposed', undefined, 'proposed'],
    [null],
  ]);
  expect(mutated).toEqual(['a', 'keep', 'c']);
  expect(proposals.flat().map(({ id }) => id)).toEqual([jobs[1]!.job.id, jobs[3]!.job.id]);
  expect(watched.running).toBeUndefined();
});

test('a waiting job that was moved to another thread meanwhile proposes nothing and is not answered', async () => {
  const { batches, running, runs, proposals, late, release } = runner();
  const jobs = ['wait-1', 'wait-2'].map(name => running(create(name)));
  await batches.run(1, jobs);
  expect(runs.take(jobs[0]!.run, BEGUN)).toBeDefined();
  release('wait-1');
  release('wait-2');
  await eventually(() => late.length > 0);
  expect(late.flat().map(({ at }) => at)).toEqual([1]);
  expect(proposals.flat().map(({ id }) => id)).toEqual([jobs[1]!.job.id]);
});

/** Moments of a run at which another thread tries to take its job, and the phase of the run at that moment. */
const MOMENTS = ['before', 'mutate', 'effect', 'ended', 'proposed'] as const;
const FOUND: { readonly [moment in (typeof MOMENTS)[number]]: Phase } = {
  before: QUEUED,
  mutate: BEGUN,
  effect: FINAL,
  ended: ENDED,
  proposed: FINAL,
};

test.each(MOMENTS)(
  'a job that is taken from its thread (%s) is proposed by one of two threads, not by both',
  async moment => {
    const { batches, running, runs, proposals, hooks, mutated } = runner();
    const name = moment === 'effect' ? 'wait-effect' : 'a';
    const first = running(create(name));
    let next: RunId | undefined;
    const take = (): void => {
      if (mutated.length > 1 || next) return;
      const phase = runs.phaseOf(first.run)!;
      expect(phase).toBe(FOUND[moment]);
      if (phase !== FINAL) next = runs.take(first.run, phase);
    };
    if (moment === 'before') take();
    if (moment === 'mutate') hooks.mutate = take;
    if (moment === 'ended') hooks.catchUp = () => mutated.length > 0 && take();
    if (moment === 'proposed') hooks.propose = take;
    const outcomes = await batches.run(1, [first]);
    if (moment === 'effect') take();
    const isTaken = ['before', 'mutate', 'ended'].includes(moment);
    expect(next !== undefined).toBe(isTaken);
    expect(outcomes[0]?.is).toBe(moment === 'proposed' ? 'proposed' : undefined);
    if (!next) return;
    expect(proposals).toEqual([]);
    const [again] = await batches.run(2, [running(first.job, next)]);
    expect(again).toMatchObject({ is: 'proposed' });
    expect(proposals.flat().map(({ id }) => id)).toEqual([first.job.id]);
  },
);

test('a run whose job was taken does not start calls with side effects', async () => {
  const { batches, running, runs, proposals, hooks } = runner();
  const one = running(create('effect'));
  hooks.mutate = () => void runs.take(one.run, BEGUN);
  await batches.run(1, [one]);
  expect(proposals).toEqual([]);
  expect(runs.phaseOf(one.run)).toBeUndefined();
});

test('an answered job cannot be completed by a run that continues, even if its memory word is used by another job', () => {
  const runs = new Runs(1);
  const words = new Int32Array(runs.memory);
  const { word, number } = runs.open();
  const old = new Run(words, word, number);
  expect(old.begin()).toBe(true);
  runs.close(old);
  expect(old.makeFinal()).toBe(false);
  const next = runs.open();
  expect(next.word).toBe(word);
  expect([old.begin(), old.makeFinal(), runs.take(old, QUEUED)]).toEqual([false, false, undefined]);
  expect(new Run(words, next.word, next.number).begin()).toBe(true);
});

test('the outcome of a proposal is written before the proposal is posted, others are not', async () => {
  const { batches, running, hooks, release, late } = runner();
  const order: string[] = [];
  hooks.propose = () => void order.push('posted');
  const run = (one: Job) => batches.run(1, [running(one)], ({ is }) => void order.push(is));
  expect((await run(create('a'))).map(outcome => outcome?.is)).toEqual(['proposed']);
  expect(order.splice(0)).toEqual(['proposed', 'posted']);
  await run(job('GET', '/api/v1/namespaces'));
  await run(create('wait-1'));
  release('wait-1');
  await eventually(() => late.length > 0);
  expect(order).toEqual(['posted']);
});
