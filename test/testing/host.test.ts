import { expect, test } from 'vitest';
import { type ApiObject, authorizer, controller, definePlugin, definePoint, Refusal } from '../../core/api/index.js';
import { combine, fakeHost, partsOf, target, user } from '../../core/testing/index.js';

const namespace = (name: string, labels: Record<string, string> = {}): ApiObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels },
});

test('a fake host has a clock of the test, informers with the objects of the test, and a log', async () => {
  const fake = fakeHost('pool');
  const namespaces = fake.host.informer('core/namespaces');
  const before = namespaces.revision;
  fake.put('core/namespaces', namespace('a'));
  expect([namespaces.get('', 'a')?.metadata.name, namespaces.list().length]).toEqual(['a', 1]);
  expect(namespaces.revision).toBeGreaterThan(before);
  fake.delete('core/namespaces', '', 'a');
  expect(namespaces.list()).toEqual([]);
  fake.now += 60_000;
  expect(fake.host.now()).toBe(Date.UTC(2030, 0, 1, 0, 1));
  fake.host.log.warn({ a: 1 }, 'careful');
  expect(fake.log).toEqual([{ level: 'warn', fields: { a: 1 }, message: 'careful' }]);
});

test('a fake host has services that the test simulates, whose state and answers may arrive later', async () => {
  const fake = fakeHost('pool');
  const days = fake.host.service('holidays');
  const first = days.state();
  await expect(days.ask('x')).rejects.toThrow('the service holidays answers no questions');
  fake.setService('holidays', { state: ['a'], ask: question => ({ question }) });
  expect([await first, await days.state()]).toEqual([['a'], ['a']]);
  expect(await days.ask({ day: 1 })).toEqual({ question: { day: 1 } });
  await expect(days.ask(() => 1)).rejects.toThrow('could not be cloned');
  fake.setService('holidays', { state: ['b'] });
  expect(await days.state()).toEqual(['b']);
});

test('a fake host releases in reverse order', async () => {
  const fake = fakeHost('writer');
  const released: number[] = [];
  for (const n of [1, 2]) fake.host.onClose(() => void released.push(n));
  await fake.close();
  await fake.close();
  expect(released).toEqual([2, 1]);
});

test('a fake host delivers changes to controllers, and answers their requests as the test says', async () => {
  const seen: string[] = [];
  const plugin = definePlugin({
    name: 'p',
    parse: () => null,
    contribute: () => [
      controller.of(host => ({
        name: 'c',
        start: async () => {
          host.watch(event => void seen.push(`${event.type} ${event.name} ${event.mentions?.('needle')}`));
          await host.request('c', { method: 'GET', path: '/version' });
        },
      })),
    ],
  });
  const fake = fakeHost('control');
  fake.put('core/namespaces', namespace('a'));
  const [only] = await partsOf(plugin, null, controller, fake.host);
  await expect(only?.start()).rejects.toThrow(Refusal);
  fake.answer = () => namespace('answer');
  await only?.start();
  expect(fake.requests.map(({ controller, request }) => `${controller} ${request.path}`)).toEqual([
    'c /version',
    'c /version',
  ]);
  seen.splice(0);
  fake.put('core/namespaces', namespace('a', { needle: 'x' }));
  fake.delete('core/namespaces', '', 'a');
  expect(new Set(seen)).toEqual(new Set(['MODIFIED a true', 'DELETED a true']));
});

test('parts are combined as in a server, and host.at returns the values that the test sets', async () => {
  const allows = (name: string, who: string) =>
    definePlugin({
      name,
      parse: () => null,
      contribute: () => [
        authorizer.of(() => ({
          dependsOn: 'never',
          authorize: ({ name }) => (name === who ? { is: 'allow' } : { is: 'noOpinion', reason: `not ${who}` }),
        })),
      ],
    });
  const fake = fakeHost('pool');
  const parts = [
    ...(await partsOf(allows('a', 'ann'), null, authorizer, fake.host)),
    ...(await partsOf(allows('b', 'bob'), null, authorizer, fake.host)),
  ];
  const all = combine(authorizer, parts);
  expect((await all.authorize(user('bob'), target())).decision.is).toBe('allow');
  expect((await all.authorize(user('eve'), target())).decision).toEqual({
    is: 'noOpinion',
    reason: 'not ann\nnot bob',
  });
  const count = definePoint<string>()('count', ['pool'], inputs => inputs.length);
  expect(fake.host.at(count)).toBe(0);
  fake.setCombination(count, 7);
  expect(fake.host.at(count)).toBe(7);
});
