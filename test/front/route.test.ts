import { expect, test } from 'vitest';
import { forbidden } from '../../core/access/messages.js';
import { parseRoute } from '../../core/request/route.js';
import { namingOf } from '../../core/naming.js';
import { pathHandler, type PathHandlers } from '../../workers/front/paths/routes.js';
import { registryOf } from '../kinds/builtIn.js';
import { partly } from '../support/values.js';
import { requireLinearTime } from '../support/linear.js';
import { postOf } from './support.js';

const naming = namingOf('kubernetes');
const registry = registryOf('kubernetes');
const shop = '/api/v1/namespaces/shop';
const core = 'in API group ""';

requireLinearTime();

test.each([
  ['OPTIONS', `${shop}/pods/p1`, 'pods "p1"', `  resource "pods" ${core} in the namespace "shop"`],
  [
    'POST',
    '/api/v1/watch/namespaces/shop/pods/p1',
    'pods "p1"',
    ` watch resource "pods" ${core} in the namespace "shop"`,
  ],
  ['GET', '/api/v1/watch/pods/p1/status', 'pods "p1"', ` watch resource "pods/status" ${core} at the cluster scope`],
  ['GET', '//api/v1/pods', 'pods', ` list resource "pods" ${core} at the cluster scope`],
  ['GET', '/api/v1/namespaces//pods', 'pods', ` list resource "pods" ${core} at the cluster scope`],
  ['GET', `${shop}/pods/a%2Flog`, 'pods "a"', ` get resource "pods/log" ${core} in the namespace "shop"`],
  ['GET', '/api/v1/proxy/nodes/n:80/a/b', 'nodes "n:80"', ` proxy resource "nodes" ${core} at the cluster scope`],
  ['GET', '/api/v1/proxy', 'proxy', ` list resource "proxy" ${core} at the cluster scope`],
  [
    'DELETE',
    '/api/v1/proxy/namespaces/shop/pods/p1',
    'pods "p1"',
    ` proxy resource "pods" ${core} in the namespace "shop"`,
  ],
  [
    'GET',
    '/apis/apps/v1/namespaces/shop',
    'namespaces.apps "shop"',
    ' get resource "namespaces" in API group "apps" in the namespace "shop"',
  ],
  ['GET', `${shop}/pods/<p>&`, 'pods "<p>&"', ` get resource "pods" ${core} in the namespace "shop"`],
  ['GET', '/api/v1/<b>&', '<b>&', ` list resource "&lt;b&gt;&amp;" ${core} at the cluster scope`],
  [
    'GET',
    `${shop}/finalize/x`,
    'namespaces "shop"',
    ` get resource "namespaces/finalize" ${core} in the namespace "shop"`,
  ],
])('%s %s is parsed', (method, path, what, denied) => {
  const { target } = parseRoute(registry, method, path, '');
  const { message } = forbidden({ name: 'zoe', groups: [] } as never, target, '', naming);
  expect(message).toBe(`${what} is forbidden: User "zoe" cannot${denied}`);
});

test.each([
  ['POST', '/api/v1/bindings', 'status'],
  ['GET', '/apis/authorization.k8s.io/v1/localsubjectaccessreviews', 'status'],
  ['POST', '/api/v1/namespaces/shop/bindings', undefined],
  ['POST', '/api/v1/pods', undefined],
  ['POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', undefined],
])('%s %s: namespaced resources that cannot be listed have no path outside of namespaces', (method, path, missing) => {
  expect(parseRoute(registry, method, path, '').missing).toBe(missing);
});

test.each([
  ['/api//v1/pods', 'status'],
  ['/api/v1//pods', 'status'],
  ['/apis/apps//v1/deployments', 'status'],
  ['/apis//apps/v1/deployments', 'text'],
  ['/apis/nosuch.example.test//v1/things', 'text'],
  ['//api/v1/pods', 'text'],
  ['/api/v1/pods//', undefined],
])('%s: an empty segment is not a name, and the message depends on the group', (path, missing) => {
  expect(parseRoute(registry, 'GET', path, '').missing).toBe(missing);
});

test.each(['componentstatuses', 'bindings', 'namespaces/shop/bindings', 'namespaces/shop/secrets/a/status'])(
  'the /watch/ path exists only for resources that can be watched: %s does not exist',
  path => {
    const { resource, missing } = parseRoute(registry, 'GET', `/api/v1/watch/${path}`, '');
    expect([resource, missing]).toEqual([undefined, 'status']);
  },
);

test.each(['/api/', '/apis/', '/healthz/', '/api/v1/namespaces/'])(
  'a path of very many slashes below %s is parsed in linear time',
  path => {
    const { missing, target } = parseRoute(registry, 'GET', `${path}${'/'.repeat(300_000)}x`, '');
    expect(missing ?? target.is).toMatch(/^(status|text|path)$/);
  },
);

test('a document below the path of a site is not served, since requests there are not authorized', async () => {
  const asked: string[] = [];
  const answer = (name: string, isKnown: boolean) => () => (asked.push(name), isKnown);
  const handlers = partly<PathHandlers>({ sites: answer('sites', true), documents: answer('documents', true) });
  const { exchange } = postOf('', 'GET', '/help/report');
  const route = parseRoute(registry, 'GET', '/help/report', '');
  const handle = pathHandler(handlers);
  expect([await handle(exchange, route, new Uint8Array()), await handle(exchange, route)]).toEqual([true, true]);
  expect(asked).toEqual(['sites', 'documents']);
});
