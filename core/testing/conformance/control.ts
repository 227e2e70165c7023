import assert from 'node:assert/strict';
import type { Controller, HealthCheck } from '../../api/control.js';
import type { Host, InternalRequest } from '../../api/host.js';
import type { Awaitable } from '../../api/point.js';
import type { ApiObject } from '../../model/object.js';
import { dns1123Label } from '../../model/names.js';
import { Refusal } from '../../model/refusal.js';
import { systemTime } from '../../runtime/clock.js';
import { delay, nextTurn } from '../../runtime/timers.js';
import { type FakeHost, fakeHost } from '../host.js';
import { serveObjects } from '../objectServer.js';
import { type ConformanceTest, suite } from '../suite.js';
import { frozenCopy } from './samples.js';

/** Time limit in milliseconds for the requests of a controller. */
const PATIENCE_MS = 5000;
/** Milliseconds between two checks of a condition. */
const PAUSE_MS = 5;
/** Turns of the event loop after which a controller would have sent further requests. */
const QUIET_TURNS = 20;

/** A controller under test, and the expected requests for some objects. */
export interface ControllerCase {
  /** Makes one; called for each test. */
  make(host: Host<'control'>): Awaitable<Controller>;
  /** The objects that the controller finds. Storage names have the form `core/namespaces`. */
  readonly objects: readonly { readonly storageName: string; readonly object: ApiObject }[];
  /**
   * The requests by which it reaches the state that it maintains, in any order: `POST /api/v1/namespaces`. Requests
   * that record events are omitted.
   */
  readonly requests: readonly string[];
}

/** A fake host whose objects the requests of the controller change. */
function hostWith(objects: ControllerCase['objects']): FakeHost<'control'> {
  const fake = fakeHost('control');
  serveObjects(fake);
  for (const { storageName, object } of objects) fake.put(storageName, frozenCopy(object));
  return fake;
}

const lineOf = ({ method, path }: InternalRequest): string => `${method} ${path}`;

/** Events are recorded in the background of a controller's work, and not retried if they are refused. */
const EVENTS = /^\/api\/v1\/namespaces\/[^/]+\/events(\/|$)/;

/** The writes among the requests from an index on, sorted, without those of events. */
const writesOf = ({ requests }: FakeHost<'control'>, from = 0): string[] =>
  requests
    .slice(from)
    .filter(({ request }) => request.method !== 'GET' && !EVENTS.test(request.path))
    .map(({ request }) => lineOf(request))
    .sort();

/** Waits until a condition holds, at most for PATIENCE_MS. */
async function until(condition: () => boolean): Promise<void> {
  const end = systemTime() + PATIENCE_MS;
  while (!condition() && systemTime() < end) await delay(PAUSE_MS);
}

/** Waits for the expected writes from an index on; fails with the difference if there are others. */
async function untilWritten(fake: FakeHost<'control'>, expected: readonly string[], from = 0): Promise<void> {
  await until(() => writesOf(fake, from).length >= expected.length);
  assert.deepEqual(writesOf(fake, from), expected.toSorted());
}

async function pass(turns: number): Promise<void> {
  for (let i = 0; i < turns; i++) await nextTurn();
}

/**
 * Returns the tests that every controller must pass.
 *
 * @example
 * const objects = [{ storageName: 'core/namespaces', object: namespace }];
 * const requests = ['POST /api/v1/namespaces/shop/configmaps'];
 * for (const { name, run } of controllerConformance({ make: host => new Shared(host), objects, requests }))
 *   test(name, run);
 */
export function controllerConformance({ make, objects, requests }: ControllerCase): readonly ConformanceTest[] {
  const started = async (fake: FakeHost<'control'>): Promise<void> => (await make(fake.host)).start();
  return suite(({ it }) => {
    it('has a name that a service account can have', async () => {
      const fake = hostWith([]);
      assert.deepEqual(dns1123Label((await make(fake.host)).name), []);
      await fake.close();
    });

    it('reaches its state from the objects that it finds', async () => {
      const fake = hostWith(objects);
      await started(fake);
      await untilWritten(fake, requests);
      await pass(QUIET_TURNS);
      assert.deepEqual(writesOf(fake), requests.toSorted(), 'it must not write when its state is reached');
      await fake.close();
    });

    it('writes nothing when it starts in the state that it has reached', async () => {
      const fake = hostWith(objects);
      await started(fake);
      await untilWritten(fake, requests);
      const before = fake.requests.length;
      await started(fake);
      await pass(QUIET_TURNS);
      assert.deepEqual(writesOf(fake, before), []);
      await fake.close();
    });

    it('reaches its state from events after its start', async () => {
      const fake = hostWith([]);
      await started(fake);
      const atStart = writesOf(fake);
      const later = requests.filter(request => !atStart.includes(request));
      const before = fake.requests.length;
      for (const { storageName, object } of objects) fake.put(storageName, frozenCopy(object));
      await untilWritten(fake, later, before);
      await fake.close();
    });

    it('retries requests that are refused', async () => {
      const fake = hostWith(objects);
      const { answer } = fake;
      const refused = new Set<string>();
      const missing = [...requests];
      fake.answer = (request, controller) => {
        const line = lineOf(request);
        if (request.method === 'GET') return answer(request, controller);
        if (!refused.has(line)) {
          refused.add(line);
          throw new Refusal('Conflict', 'the test refuses the first of each request');
        }
        const object = answer(request, controller);
        const place = missing.indexOf(line);
        if (place >= 0) missing.splice(place, 1);
        return object;
      };
      await started(fake);
      await until(() => missing.length === 0);
      assert.deepEqual(missing, [], 'these requests were not sent again');
      await fake.close();
    });

    it('does not fail when the objects are deleted', async () => {
      const fake = hostWith(objects);
      await started(fake);
      await untilWritten(fake, requests);
      for (const { storageName, object } of objects)
        fake.delete(storageName, object.metadata.namespace ?? '', object.metadata.name ?? '');
      await pass(QUIET_TURNS);
      await fake.close();
    });

    it('sends no request after its release', async () => {
      const fake = hostWith([]);
      await started(fake);
      await fake.close();
      const before = fake.requests.length;
      for (const { storageName, object } of objects) fake.put(storageName, frozenCopy(object));
      await pass(QUIET_TURNS);
      assert.equal(fake.requests.length, before);
    });
  });
}

/** A health check under test. */
export interface HealthCheckCase {
  /** Makes one whose subject is healthy; called for each test. */
  make(): Awaitable<HealthCheck>;
  /** Makes one whose subject is not healthy; absent: the check cannot fail. */
  makeUnhealthy?(): Awaitable<HealthCheck>;
}

const ENDPOINTS: readonly string[] = ['livez', 'readyz', 'healthz'];
/** Names are part of paths: `/livez/<name>`. */
const CHECK_NAME = /^[A-Za-z0-9][A-Za-z0-9._/-]*$/;

/**
 * Returns the tests that every health check must pass.
 *
 * @example
 * const makeUnhealthy = () => diskCheck({ minimumBytes: Number.MAX_SAFE_INTEGER });
 * for (const { name, run } of healthCheckConformance({ make: () => diskCheck({ minimumBytes: 1 }), makeUnhealthy }))
 *   test(name, run);
 */
export function healthCheckConformance({ make, makeUnhealthy }: HealthCheckCase): readonly ConformanceTest[] {
  return suite(({ it }) => {
    it('has a name that can be part of a path, and endpoints', async () => {
      const { name, of } = await make();
      assert.match(name, CHECK_NAME);
      assert.ok(of.length > 0, 'of must name an endpoint');
      for (const endpoint of of) assert.ok(ENDPOINTS.includes(endpoint), `of: ${ENDPOINTS.join(', ')}`);
    });

    it('passes each time while all is well', async () => {
      const check = await make();
      for (let i = 0; i < 3; i++) assert.equal(await check.check(), undefined);
      await Promise.all(Array.from({ length: 10 }, () => check.check()));
    });

    if (makeUnhealthy)
      it('throws an error that says what is unhealthy, each time', async () => {
        const check = await makeUnhealthy();
        for (let i = 0; i < 2; i++)
          await assert.rejects(
            async () => check.check(),
            thrown => thrown instanceof Error && thrown.message !== '',
          );
      });
  });
}
