import { expect, test } from 'vitest';
import { forbidden } from '../../core/access/messages.js';
import { routeOf } from '../../core/front/route.js';
import { namingOf } from '../../core/naming.js';
import { servedRegistry } from '../../core/server/registry.js';

const naming = namingOf('kubernetes');
const registry = servedRegistry({ naming: 'kubernetes' });
const shop = '/api/v1/namespaces/shop';
const core = 'in API group ""';

test.each([
  ['OPTIONS', `${shop}/pods/p1`, 'pods "p1"', `  resource "pods" ${core} in the namespace "shop"`],
  ['POST', '/api/v1/watch/namespaces/shop/pods/p1', 'pods "p1"', ` watch resource "pods" ${core} in the namespace "shop"`],
  ['GET', '/api/v1/watch/pods/p1/status', 'pods "p1"', ` watch resource "pods/status" ${core} at the cluster scope`],
  ['GET', '//api/v1/pods', 'pods', ` list resource "pods" ${core} at the cluster scope`],
  ['GET', '/api/v1/namespaces//pods', 'pods', ` list resource "pods" ${core} at the cluster scope`],
  ['GET', `${shop}/pods/a%2Flog`, 'pods "a"', ` get resource "pods/log" ${core} in the namespace "shop"`],
  ['GET', `${shop}/finalize/x`, 'namespaces "shop"', ` get resource "namespaces/finalize" ${core} in the namespace "shop"`],
])('%s %s is judged as upstream reads it', (method, path, what, deed) => {
  const { target } = routeOf(registry, method, path, '');
  const { message } = forbidden({ name: 'zoe', groups: [] } as never, target, '', naming);
  expect(message).toBe(`${what} is forbidden: User "zoe" cannot${deed}`);
});

test.each(['componentstatuses', 'bindings', 'namespaces/shop/bindings', 'namespaces/shop/secrets/a/status'])(
  'the /watch/ path exists for what can be watched alone: %s is not there',
  path => {
    const { resource, missing } = routeOf(registry, 'GET', `/api/v1/watch/${path}`, '');
    expect([resource, missing]).toEqual([undefined, 'status']);
  },
);
