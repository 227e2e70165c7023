import { describe, expect, it } from 'vitest';
import { validatePodSpec, validateTemplate } from '../../plugins/kinds/shared/podSpec/validation.js';
import { selectByOwnLabels } from '../../plugins/kinds/shared/podSpec/scheduling.js';
import { setPodSpecDefaults } from '../../plugins/kinds/shared/podSpec/defaults.js';
import { pathWarnings } from '../../plugins/kinds/shared/podSpec/warnings/pathWarnings.js';
import { portWarnings } from '../../plugins/kinds/shared/podSpec/warnings/portWarnings.js';
import { podWarnings } from '../../plugins/kinds/shared/podSpec/warnings/warnings.js';
import { isUnchanged } from '../../plugins/kinds/shared/values/equality.js';
import type { PodSpec, PodTemplateSpec } from '../../kinds/v1.js';
import { namingOf } from '../../core/naming.js';
import { Api } from '../api/support.js';
import { contextWith, create, decodedPart, lines, object } from './helpers.js';

const podSpec = (given: object): PodSpec => decodedPart('core.v1.PodSpec', given);

/** The violations of a pod with these members of its spec, and of its container. */
function violations(spec: object, container: object = {}): string[] {
  const pod = podSpec({ containers: [{ name: 'c', image: 'i', ...container }], ...structuredClone(spec) });
  setPodSpecDefaults(pod);
  return lines(validatePodSpec(pod, 'spec', 'pod'));
}

const projected = (...sources: object[]): object => ({ volumes: [{ name: 'v', projected: { sources } }] });

describe('pod specs', () => {
  it('must have relative and unique paths of files in volumes', () => {
    const items = (...paths: string[]) => paths.map(path => ({ key: 'k', path }));
    expect(violations({ volumes: [{ name: 'v', secret: { secretName: 's', items: items('/a', '..b') } }] })).toEqual([
      'spec.volumes[0].secret.items[0].path: Invalid value: "/a": must be a relative path',
      'spec.volumes[0].secret.items[1].path: Invalid value: "..b": must not start with \'..\'',
    ]);
    expect(violations(projected({ secret: { name: 's', items: items('a', 'a') } }))).toEqual([
      'spec.volumes[0].projected: Invalid value: "s": conflicting duplicate paths',
    ]);
  });

  it('must name a service account if they have files with its token', () => {
    const token = projected({ serviceAccountToken: { path: 't' } });
    expect(violations(token)).toEqual([
      'spec.volumes[0].projected.sources[0].serviceAccountToken: Forbidden: must not be specified when serviceAccountName is not set',
    ]);
    expect(violations({ ...token, serviceAccountName: 'a' })).toEqual([]);
  });

  it('must have whole huge pages, and limits for resources that cannot be overcommitted', () => {
    expect(violations({}, { resources: { limits: { cpu: '1', 'hugepages-2Mi': '3Mi' } } })).toEqual([
      'spec.containers[0].resources.limits[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi',
    ]);
    expect(violations({}, { resources: { requests: { 'example.com/gpu': '1' } } })).toEqual([
      'spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources',
    ]);
  });

  it('may use a host port only once', () => {
    const port = { containerPort: 80, hostPort: 80 };
    expect(violations({}, { ports: [port, { ...port, containerPort: 81 }] })).toEqual([
      'spec.containers[0].ports[1].hostPort: Duplicate value: "TCP//80"',
    ]);
  });

  it('may have only members that their operating system supports', () => {
    expect(violations({ os: { name: 'windows' }, hostPID: true })).toEqual([
      'spec.hostPID: Forbidden: cannot be set for a windows pod',
    ]);
    const securityContext = { runAsUser: 1 };
    const linux = {
      hostPID: true,
      securityContext: { ...securityContext, fsGroup: 1, seLinuxOptions: { level: 'a' } },
    };
    const initContainers = [{ name: 'i', image: 'i', securityContext }];
    const found = violations({ os: { name: 'windows' }, ...linux, initContainers }, { securityContext });
    expect(found.map(line => line.replace(/: Forbidden: cannot be set for a windows pod$/, ''))).toEqual([
      'spec.securityContext.seLinuxOptions',
      'spec.hostPID',
      'spec.securityContext.fsGroup',
      'spec.securityContext.runAsUser',
      'spec.initContainers[0].securityContext.runAsUser',
      'spec.containers[0].securityContext.runAsUser',
    ]);
    expect(violations({ os: { name: 'x' } })).toEqual([
      'spec.os: Unsupported value: "x": supported values: "linux", "windows"',
    ]);
  });

  it('lose image volumes and their mounts, because the feature gate is off', () => {
    const spec = {
      containers: [{ name: 'c', image: 'i', volumeMounts: [{ name: 'v', mountPath: '/v' }] }],
      volumes: [{ name: 'v', image: { reference: 'r' } }],
    };
    const { made, violations: found } = create('core/pods', object('Pod', { spec }));
    const pod = made.spec as PodSpec;
    expect(found).toEqual([]);
    expect(pod).not.toHaveProperty('volumes');
    expect(pod.containers?.[0]).not.toHaveProperty('volumeMounts');
  });
});

describe('affinity to other pods', () => {
  const labels = { app: 'v', tenant: 'w' };
  const term = (matchLabelKeys: string[], mismatchLabelKeys: string[] = [], matchLabels = {}) => ({
    topologyKey: 'zone',
    labelSelector: { matchLabels },
    matchLabelKeys,
    mismatchLabelKeys,
  });
  const preferred = (podAffinityTerm: object) => ({
    podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm }] },
  });
  const required = (one: object) => ({ podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [one] } });
  const made = (affinity: object) => {
    const pod = podSpec({ containers: [{ name: 'c', image: 'i' }], affinity });
    selectByOwnLabels(pod, labels);
    return pod;
  };

  it('selects by those label keys that the pod has', () => {
    const matchExpressions = [
      { key: 'app', operator: 'In', values: ['v'] },
      { key: 'tenant', operator: 'NotIn', values: ['w'] },
    ];
    for (const wrap of [preferred, required]) {
      const { affinity } = made(wrap(term(['app', 'none'], ['tenant'])));
      expect(JSON.stringify(affinity)).toContain(JSON.stringify(matchExpressions));
    }
  });

  it('may select by a key only once', () => {
    const where = 'spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm';
    const pod = made(preferred(term(['app', 'tenant'], [], { tenant: 'x' })));
    setPodSpecDefaults(pod);
    expect(lines(validatePodSpec(pod, 'spec', 'pod'))).toEqual([
      `${where}[1]: Invalid value: "tenant": exists in both matchLabelKeys and labelSelector`,
    ]);
  });
});

/** A template of two containers with AppArmor annotations for some names. */
const template = (annotations: Record<string, string>, spec: object = {}): PodTemplateSpec => ({
  metadata: {
    annotations: Object.fromEntries(
      Object.entries(annotations).map(([name, value]) => [
        `container.apparmor.security.beta.kubernetes.io/${name}`,
        value,
      ]),
    ),
  },
  spec: podSpec({ containers: ['a', 'b'].map(name => ({ name, image: 'i' })), ...spec }),
});

describe('AppArmor annotations of templates', () => {
  const naming = namingOf('kubernetes');
  const where = (name: string): string =>
    `spec.template.annotations[container.apparmor.security.beta.kubernetes.io/${name}]`;
  const found = (given: PodTemplateSpec): string[] => {
    setPodSpecDefaults(given.spec);
    return lines(validateTemplate(given, 'spec.template', naming)).filter(line => /apparmor/i.test(line));
  };

  it('must name existing containers and valid profiles', () => {
    expect(found(template({ a: 'bad', none: 'localhost/x', b: 'unconfined' }))).toEqual([
      `${where('a')}: Invalid value: "bad": invalid AppArmor profile name: "bad"`,
      `${where('none')}: Invalid value: "none": container not found`,
    ]);
  });

  it('must equal the fields, also the field of the pod', () => {
    const spec = { securityContext: { appArmorProfile: { type: 'Unconfined' } } };
    expect(found(template({ a: 'unconfined', b: 'runtime/default' }, spec))).toEqual([
      'spec.template.spec.containers[1].securityContext.appArmorProfile.type: Forbidden: apparmor type in annotation ' +
        'and field must match',
    ]);
  });

  it('cause warnings if no field has a profile, between the warnings about their containers', () => {
    const limits = { resources: { limits: { memory: '100m' } } };
    const given = template({ a: 'unconfined', b: 'unconfined' });
    Object.assign(
      given.spec.containers![0]!,
      podSpec({ containers: [{ name: 'a', image: 'i', ...limits }] }).containers![0],
    );
    const key = (name: string): string => `container.apparmor.security.beta.kubernetes.io/${name}`;
    const warning = (name: string): string =>
      `spec.template.metadata.annotations[${key(name)}]: deprecated since v1.30; use the "appArmorProfile" field instead`;
    expect(podWarnings(given, 'spec.template.spec', naming, contextWith())).toEqual([
      warning('a'),
      expect.stringContaining('fractional byte value'),
      warning('b'),
    ]);
  });
});

describe('warnings', () => {
  it('report files whose paths lead through other files', () => {
    const sources = [{ serviceAccountToken: { path: 't' } }, { configMap: { name: 'm', items: [{ path: 't/x' }] } }];
    expect(pathWarnings(podSpec({ volumes: [{ name: 'v', projected: { sources } }] }), 'spec', contextWith())).toEqual([
      'volume "v" (Projected): overlapping paths: "t/x" (ConfigMap "m") with "t" (ServiceAccountToken)',
    ]);
  });

  it('attribute a source without items to the source before it, unless its list is empty', async () => {
    const api = await Api.shared();
    const path = `${await api.namespace('projected')}/replicationcontrollers?dryRun=All`;
    const warningOf = async (source: object): Promise<string | undefined> => {
      const sources = [{ secret: { name: 's', items: [{ key: 'a', path: 'a' }] } }, { configMap: source }];
      const pod = { containers: [{ name: 'c', image: 'i' }], volumes: [{ name: 'v', projected: { sources } }] };
      const template = { metadata: { labels: { a: 'b' } }, spec: pod };
      const object = { metadata: { name: 'x' }, spec: { selector: { a: 'b' }, template } };
      const { status, headers } = await api.post(path, object);
      expect(status).toBe(201);
      return String(headers['warning'] ?? '');
    };
    expect(await warningOf({ name: 'c' })).toContain('overlapping paths: \\"a\\" (Secret');
    expect(await warningOf({ name: 'c', items: [] })).toBe('');
    await api.close();
  });

  it('report ports that another container has', () => {
    const container = { ports: [{ containerPort: 80, protocol: 'TCP' }] };
    expect(portWarnings(podSpec({ containers: [container, container] }), 'spec')).toEqual([
      'spec.containers[1].ports[0]: duplicate port definition with spec.containers[0].ports[0]',
    ]);
  });
});

it('an empty object is a change where there was none, and an empty map is not', () => {
  expect(isUnchanged({ securityContext: {} }, {})).toBe(false);
  expect(isUnchanged({ nodeSelector: {}, args: [] }, {})).toBe(true);
});
