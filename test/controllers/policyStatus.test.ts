import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type ApiObject, controller } from '../../core/api/index.js';
import { fakeHost, partsOf } from '../../core/testing/index.js';
import { policyStatus } from '../../plugins/controllers/policies/policyStatus.js';
import { eventuallyPasses } from '../support/eventually.js';

const POLICIES = 'admissionregistration.orchestrator.io/validatingadmissionpolicies';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const policyOf = (generation: number): ApiObject => ({
  apiVersion: 'admissionregistration.orchestrator.io/v1',
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name: 'policy', generation },
  spec: { validations: [{ expression: 'true' }] },
});

test.each([
  ['that is left alone is checked once, after two seconds', 1, 2],
  ['that changes continuously is checked after ten seconds', 30, 10],
])('a policy %s', async (_what, changes, seconds) => {
  const fake = fakeHost('control');
  const [status] = await partsOf(policyStatus, undefined, controller, fake.host);
  await status!.start();
  let generation = 0;
  for (let second = 0; second < seconds; second++) {
    if (generation < changes) fake.put(POLICIES, policyOf(++generation));
    await vi.advanceTimersByTimeAsync(999);
    expect(fake.requests).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
  }
  vi.useRealTimers();
  await eventuallyPasses(() => expect(fake.requests.length).toBeGreaterThan(0));
  expect(fake.requests[0]!.request.body).toMatchObject({ status: { observedGeneration: generation } });
  await fake.close();
});
