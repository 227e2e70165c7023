import { afterEach, expect, test, vi } from 'vitest';
import { POOL_QUEUE, WRITE_MS, WRITE_RETRIES } from '../../core/limits.js';
import { parseRoute } from '../../core/request/route.js';
import type { JobResult, Verdict } from '../../core/threads/messages/messages.js';
import type { JobFields } from '../../workers/front/pool/poolClient.js';
import { Proposals } from '../../workers/front/write/proposals.js';
import type { FrontRequest } from '../../workers/front/access/sender.js';
import { Usages } from '../../workers/front/fairness/usage.js';
import { runWrite } from '../../workers/front/write/write.js';
import { registryOf } from '../kinds/builtIn.js';
import { fakeState, postOf, turn } from './support.js';

afterEach(() => vi.useRealTimers());

const PATH = '/api/v1/namespaces/shop/configmaps/a';
const KEY = 'core/configmaps/shop/a';
const NOTHING = new Uint8Array(0);
const registry = registryOf('neutral');

const proposes = (id: number, over: object = {}): JobResult => ({
  id,
  is: 'proposed',
  status: 200,
  headers: [],
  body: Buffer.from('done'),
  key: KEY,
  ...over,
});
const responds = (id: number, status: number, key?: string): JobResult => ({
  id,
  is: 'respond',
  status,
  headers: [],
  body: NOTHING,
  key,
});

interface Given {
  readonly path?: string;
  readonly recent?: () => unknown;
  readonly proposals?: Proposals;
  /** The object `a`. */
  readonly object?: string;
}

/** A write to the object `a` whose jobs are answered by `job`; `recent` brings the cache up to date with the store. */
function setUp(
  job: (fields: JobFields & { id: number }) => JobResult | Promise<JobResult>,
  { path = PATH, recent, proposals = new Proposals(), object = 'first' }: Given = {},
) {
  const state = fakeState();
  state.put(KEY, object);
  const proposed: number[] = [];
  const sent = postOf('', 'PUT', path);
  const method = path === PATH ? 'PUT' : 'POST';
  const request: FrontRequest = {
    exchange: sent.exchange,
    route: parseRoute(registry, method, path, ''),
    sender: { usage: new Usages().unknown },
  };
  const starts: (string | undefined)[] = [];
  const context = {
    state,
    proposals,
    reads: {
      catchUp: () => undefined,
      mostRecent: () => (recent ? Promise.resolve().then(() => void recent()) : undefined),
    },
    pool: {
      run: async (_: FrontRequest, fieldsOf: () => JobFields = () => ({})) => {
        const fields = fieldsOf();
        starts.push(fields.current && Buffer.from(fields.current.bytes).toString());
        const result = await job(fields as JobFields & { id: number });
        if (result.is === 'proposed') proposed.push(result.id);
        return result;
      },
    },
  };
  const result = runWrite(context, request, { body: NOTHING }).then(
    response => response.status,
    (error: Error & { code?: number }) => error.code ?? error.message,
  );
  const decide = async (verdict: object): Promise<void> => {
    await turn();
    proposals.settle(proposed.splice(0).map(id => ({ id, ...verdict }) as Verdict));
    await turn();
  };
  return { state, proposals, sent, starts, result, decide };
}

test('a write starts from the current object and is answered when the writer has committed it', async () => {
  const { starts, result, decide } = setUp(({ id }) => proposes(id));
  await decide({ is: 'committed', revision: 3 });
  expect([await result, starts]).toEqual([200, ['first']]);
});

test('after a conflict it runs again on the newer object', async () => {
  const { state, starts, result, decide } = setUp(({ id }) => proposes(id));
  await turn();
  state.put(KEY, 'second');
  await decide({ is: 'stale' });
  await decide({ is: 'committed', revision: 4 });
  expect([await result, starts]).toEqual([200, ['first', 'second']]);
});

test.each([
  ['as it was marked by the first', 'a', '{"uid":"a", "marked":1}'],
  ['not if another one has its name', 'b', undefined],
])('the second of two writes is done to the object %s', async (_, uid, second) => {
  const object = '{"uid":"a"}';
  const { state, starts, result, decide } = setUp(
    ({ id, begun, current }) => {
      if (!begun) return proposes(id, { more: true });
      return current ? proposes(id) : responds(id, 404);
    },
    { object },
  );
  await turn();
  state.put(KEY, `{"uid":"${uid}", "marked":1}`);
  await decide({ is: 'committed', revision: 4 });
  await decide({ is: 'committed', revision: 5 });
  expect([await result, starts]).toEqual([200, [object, second]]);
});

test('a write that loses every race is a conflict', async () => {
  const { starts, result, decide } = setUp(({ id }) => proposes(id));
  for (let i = 0; i < WRITE_RETRIES; i++) await decide({ is: 'stale' });
  expect([await result, starts.length]).toEqual([409, WRITE_RETRIES]);
});

test('a proposal without a body is answered with the object as its revision has written it', async () => {
  const { state, result, decide } = setUp(({ id }) => proposes(id, { body: undefined }));
  await turn();
  state.put(KEY, 'written');
  await decide({ is: 'committed', revision: state.revision });
  expect(await result).toBe(200);
});

test.each([KEY, 'core/configmaps/shop/none'])(
  'a write that refers to another object in its body runs again with that object: %s',
  async key => {
    const keys: unknown[] = [];
    const { starts, result } = setUp(
      ({ id, currentKey }) => {
        keys.push(currentKey);
        return currentKey === key ? responds(id, 201) : { id, is: 'unseen', key };
      },
      { path: '/api/v1/namespaces/shop/bindings' },
    );
    expect([await result, keys]).toEqual([201, [undefined, key]]);
    expect(starts).toEqual([undefined, key === KEY ? 'first' : undefined]);
  },
);

test('a dry run of a create with an existing name runs again on the object of that name', async () => {
  const { starts, result } = setUp(({ id, current }) => responds(id, current ? 409 : 201, KEY), {
    path: '/api/v1/namespaces/shop/configmaps',
  });
  expect([await result, starts]).toEqual([409, [undefined, 'first']]);
});

test('a refusal on an object that another process has changed meanwhile is followed by another attempt', async () => {
  let changes = 1;
  const { starts, result, state } = setUp(({ id, current }) => responds(id, current ? 409 : 404), {
    recent: () => changes-- > 0 && state.put(KEY, 'second'),
  });
  expect([await result, starts]).toEqual([409, ['first', 'second']]);
});

test('writes in flight and later ones get 504 when the writer ends', async () => {
  const { proposals, result } = setUp(({ id }) => proposes(id));
  await turn();
  proposals.writerEnded();
  expect(await result).toBe(504);
  expect(() => proposals.open()).toThrow(/did not complete/);
});

test('a write gets 504 if the writer does not answer in time, and a late verdict is ignored', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const { result, decide } = setUp(({ id }) => proposes(id));
  await turn();
  vi.advanceTimersByTime(WRITE_MS - 1);
  await turn();
  expect(await Promise.race([result, turn().then(() => 'open')])).toBe('open');
  vi.advanceTimersByTime(1);
  expect(await result).toBe(504);
  await decide({ is: 'committed', revision: 3 });
});

test('a write whose time has passed is not retried', async () => {
  const { state, result, decide } = setUp(({ id }) => proposes(id));
  await turn();
  state.time = WRITE_MS;
  await decide({ is: 'stale' });
  expect(await result).toBe(504);
});

test('a write gets 429 without a pool job while too many proposals wait for the writer', async () => {
  const full = new Proposals();
  for (let i = 0; i < POOL_QUEUE; i++) full.open();
  const { starts, result } = setUp(({ id }) => proposes(id), { proposals: full });
  expect([await result, starts]).toEqual([429, []]);
});

test('a write fails if its pool thread ends, and its proposal does not stay open', async () => {
  const { proposals, result } = setUp(() => Promise.reject(new Error('a pool thread ended with code 1')));
  expect(await result).toBe('a pool thread ended with code 1');
  for (let i = 0; i < POOL_QUEUE; i++) proposals.open();
});

test('after a lost race, a write is not run again for a client that has disconnected', async () => {
  const { sent, starts, result, decide } = setUp(({ id }) => proposes(id));
  await turn();
  sent.leave();
  await decide({ is: 'stale' });
  expect([await result, starts.length]).toEqual(['the client has closed the connection', 1]);
});

test('the first of two writes is followed by the second, whose answer counts', async () => {
  const begun: unknown[] = [];
  const { result, decide } = setUp(job => {
    begun.push(job.begun);
    return proposes(job.id, job.begun ? { status: 202 } : { more: true });
  });
  await decide({ is: 'committed', revision: 3 });
  await decide({ is: 'committed', revision: 4 });
  expect([await result, begun]).toEqual([202, [false, true]]);
});
