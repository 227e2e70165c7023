import { afterEach, expect, test, vi } from 'vitest';
import type { Log } from '../../core/api/host.js';
import type { User } from '../../core/model/user.js';
import { namingOf } from '../../core/naming.js';
import { registryOf } from '../kinds/builtIn.js';
import type { Job, LateOutcome, Proposal } from '../../core/threads/messages/messages.js';
import { OwnProgress, WatchedProgress } from '../../core/threads/progress.js';
import { BatchRunner } from '../../workers/pool/batches.js';
import type { Context } from '../../workers/pool/context.js';
import { eventually } from '../support/eventually.js';
import { partly } from '../support/values.js';

const USER: User = { name: 'somebody', uid: '', groups: [], extra: new Map() };
const log = partly<Log>({ error: vi.fn(), warn: vi.fn() });
afterEach(() => void vi.clearAllMocks());

/** A user from an authenticator that returns invalid values. */
const UNCLONABLE = { ...USER, refresh: () => undefined } as User;

/**
 * A runner whose mutators wait until `release` is called if the name of the object begins with `wait`. While those of
 * an object named `keep` run, the jobs of the thread are taken.
 */
function runner() {
  const registry = registryOf('neutral');
  let current = registry;
  const memory = OwnProgress.memory();
  const watched = new WatchedProgress(memory);
  const released = new Map<string, () => void>();
  const mutated: string[] = [];
  const context: Context = {
    naming: namingOf('neutral'),
    cbor: false,
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
      authorize: async () => ({ decision: { is: 'allow' }, cacheFor: 'never', resources: [] }),
      rulesFor: async () => ({ resourceRules: [], pathRules: [], incomplete: false }),
    },
    mutate: async (_change, { metadata: { name = '' } }) => {
      mutated.push(name);
      if (name === 'keep') expect(watched.take(watched.step)).toBeDefined();
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
    catchUp: () => undefined,
  };
  const proposals: (readonly Proposal[])[] = [];
  const late: (readonly LateOutcome[])[] = [];
  const handlers = {
    propose: (all: readonly Proposal[]) => void proposals.push(all),
    late: (outcomes: readonly LateOutcome[]) => void late.push(outcomes),
  };
  const batches = new BatchRunner(context, handlers, new OwnProgress(memory));
  return {
    batches,
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
  const { batches, proposals, late } = runner();
  const jobs = [create('a'), job('GET', '/api/v1/namespaces'), create('b'), create('c')];
  const outcomes = await batches.run(1, jobs);
  expect(outcomes.map(outcome => outcome?.is)).toEqual(['proposed', 'granted', 'proposed', 'proposed']);
  expect(proposals.map(all => all.map(({ id }) => id))).toEqual([[jobs[0]!.id, jobs[2]!.id, jobs[3]!.id]]);
  expect(late).toEqual([]);
});

test('a waiting job does not delay its batch; its outcome and proposal are sent when it ends', async () => {
  const { batches, proposals, late, release } = runner();
  const jobs = [create('a'), create('wait-1'), create('b'), create('wait-2')];
  const outcomes = await batches.run(7, jobs);
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

test('if kinds have changed meanwhile, jobs with proposals run again, and others do not', async () => {
  const { batches, proposals, late, mutated, changeKinds } = runner();
  const running = batches.run(1, [create('a'), job('GET', '/api/v1/namespaces')]);
  changeKinds();
  const outcomes = await running;
  expect(outcomes.map(outcome => outcome?.is)).toEqual([undefined, 'granted']);
  await eventually(() => late.length > 0);
  expect(late[0]).toMatchObject([{ batch: 1, at: 0, outcome: { is: 'proposed' } }]);
  expect(mutated).toEqual(['a', 'a']);
  expect(proposals.flat()).toHaveLength(1);
});

test('a user that cannot be sent to another thread fails only its own request, without a proposal', async () => {
  const { batches, proposals } = runner();
  const path = '/api/v1/namespaces/unclonable/configmaps';
  const body = { metadata: { name: 'a' } };
  const outcomes = await batches.run(1, [job('POST', path, body), job('GET', '/api/v1/namespaces')]);
  expect(outcomes.map(outcome => outcome?.is)).toEqual(['failed', 'granted']);
  expect(proposals).toEqual([]);
  expect(log.error).toHaveBeenCalledOnce();
});

test('jobs that are taken from a thread while another one keeps it are neither begun nor proposed there', async () => {
  const { batches, proposals, mutated, watched } = runner();
  const jobs = [create('a'), create('keep'), create('b')];
  const [outcomes, behind] = await Promise.all([batches.run(1, jobs), batches.run(2, [create('c')])]);
  expect([outcomes.map(outcome => outcome?.is), behind]).toEqual([[undefined, 'proposed', undefined], [null]]);
  expect(watched.position).toEqual({ batch: 1, at: 1, waiting: 0 });
  expect(mutated).toEqual(['a', 'keep']);
  expect(proposals.flat().map(({ id }) => id)).toEqual([jobs[1]!.id]);
  watched.giveBack();
  expect((await batches.run(3, [create('d')]))[0]).toMatchObject({ is: 'proposed' });
});

test('a job that waits for something outside of its thread is not taken from it', async () => {
  const { batches, proposals, late, release, watched } = runner();
  const jobs = [create('wait'), create('keep')];
  const outcomes = await batches.run(1, jobs);
  expect(outcomes.map(outcome => outcome?.is)).toEqual([undefined, 'proposed']);
  expect(watched.position).toEqual({ batch: 1, at: 1, waiting: 1 });
  release('wait');
  await eventually(() => late.length > 0);
  expect(late[0]).toMatchObject([{ batch: 1, at: 0, outcome: { is: 'proposed' } }]);
  expect(proposals.flat().map(({ id }) => id)).toEqual([jobs[1]!.id, jobs[0]!.id]);
});
