import { describe, expect, test } from 'vitest';
import { WRITE_RETRIES } from '../../core/limits.js';
import type { JobResult } from '../../core/threads/messages/messages.js';
import {
  type Attempting,
  afterInterruption,
  afterJob,
  afterRecheck,
  afterVerdict,
  FIRST_ATTEMPT,
  type PoolResponse,
  type Proposed,
  type WriteState,
} from '../../workers/front/write/writeState.js';

const response = (status: number, key?: string): PoolResponse => ({
  id: 1,
  is: 'respond',
  status,
  headers: [],
  body: Buffer.from(String(status)),
  key,
});
const proposal = (more?: boolean): Proposed => ({ id: 1, is: 'proposed', status: 201, headers: [], key: 'k', more });
const proposed = (more?: boolean): Extract<WriteState, { is: 'proposed' }> => ({
  ...FIRST_ATTEMPT,
  is: 'proposed',
  proposal: proposal(more),
});
const interrupted = (over: Partial<Attempting> = {}): Extract<WriteState, { is: 'interrupted' }> => ({
  ...FIRST_ATTEMPT,
  ...over,
  is: 'interrupted',
});
const committedAnswer = (_: Proposed, revision: number): PoolResponse => response(revision);
const nothing = (): boolean => false;
const ON_TIME = { isLate: false, isClientGone: false };

describe('after the job', () => {
  test('a proposal goes to the writer', () => {
    expect(afterJob(FIRST_ATTEMPT, proposal(), nothing)).toEqual(proposed());
  });

  test('a success without a proposal is the answer', () => {
    expect(afterJob(FIRST_ATTEMPT, response(200), nothing)).toEqual({ is: 'answered', response: response(200) });
  });

  test('a refusal is checked again, since the object may have been outdated', () => {
    expect(afterJob(FIRST_ATTEMPT, response(404), nothing)).toEqual({
      ...FIRST_ATTEMPT,
      is: 'refused',
      refusal: response(404),
    });
  });

  test('a refusal for an object that was checked again is final', () => {
    const state = { ...FIRST_ATTEMPT, isRechecked: true };
    expect(afterJob(state, response(409), nothing)).toEqual({ is: 'answered', response: response(409) });
  });

  test('an object that the body refers to is passed to the next attempt', () => {
    const unseen: JobResult = { id: 1, is: 'unseen', key: 'core/pods/a/b' };
    expect(afterJob(FIRST_ATTEMPT, unseen, nothing)).toEqual(interrupted({ key: 'core/pods/a/b' }));
  });

  test('a dry run is retried on the object whose name it has generated, if there is one', () => {
    const dryRun = response(201, 'core/pods/a/b');
    const exists = (key: string): boolean => key === 'core/pods/a/b';
    expect(afterJob(FIRST_ATTEMPT, dryRun, exists)).toEqual(interrupted({ key: 'core/pods/a/b', warnings: [] }));
    expect(afterJob(FIRST_ATTEMPT, dryRun, nothing)).toMatchObject({ is: 'answered' });
    expect(afterJob({ ...FIRST_ATTEMPT, key: 'core/pods/a/b' }, dryRun, exists)).toMatchObject({ is: 'answered' });
  });

  test('if the object is deleted before the second of two writes, the answer is that after the first', () => {
    const begun = response(200);
    expect(afterJob({ ...FIRST_ATTEMPT, begun }, response(404), nothing)).toEqual({ is: 'answered', response: begun });
    expect(afterJob({ ...FIRST_ATTEMPT, begun }, response(403), nothing)).toMatchObject({ is: 'refused' });
  });

  test('an impossible result of a write is an error', () => {
    expect(afterJob(FIRST_ATTEMPT, { id: 1, is: 'granted' }, nothing)).toMatchObject({ is: 'failed' });
  });
});

describe('after the verdict', () => {
  test('a commit is answered', () => {
    const state = afterVerdict(proposed(), { id: 1, is: 'committed', revision: 7 }, committedAnswer);
    expect(state).toEqual({ is: 'answered', response: response(7) });
  });

  test('the first of two writes is followed by an attempt at the second', () => {
    const state = afterVerdict(proposed(true), { id: 1, is: 'committed', revision: 7 }, committedAnswer);
    expect(state).toEqual(interrupted({ key: 'k', begun: response(7) }));
  });

  test('a conflict leads to another attempt, from the object that won, with the warnings so far', () => {
    const stale = { id: 1, is: 'stale' } as const;
    expect(afterVerdict(proposed(), stale, committedAnswer)).toEqual(interrupted({ key: 'k', warnings: [] }));
    const headers = [['warning', '299 - "odd \\"name\\""']] as const;
    const warned = { ...proposed(), proposal: { ...proposal(), headers } };
    const state = afterVerdict(warned, stale, committedAnswer);
    expect(state).toMatchObject({ is: 'interrupted', warnings: ['odd "name"'] });
    const retry = { isLate: false, isClientGone: false };
    expect(afterInterruption(interrupted({ warnings: ['w'] }), retry)).toMatchObject({ attempt: 2, warnings: ['w'] });
  });

  test.each(['the writer has ended', 'the writer has not answered in time'])('if %s, the answer is 504', message => {
    expect(afterVerdict(proposed(), { id: 1, is: 'unavailable', message }, committedAnswer)).toMatchObject({
      is: 'failed',
      error: { reason: 'Timeout', code: 504 },
    });
  });

  test('an error of the store is answered with 500 and its message', () => {
    expect(afterVerdict(proposed(), { id: 1, is: 'error', message: 'disk full' }, committedAnswer)).toMatchObject({
      is: 'failed',
      error: { code: 500, message: 'Internal error occurred: disk full' },
    });
  });
});

describe('after a refusal was checked again', () => {
  const refused = { ...FIRST_ATTEMPT, is: 'refused', refusal: response(404) } as const;

  test('an outdated object leads to one more attempt', () => {
    expect(afterRecheck(refused, true)).toEqual(interrupted({ isRechecked: true }));
  });

  test('it is the answer if the object was current', () => {
    expect(afterRecheck(refused, false)).toEqual({ is: 'answered', response: response(404) });
  });
});

describe('after an interruption', () => {
  test('the next attempt keeps the results of earlier ones', () => {
    const known = { key: 'k', isRechecked: true, begun: response(200) };
    expect(afterInterruption(interrupted(known), ON_TIME)).toEqual({ is: 'attempting', attempt: 2, ...known });
  });

  test('after the maximum number of attempts, the answer is a conflict', () => {
    let state: WriteState = FIRST_ATTEMPT;
    let attempts = 0;
    while (state.is === 'attempting') {
      attempts++;
      state = afterInterruption({ ...state, is: 'interrupted' }, ON_TIME);
    }
    expect([attempts, state]).toEqual([WRITE_RETRIES, { is: 'conflicted' }]);
  });

  test('after its time has passed, a write is not retried and gets 504', () => {
    expect(afterInterruption(interrupted(), { ...ON_TIME, isLate: true })).toMatchObject({
      is: 'failed',
      error: { code: 504 },
    });
  });

  test('for a client that has disconnected only the second of two writes is still attempted', () => {
    const gone = { ...ON_TIME, isClientGone: true };
    expect(afterInterruption(interrupted(), gone)).toMatchObject({ is: 'failed' });
    expect(afterInterruption(interrupted({ begun: response(200) }), gone)).toMatchObject({ is: 'attempting' });
  });
});
