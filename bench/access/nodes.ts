/**
 * Prints the microseconds of decisions about 10,000 nodes with 100,000 pods of 4 KB, the time to process the event of a
 * pod, and the memory per pod: `node --expose-gc dist/bench/access/nodes.js`. In the first decision about a node, its
 * pods are decoded.
 */
import type { ApiObject, Informer, ResourceEvent, ResourceTarget, User } from '../../core/api/index.js';
import { namingOf } from '../../core/naming.js';
import { EntryEvent } from '../../core/plugin/informers/entryEvent.js';
import { Entry } from '../../core/threads/entries/entry.js';
import { NODE_RULES } from '../../plugins/authz/bootstrap/componentRoles.js';
import { nodeAuthorizer } from '../../plugins/authz/node/authorize.js';
import { NodeGraph } from '../../plugins/authz/node/graph.js';
import { compileRules } from '../../plugins/authz/rbac/rules.js';

const NODES = 10_000;
const PODS = 100_000;
const NAMESPACES = 500;
const DECISIONS = 200_000;

const podOf = (i: number): ApiObject =>
  ({
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name: `pod-${i}`, namespace: `ns-${i % NAMESPACES}`, annotations: { filler: 'x'.repeat(4000) } },
    spec: {
      nodeName: `node-${i % NODES}`,
      serviceAccountName: 'default',
      containers: [{ name: 'c', image: 'i', envFrom: [{ secretRef: { name: `env-${i}` } }] }],
      volumes: [
        { name: 'a', secret: { secretName: `secret-${i}` } },
        { name: 'b', persistentVolumeClaim: { claimName: `claim-${i}` } },
        { name: 'c', projected: { sources: [{ configMap: { name: 'root-ca.crt' } }] } },
      ],
    },
  }) as ApiObject;

const none: Informer<never> = { get: () => undefined, list: () => [], revision: 0 };
const listeners = new Map<string, (event: ResourceEvent) => void>();
const host = {
  naming: namingOf('kubernetes'),
  isEnabled: () => true,
  informer: () => none,
  onChange: (name: unknown, listener: (event: ResourceEvent) => void) => void listeners.set(String(name), listener),
};
const authorizer = nodeAuthorizer(new NodeGraph(host), compileRules(NODE_RULES), host);
const take = listeners.get('core/pods')!;

function heap(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}
const events = Array.from({ length: PODS }, (_, i) => {
  const { buffer, byteOffset, length } = Buffer.from(JSON.stringify(podOf(i)));
  return new EntryEvent(
    new Entry(`core/pods/ns-${i % NAMESPACES}/pod-${i}`, 1, { buffer, byteOffset, length }),
    'ADDED',
    1,
  );
});
const before = heap();
const start = performance.now();
for (const event of events) take(event);
const taken = performance.now() - start;
// The events hold their decoded objects; the graph does not.
events.length = 0;
const indexed = heap();

const users: User[] = Array.from({ length: NODES }, (_, i) => ({
  name: `system:node:node-${i}`,
  uid: '',
  groups: ['system:nodes', 'system:authenticated'],
  extra: new Map(),
}));
const targetOf = (resource: string, namespace: string, name: string): ResourceTarget => ({
  is: 'resource',
  verb: 'get',
  group: '',
  version: 'v1',
  resource,
  subresource: '',
  namespace,
  name,
  path: '',
});

/** The mean time of decisions, each for another node. All of them must have the same result. */
function microseconds(count: number, expected: string, targetFor: (i: number) => ResourceTarget): string {
  const targets = Array.from({ length: Math.min(count, PODS) }, (_, i) => targetFor(i));
  const from = performance.now();
  for (let i = 0; i < count; i++) {
    const { is } = authorizer.authorize(users[i % NODES]!, targets[i % targets.length]!);
    if (is !== expected) throw new Error(`${JSON.stringify(targets[i % targets.length])}: ${is}`);
  }
  return `${(((performance.now() - from) * 1000) / count).toFixed(2)} µs`;
}
const secretOf = (i: number) => targetOf('secrets', `ns-${i % NAMESPACES}`, `secret-${i}`);
console.log(`${((taken * 1000) / PODS).toFixed(2)} µs  event of a pod`);
const unknown = targetOf('secrets', 'ns-0', 'unknown');
console.log(`${microseconds(NODES, 'noOpinion', () => unknown)}  first of each node: its 10 pods are decoded`);
console.log(`${microseconds(DECISIONS, 'allow', secretOf)}  allow, secret of a pod`);
console.log(
  `${microseconds(DECISIONS, 'noOpinion', i => secretOf((i + 1) % PODS))}  no opinion, secret of another pod`,
);
console.log(`${microseconds(DECISIONS, 'allow', () => targetOf('services', 'ns-1', 'x'))}  allow, service`);
console.log(
  `${Math.round((indexed - before) / PODS)} bytes of heap per pod, ${Math.round((heap() - before) / PODS)} decoded`,
);
