import assert from 'node:assert/strict';
import type { Service } from '../../api/plugin/pluginService.js';
import type { Awaitable } from '../../api/point.js';
import { clearTimeout, setTimeout } from '../../runtime/timers.js';
import { type ConformanceTest, suite } from '../suite.js';

/**
 * Time limit in milliseconds for the start of a service: the server waits for it, so it must not wait for other
 * servers.
 */
const START_MS = 5000;

/** A service under test. */
export interface ServiceCase {
  /** Makes one; called for each test. */
  make(): Awaitable<Service>;
  /** The state that its start publishes last; absent: it need not publish any. */
  readonly state?: unknown;
  /** Questions in their order, with the answers. */
  readonly questions?: readonly { readonly question: unknown; readonly answer: unknown }[];
  /** Questions that it must refuse. */
  readonly bad?: readonly unknown[];
}

/** Starts a service, and returns the states that it has published meanwhile. */
async function start(service: Service): Promise<unknown[]> {
  const states: unknown[] = [];
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`start took longer than ${START_MS} ms`)), START_MS);
  });
  // A server copies a state when it is published: later changes to it have no effect, and functions fail.
  const started = (async () => await service.start(state => void states.push(structuredClone(state))))();
  await Promise.race([started, late]).finally(() => clearTimeout(timer));
  return states;
}

/**
 * Returns the tests that every service must pass. Handles that it holds open must be released by the test.
 *
 * @example
 * const questions = [{ question: '2030-12-25', answer: true }];
 * for (const { name, run } of serviceConformance({ make: () => new Holidays(), questions })) test(name, run);
 */
export function serviceConformance({
  make,
  questions = [],
  bad = [],
  ...more
}: ServiceCase): readonly ConformanceTest[] {
  return suite(({ it }) => {
    it('has the same name each time', async () => {
      const [{ name }, { name: again }] = [await make(), await make()];
      assert.ok(typeof name === 'string' && name !== '', 'name must be a text');
      assert.equal(again, name);
    });

    it('starts without waiting for others, and publishes data that can be sent to threads', async () => {
      const states = await start(await make());
      if (!('state' in more)) return;
      assert.ok(states.length > 0, 'start must publish a state');
      assert.deepEqual(states.at(-1), more.state);
    });

    it('answers questions as expected, with data that can be sent to threads', async () => {
      const service = await make();
      await start(service);
      for (const { question, answer } of questions) {
        assert.ok(service.ask, 'a service with answers has a function ask');
        assert.deepEqual(structuredClone(await service.ask(structuredClone(question))), answer);
      }
    });

    it('does not mix up concurrent questions', async () => {
      const service = await make();
      await start(service);
      const answers = await Promise.all(questions.map(async ({ question }) => await service.ask?.(question)));
      assert.deepEqual(
        answers,
        questions.map(({ answer }) => answer),
      );
    });

    it('refuses bad questions, and answers good ones afterwards', async () => {
      const service = await make();
      await start(service);
      for (const question of bad)
        await assert.rejects(async () => await service.ask?.(question), Error, `${JSON.stringify(question)}`);
      for (const { question, answer } of questions) assert.deepEqual(await service.ask?.(question), answer);
    });
  });
}
