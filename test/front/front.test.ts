import { afterEach, expect, test, vi } from 'vitest';
import {
  BODIES_BYTES,
  BODY_BYTES,
  BODY_MS,
  IDENTITY_BODY_BYTES,
  IDENTITY_REQUESTS,
  POOL_QUEUE,
  UNKNOWN_BODY_BYTES,
  UNKNOWN_BODY_PART_BYTES,
} from '../../core/limits.js';
import type { Job, JobResult } from '../../core/threads/messages/messages.js';
import { fakeFront, grantFor, postOf, type Sent, turn } from './support.js';

afterEach(() => vi.useRealTimers());

const NOTHING = new Uint8Array(0);
const MB = 1024 * 1024;

/** The name in `Bearer <name>`; jobs of known users carry the user. */
const nameIn = (job: Job): string =>
  job.user?.name ?? job.credentials?.headers.find(([name]) => name === 'authorization')?.[1].slice(7) ?? '';

/** Authenticates every sender by name, refuses senders without a name, and proposes every write. */
const answerAll =
  (proposed: number[] = []) =>
  (job: Job): JobResult => {
    const { id, body } = job;
    const name = nameIn(job);
    if (name === '') return { id, is: 'respond', status: 401, headers: [], body: NOTHING };
    const grant = job.granted ? undefined : grantFor(name);
    if (!body) return { id, is: 'granted', grant };
    proposed.push(id);
    return { id, is: 'proposed', status: 201, headers: [], body: NOTHING, key: 'core/namespaces/a', grant };
  };

function setUp() {
  const proposed: number[] = [];
  const jobs: Job[] = [];
  const answer = answerAll(proposed);
  const parts = fakeFront(job => {
    jobs.push(job);
    return answer(job);
  });
  const commit = (): void =>
    parts.proposals.settle(proposed.splice(0).map((id, i) => ({ id, is: 'committed', revision: i + 2 })));
  const post = (token: string): Sent => {
    const sent = postOf(token);
    parts.front.handle(sent.exchange);
    return sent;
  };
  /** Makes a sender known to the front end. */
  const introduce = async (token: string): Promise<void> => {
    const sent = post(token);
    sent.complete();
    await turn();
    commit();
    await turn();
    expect(sent.status()).toBe(201);
  };
  return { ...parts, jobs, commit, post, introduce };
}

/** Sends a number of complete requests. */
function postMany(post: (token: string) => Sent, count: number, token: (i: number) => string): Sent[] {
  return Array.from({ length: count }, (_, i) => {
    const sent = post(token(i));
    sent.complete();
    return sent;
  });
}

/** Sends parts of bodies of a user, up to the number of bytes that a user may have. */
function fill(post: (token: string) => Sent, user: string): Sent[] {
  return Array.from({ length: Math.ceil(IDENTITY_BODY_BYTES / BODY_BYTES) }, (_, i) => {
    const sent = post(user);
    sent.arrive(Math.min(BODY_BYTES, IDENTITY_BODY_BYTES - i * BODY_BYTES));
    return sent;
  });
}

test('the sender is authenticated and authorized before the body is read', async () => {
  const { jobs, post, commit } = setUp();
  const sent = post('ann');
  await turn();
  expect(jobs.map(job => job.body)).toEqual([undefined]);
  sent.complete();
  await turn();
  expect(jobs.map(job => [job.body, job.granted, job.user?.name])).toEqual([
    [undefined, false, undefined],
    [NOTHING, true, 'ann'],
  ]);
  commit();
  await turn();
  expect(sent.status()).toBe(201);
});

test('a sender who is refused is answered before the body has arrived', async () => {
  const { post } = setUp();
  const sent = post('');
  await turn();
  expect(sent.status()).toBe(401);
});

test('anonymous clients that announce bodies and send nothing do not reduce the share of a known one', async () => {
  const { post, commit, introduce } = setUp();
  await introduce('admin');
  for (let i = 0; i < 200; i++) post(`unknown-${i}`);
  const sent = post('admin');
  sent.arrive(MB);
  sent.complete();
  await turn();
  commit();
  await turn();
  expect(sent.status()).toBe(201);
});

test('bytes of unknown senders have a common limit, which leaves known senders their share', async () => {
  const { front, post, introduce, commit } = setUp();
  await introduce('admin');
  // Nobody is authenticated while the pool does not answer: the handler is still on the stack.
  for (let bytes = 0; bytes < UNKNOWN_BODY_BYTES; bytes += MB) {
    const unknown = postOf('someone');
    front.handle(unknown.exchange);
    unknown.arrive(MB);
  }
  const next = postOf('someone else');
  front.handle(next.exchange);
  next.arrive(1);
  const admin = post('admin');
  admin.arrive(MB);
  admin.complete();
  await turn();
  expect(next.status()).toBe(429);
  commit();
  await turn();
  expect(admin.status()).toBe(201);
});

test('only a part of the body of an unknown sender is read before the sender is authenticated', async () => {
  const { front, commit } = setUp();
  const sent = postOf('ann');
  front.handle(sent.exchange);
  expect(sent.arrive(UNKNOWN_BODY_PART_BYTES - 1)).toBeUndefined();
  const waiting = sent.arrive(1);
  expect(waiting).toBeInstanceOf(Promise);
  await turn();
  await waiting;
  expect(sent.arrive(MB)).toBeUndefined();
  commit();
});

test('the body of a known sender is read at once', async () => {
  const { post, introduce } = setUp();
  await introduce('ann');
  expect(post('ann').arrive(MB)).toBeUndefined();
});

test('bodies of one user and of all users are limited, and count until the answer', async () => {
  const { post, introduce, commit } = setUp();
  const users = Array.from({ length: BODIES_BYTES / IDENTITY_BODY_BYTES + 1 }, (_, i) => `user-${i}`);
  for (const user of users) await introduce(user);
  const filling = users.slice(1).flatMap(user => fill(post, user));
  const [first = '', second = ''] = users;
  const overOwn = post(second);
  overOwn.arrive(1);
  const overAll = post(first);
  overAll.arrive(1);
  await turn();
  expect([overOwn.status(), overAll.status()]).toEqual([429, 429]);
  for (const sent of filling) sent.complete();
  await turn();
  commit();
  await turn();
  expect(filling.map(sent => sent.status())).toEqual(filling.map(() => 201));
  const again = fill(post, second);
  for (const sent of again) sent.complete();
  await turn();
  commit();
  await turn();
  expect(again.map(sent => sent.status())).toEqual(again.map(() => 201));
});

test('writes that wait for the store are limited, by user and in total, until some are answered', async () => {
  const { post, commit, introduce } = setUp();
  for (const user of ['a', 'b', 'c']) await introduce(user);
  const waiting = postMany(post, POOL_QUEUE, i => (i < IDENTITY_REQUESTS ? 'a' : 'b'));
  await turn();
  expect(new Set(waiting.map(sent => sent.status()))).toEqual(new Set([undefined]));
  const [own, other] = [...postMany(post, 1, () => 'a'), ...postMany(post, 1, () => 'c')];
  await turn();
  expect([own?.status(), other?.status()]).toEqual([429, 429]);
  commit();
  await turn();
  expect(new Set(waiting.map(sent => sent.status()))).toEqual(new Set([201]));
  const [last] = postMany(post, 1, () => 'a');
  await turn();
  commit();
  await turn();
  expect(last?.status()).toBe(201);
});

test('one user with many writes leaves room for those of another', async () => {
  const { post, commit, introduce } = setUp();
  for (const user of ['a', 'b']) await introduce(user);
  postMany(post, POOL_QUEUE, () => 'a');
  const [other] = postMany(post, 1, () => 'b');
  await turn();
  commit();
  await turn();
  expect(other?.status()).toBe(201);
});

test('a client that disconnects while its body arrives is not answered, and its bytes no longer count', async () => {
  const { post, introduce } = setUp();
  await introduce('ann');
  const filling = fill(post, 'ann');
  for (const sent of filling) sent.leave();
  await turn();
  expect(filling.map(sent => sent.status())).toEqual(filling.map(() => undefined));
  const next = post('ann');
  next.arrive(MB);
  next.complete();
  await turn();
  expect(next.status()).toBeUndefined();
});

test('a body that does not arrive in time is answered with 504', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const { post, introduce } = setUp();
  await introduce('ann');
  const sent = post('ann');
  sent.arrive(MB);
  vi.advanceTimersByTime(BODY_MS);
  await turn();
  expect(sent.status()).toBe(504);
});
