import { expect, test } from 'vitest';
import type { Log, Target } from '../../core/api/index.js';
import { namingOf } from '../../core/naming.js';
import { withLoggedDenials } from '../../plugins/authz/rbac/denials.js';
import { rbac } from '../../plugins/authz/rbac/evaluate.js';
import { ListInformer, target, user } from './support.js';
import { partly } from '../support/values.js';

/** The log lines about a request of a user without roles. */
function logLines(asked: Target): string[] {
  const messages: string[] = [];
  const log = partly<Log>({ debug: (_: object, message: string) => messages.push(message) });
  const none = new ListInformer();
  const policy = { roles: none, clusterRoles: none, roleBindings: none, clusterRoleBindings: none };
  const naming = namingOf('kubernetes');
  withLoggedDenials(rbac(policy, naming), { log, naming }).authorize(user('bob', 'dev', 'qa'), asked);
  return messages;
}

test.each<[Target, string]>([
  [target({ verb: 'list', resource: 'pods', namespace: 'a', name: '' }), '"list" resource "pods" in namespace "a"'],
  [
    target({ verb: 'update', group: 'apps', resource: 'deployments', subresource: 'scale', namespace: 'a', name: 'w' }),
    '"update" resource "deployments.apps/scale" named "w" in namespace "a"',
  ],
  [
    target({ verb: 'get', resource: 'nodes', namespace: '', name: 'n' }),
    '"get" resource "nodes" named "n" cluster-wide',
  ],
  [{ is: 'path', verb: 'get', path: '/metrics' }, '"get" nonResourceURL "/metrics" cluster-wide'],
])('a request that no rule allows is logged: %j [A365]', (asked, operation) => {
  expect(logLines(asked)).toEqual([`RBAC: no rules authorize user "bob" with groups ["dev" "qa"] to ${operation}`]);
});
