import { MessageChannel } from 'node:worker_threads';
import { expect, test } from 'vitest';
import type { Service } from '../../core/api/index.js';
import type { ServiceAnswer } from '../../core/threads/messages/lifecycle.js';
import { Services } from '../../workers/front/pool/pluginServices.js';

/* States of the services of plugins, as they are sent to pool threads. */

const BAD = { of: (): void => undefined };

/** Starts a service. Returns all services, and the messages to threads. */
async function started(service: Service) {
  const posted: unknown[] = [];
  const services = new Services(({ state }) => void posted.push(state));
  await services.start(new Map([[service.name, service]]));
  return { services, posted };
}

test('a state that cannot be cloned fails in its service, and is not sent to threads', async () => {
  let publish!: (state: unknown) => void;
  const { services, posted } = await started({ name: 's', start: given => void (publish = given) });
  publish({ good: 1 });
  expect(() => publish(BAD)).toThrow('could not be cloned');
  expect(posted).toEqual([{ good: 1 }]);
  expect(Array.from(services.states, ({ state }) => state)).toEqual([{ good: 1 }]);
});

test('a state that its service changes afterwards is not changed for threads that start later', async () => {
  const state = { list: [1] };
  const { services } = await started({ name: 's', start: publish => publish(state) });
  state.list.push(2);
  expect(Array.from(services.states, ({ state: sent }) => sent)).toEqual([{ list: [1] }]);
});

test.each<[string, () => unknown, object]>([
  ['an answer', () => ({ good: 1 }), { value: { good: 1 } }],
  ['an error', () => Promise.reject(new Error('no')), { error: 'no' }],
  ['an answer that cannot be cloned', () => BAD, { error: expect.stringContaining('could not be cloned') }],
])('a question has %s', async (_, ask, expected) => {
  const { services } = await started({ name: 's', start: () => undefined, ask });
  const { port1, port2 } = new MessageChannel();
  const answered: ServiceAnswer[] = [];
  const question = { is: 'ask', id: 7, service: 's', question: null } as const;
  await services.answer(question, answer => {
    port1.postMessage(answer);
    answered.push(answer);
  });
  expect(answered).toEqual([{ is: 'answer', id: 7, ...expected }]);
  port1.close();
  port2.close();
});
