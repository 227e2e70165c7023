import { expect, test } from 'vitest';
import type { Log } from '../../core/api/host.js';
import type { Exchange } from '../../core/api/listener.js';
import { AccessCache } from '../../workers/front/access.js';
import { Front } from '../../workers/front/front.js';
import type { Pool } from '../../workers/front/pool.js';
import type { ReadContext } from '../../workers/front/context.js';
import type { State } from '../../workers/front/state.js';
import { BODIES_BYTES, BODY_BYTES, POOL_QUEUE } from '../../core/limits.js';
import { RequestMetrics } from '../../core/metrics/index.js';
import { namingOf } from '../../core/naming.js';
import { registryOf } from '../kinds/builtIn.js';
import type { Job, JobResult } from '../../core/threads/messages.js';

const NOTHING = new Uint8Array(0);
const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve));

/** A front whose pool proposes every write at once, and whose writer says nothing by itself. */
function setUp() {
  const registry = registryOf('neutral');
  const proposed: number[] = [];
  const run = async ({ id }: Job): Promise<JobResult> => {
    proposed.push(id);
    return { id, is: 'proposed', status: 201, headers: [], body: NOTHING, key: 'k' };
  };
  const state = { now: () => 0, revision: 1, collections: new Map() } as unknown as State;
  const reads = {
    naming: namingOf('neutral'),
    catchUp: () => undefined,
    mostRecent: () => undefined,
  } as unknown as ReadContext;
  const log = { error: () => undefined } as unknown as Log;
  const metrics = new RequestMetrics();
  const pool = { run } as unknown as Pool;
  const front = new Front(
    () => registry,
    state,
    pool,
    new AccessCache(),
    reads,
    () => false,
    log,
    metrics,
  );
  const answers: number[] = [];
  const post = (sent: { length?: number; body?: Promise<Uint8Array> } = {}): void =>
    front.handle({
      method: 'POST',
      path: '/api/v1/namespaces',
      query: '',
      aborted: false,
      header: (name: string) =>
        name === 'content-length' && sent.length !== undefined ? String(sent.length) : undefined,
      headers: () => [],
      body: () => sent.body ?? Promise.resolve(NOTHING),
      respond: (status: number) => answers.push(status),
    } as unknown as Exchange);
  const commit = (): void =>
    front.onVerdicts(proposed.splice(0).map((id, i) => ({ id, is: 'committed', revision: i + 2 })));
  return { post, commit, answers };
}

test('writes that wait for the store are bounded: one more is told to come back, until some were answered', async () => {
  const { post, commit, answers } = setUp();
  for (let i = 0; i < POOL_QUEUE; i++) post();
  await turn();
  expect(answers).toEqual([]);
  post();
  await turn();
  expect(answers.splice(0)).toEqual([429]);
  commit();
  await turn();
  expect(answers.splice(0)).toEqual(Array(POOL_QUEUE).fill(201));
  post();
  await turn();
  commit();
  await turn();
  expect(answers).toEqual([201]);
});

test('bodies under way are bounded together, whoever sends them', async () => {
  const { post, commit, answers } = setUp();
  const arrive: (() => void)[] = [];
  const slow = () => ({
    length: BODY_BYTES,
    body: new Promise<Uint8Array>(resolve => arrive.push(() => resolve(NOTHING))),
  });
  const most = Math.floor(BODIES_BYTES / BODY_BYTES);
  for (let i = 0; i < most; i++) post(slow());
  post(slow());
  await turn();
  expect(answers.splice(0)).toEqual([429]);
  for (const one of arrive) one();
  await turn();
  commit();
  await turn();
  expect(answers.splice(0)).toEqual(Array(most).fill(201));
  post({ length: BODY_BYTES });
  await turn();
  commit();
  await turn();
  expect(answers).toEqual([201]);
});
