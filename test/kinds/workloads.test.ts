import { describe, expect, it } from 'vitest';
import type { ApiObject } from '../../core/model/object.js';
import { Refusal } from '../../core/model/refusal.js';
import { create, contextWith, lines, object, strategyOf, update, decoded } from './helpers.js';

const selector = { matchLabels: { run: 'web' } };
const template = (spec = {}) => ({
  metadata: { labels: { run: 'web' } },
  spec: { containers: [{ name: 'web', image: 'registry.example/web:3' }], ...spec },
});
const fields = (found: readonly { field: string }[]): string[] => found.map(({ field }) => field);
const status = (kind: string, now: object, before: object = {}): string[] =>
  lines(
    strategyOf(kind).validateStatus(
      decoded(kind, object('K', { status: now })),
      decoded(kind, object('K', { status: before })),
      contextWith(),
    ),
  );

describe('counts of a status', () => {
  it.each(['apps/deployments', 'apps/replicasets', 'apps/statefulsets', 'core/replicationcontrollers'])(
    '%s: counts are not negative, do not exceed the replicas, and available replicas are ready',
    kind => {
      expect(status(kind, { replicas: 2, readyReplicas: 2, availableReplicas: 2 })).toEqual([]);
      expect(status(kind, { replicas: 1, readyReplicas: 2 })).toEqual([
        'status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas',
      ]);
      expect(status(kind, { replicas: 2, readyReplicas: 1, availableReplicas: 2 })[0]).toMatch(
        /cannot be greater than .*readyReplicas/,
      );
      expect(status(kind, { replicas: 0, observedGeneration: -1 })).toHaveLength(1);
      expect(status(kind, { replicas: 0, collisionCount: 1 }, { collisionCount: 2 })).toEqual([
        'status.collisionCount: Invalid value: 1: cannot be decremented',
      ]);
    },
  );
});

describe('daemon sets', () => {
  const daemons = (spec: object) =>
    object('DaemonSet', { spec: { selector, template: template(), ...spec } }, 'apps/v1');
  it.each([
    [{ maxUnavailable: 1, maxSurge: '5%' }, ['spec.updateStrategy.rollingUpdate.maxSurge']],
    [{ maxUnavailable: '0%', maxSurge: 0 }, ['spec.updateStrategy.rollingUpdate.maxUnavailable']],
    [{ maxUnavailable: 0, maxSurge: 1 }, []],
    [{ maxUnavailable: '101%' }, ['spec.updateStrategy.rollingUpdate.maxUnavailable']],
  ])('a rolling update by %j is refused with %j', (rollingUpdate, wrong) => {
    expect(fields(create('apps/daemonsets', daemons({ updateStrategy: { rollingUpdate } })).violations)).toEqual(wrong);
  });
  it('count the changes of their template, and ignore the value that a client sends', () => {
    const { made } = create('apps/daemonsets', daemons({}));
    const count = (changed: { made: ApiObject }) =>
      changed.made.metadata.annotations?.['deprecated.daemonset.template.generation'];
    expect(count(update('apps/daemonsets', made, draft => void (draft.metadata.annotations = {})))).toBe('1');
    expect(
      count(
        update(
          'apps/daemonsets',
          made,
          draft => void ((draft.spec as { template: object }).template = template({ nodeName: 'n' })),
        ),
      ),
    ).toBe('2');
  });
  it('with the host network get no default host ports', () => {
    const given = template({
      hostNetwork: true,
      containers: [{ name: 'a', image: 'i', ports: [{ containerPort: 1 }] }],
    });
    const { made, violations } = create('apps/daemonsets', daemons({ template: given }));
    expect(violations).toEqual([]);
    expect(JSON.stringify(made.spec)).not.toContain('hostPort');
    expect(JSON.stringify(create('core/pods', object('Pod', { spec: given.spec })).made.spec)).toContain(
      '"hostPort":1',
    );
  });
});

describe('debugging a pod', () => {
  const pod = (ephemeralContainers?: object[]): ApiObject =>
    create(
      'core/pods',
      object('Pod', {
        spec: { ...template().spec, nodeName: 'other', ...(ephemeralContainers ? { ephemeralContainers } : {}) },
      }),
    ).made;
  const debug = strategyOf('core/pods').subresources!.get('ephemeralcontainers')!;
  const tool = { name: 'tool', image: 'registry.example/tool:1' };
  it('adds ephemeral containers and changes nothing else', () => {
    const body = pod([tool]);
    body.metadata.labels = { not: 'taken' };
    const made = debug(body, pod(), contextWith());
    expect(made.metadata.labels).toBeUndefined();
    expect((made.spec as { ephemeralContainers: object[] }).ephemeralContainers).toHaveLength(1);
  });
  it('is refused for a mirror pod', () => {
    const mirror = pod();
    mirror.metadata.annotations = { 'kubernetes.io/config.mirror': 'x' };
    expect(() => debug(pod([tool]), mirror, contextWith())).toThrow(
      'is invalid: []: Forbidden: static pods do not support ephemeral containers',
    );
  });
  it.each([
    [[{ ...tool, image: 'registry.example/tool:2' }], 'may not be changed'],
    [undefined, 'may not be removed'],
    [[tool, { ...tool, name: 'web' }], 'Duplicate value: "web"'],
    [[tool, { ...tool, name: 'b', ports: [{ containerPort: 1 }] }], 'cannot be set for an Ephemeral Container'],
    [[tool, { ...tool, name: 'b', lifecycle: {} }], 'cannot be set for an Ephemeral Container'],
  ])('refuses %j', (containers, why) => {
    const error = (() => {
      try {
        debug(pod(containers), pod([tool]), contextWith());
      } catch (thrown) {
        return thrown;
      }
      return undefined;
    })();
    expect(error).toBeInstanceOf(Refusal);
    expect((error as Refusal).message).toContain(why);
  });
  it('reports the members that an update of the pod must not change', () => {
    const { violations } = update(
      'core/pods',
      pod(),
      draft => void ((draft.spec as { hostNetwork: boolean }).hostNetwork = true),
    );
    expect(lines(violations).join()).toContain('\n+ hostNetwork: true\n');
  });
});

describe('services', () => {
  const service = (spec: object) => object('Service', { spec: { ports: [{ port: 80 }], ...spec } });
  const messagesOf = (spec: object): string[] => {
    try {
      return fields(create('core/services', service(spec)).violations);
    } catch (thrown) {
      return fields(((thrown as Refusal).details?.causes ?? []) as { field: string }[]);
    }
  };
  it.each<[object, string[]]>([
    [{ externalTrafficPolicy: 'Local' }, ['spec.externalTrafficPolicy']],
    [{ loadBalancerSourceRanges: ['10.0.0.0/8'] }, ['spec.LoadBalancerSourceRanges']],
    [
      { type: 'LoadBalancer', loadBalancerSourceRanges: [' 10.0.0.0/8 ', 'fd00::/129'] },
      ['spec.LoadBalancerSourceRanges[1]'],
    ],
    [{ clusterIP: 'None', type: 'NodePort' }, ['spec.clusterIPs[0]']],
    [{ clusterIPs: ['None', '10.0.0.1'], clusterIP: 'None' }, ['spec.clusterIPs']],
    [
      { ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack' },
      ['spec.ipFamilyPolicy', 'spec.ipFamilies[1]'],
    ],
    [{ clusterIP: 'None', ipFamilyPolicy: 'RequireDualStack' }, []],
    [{ ports: [{ port: 80, nodePort: 30000 }] }, ['spec.ports[0].nodePort']],
    [{ type: 'LoadBalancer', ports: [{ port: 10250 }] }, ['spec.ports[0]']],
    [{ externalIPs: ['127.0.0.1', '192.0.2.1'] }, ['spec.externalIPs[0]']],
    [
      { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 0 } } },
      ['spec.sessionAffinityConfig.clientIP.timeoutSeconds'],
    ],
  ])('%j is reported as %j', (spec, wrong) => {
    expect(messagesOf(spec)).toEqual(wrong);
  });
  it('the status of load balancers gets an IP mode for each address', () => {
    const point = (ingress: object, type = 'LoadBalancer') =>
      fields(
        strategyOf('core/services').validateStatus(
          object('Service', { spec: { type }, status: { loadBalancer: { ingress: [ingress] } } }),
          service({}),
          contextWith(),
        ),
      );
    expect(point({ ip: '192.0.2.1', ipMode: 'VIP' })).toEqual([]);
    expect(point({ ip: '192.0.2.1', ipMode: 'VIP' }, 'ClusterIP')).toEqual(['status.loadBalancer.ingress']);
    expect(point({ ip: '192.0.2.1' })).toEqual(['status.loadBalancer.ingress[0].ipMode']);
    expect(point({ hostname: '192.0.2.1' })).toEqual(['status.loadBalancer.ingress[0].hostname']);
  });
  it('the health check port and the class of a load balancer are immutable', () => {
    const { made } = create('core/services', service({ type: 'LoadBalancer', externalTrafficPolicy: 'Local' }));
    const change = (to: object) => update('core/services', made, draft => void Object.assign(draft.spec as object, to));
    expect(() => change({ healthCheckNodePort: 30999 })).toThrow(
      'spec.healthCheckNodePort: Forbidden: field is immutable',
    );
    expect(fields(change({ loadBalancerClass: 'a/b' }).violations)).toEqual(['spec.loadBalancerClass']);
  });
});
