import { describe, expect, it } from 'vitest';
import { type DocumentAnswer, discoveryDocuments, inKnownGroup } from '../../core/services/discovery/index.js';
import { storageVersionHash } from '../../core/services/discovery/plain.js';
import { Refusal } from '../../core/model/refusal.js';
import { namingOf } from '../../core/naming.js';
import { decodeEnvelope, decodeMessage } from '../../core/schema/protobuf/protobuf.js';
import { findType } from '../../core/schema/table/types.js';
import { fixtureRegistry } from './fixture.js';

const registry = fixtureRegistry();
const set = discoveryDocuments(registry, namingOf('kubernetes'), { serverAddress: () => '10.0.0.1:6443' });
const V2 = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const PB = 'application/vnd.kubernetes.protobuf';
const V2BETA1 = V2.replace('v=v2', 'v=v2beta1');

const get = (path: string, accept?: string, tag?: string, from = set): DocumentAnswer => {
  const answer = from.answer(path, accept, tag);
  if (!answer) throw new Error(`nothing at ${path}`);
  return answer;
};
const body = (answer: DocumentAnswer): never => JSON.parse(Buffer.from(answer.bytes).toString()) as never;
const refusal = (run: () => unknown): Refusal => {
  try {
    run();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('no refusal');
};

describe('the document at /version', () => {
  it('is JSON with any parameters of the media type, and no other media type', () => {
    expect(get('/version', `${V2},text/plain`).contentType).toBe('application/json');
    expect(refusal(() => get('/version', 'application/yaml')).reason).toBe('NotAcceptable');
  });

  it('is always indented, as is the list of paths at the root', () => {
    for (const path of ['/version', '/'])
      expect(set.answer(path, undefined, undefined, false)?.bytes).toEqual(
        Buffer.from(JSON.stringify(body(get(path)), null, 2)),
      );
  });
});

describe('plain discovery', () => {
  it('names the versions of the core group and the address to use [R001]', () => {
    expect(body(get('/api'))).toEqual({
      kind: 'APIVersions',
      versions: ['v1'],
      serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: '10.0.0.1:6443' }],
    });
  });

  it('lists served groups by priority with preferred versions [R001] [R134]', () => {
    const { groups } = body(get('/apis')) as {
      groups: { name: string; preferredVersion: unknown; versions: unknown[] }[];
    };
    expect(groups.map(g => g.name)).toEqual(['apps', 'autoscaling', 'toys.example.com']);
    expect(groups[1]?.preferredVersion).toEqual({ groupVersion: 'autoscaling/v2', version: 'v2' });
    expect(groups[1]?.versions).toHaveLength(2);
  });

  it('answers with and without trailing slashes; the root and the list of groups accept at most one', () => {
    for (const path of ['/api', '/apis/apps', '/apis/apps/v1', '/api/v1', '/version'])
      for (const slashes of ['/', '//']) expect(get(path + slashes).bytes).toEqual(get(path).bytes);
    expect(get('/apis/').bytes).toEqual(get('/apis').bytes);
    for (const path of ['//', '/apis//', '//api', '/api//v1'])
      expect(set.answer(path, undefined, undefined)).toBeUndefined();
  });

  it('lists resources by name with sorted verbs and their subresources', () => {
    const list = body(get('/apis/apps/v1')) as { resources: { name: string; verbs: string[] }[] };
    expect(list.resources.map(r => r.name)).toEqual([
      'controllerrevisions',
      'deployments',
      'deployments/scale',
      'deployments/status',
    ]);
    expect(list.resources[1]).toEqual({
      name: 'deployments',
      singularName: 'deployment',
      namespaced: true,
      kind: 'Deployment',
      verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
      shortNames: ['deploy'],
      categories: ['all'],
      storageVersionHash: '8aSe+NMegvE=',
    });
    expect(list.resources[2]).toMatchObject({ group: 'autoscaling', version: 'v1', kind: 'Scale', singularName: '' });
  });

  it('omits apiVersion in the list of the core group, and has it in others', () => {
    expect(body(get('/api/v1'))).not.toHaveProperty('apiVersion');
    expect(body(get('/apis/apps/v1'))).toHaveProperty('apiVersion', 'v1');
  });

  it('lists verbs and subresources of custom kinds in the order of their servers', () => {
    const { resources } = body(get('/apis/toys.example.com/v1')) as { resources: { name: string; verbs: string[] }[] };
    expect(resources.map(r => r.name)).toEqual(['widgets', 'widgets/status', 'widgets/scale']);
    expect(resources[0]?.verbs).toEqual([
      'delete',
      'deletecollection',
      'get',
      'list',
      'patch',
      'create',
      'update',
      'watch',
    ]);
  });

  it('hashes the stored group, version and kind', () => {
    expect(storageVersionHash('v1', 'Pod')).toBe('xPOwRZ+Yhw8=');
    expect(storageVersionHash('apps/v1', 'Deployment')).toBe('8aSe+NMegvE=');
  });

  it('does not include disabled versions, groups without served versions or unknown paths', () => {
    for (const path of ['/apis/autoscaling/v2beta1', '/apis/off.example.com', '/apis/nosuch', '/nosuch', '/api/v2']) {
      expect(set.answer(path, undefined, undefined)).toBeUndefined();
    }
    expect(inKnownGroup(registry, '/apis/apps/v9')).toBe(true);
    expect(inKnownGroup(registry, '/api/v2')).toBe(true);
    expect(inKnownGroup(registry, '/apis/nosuch/v1')).toBe(false);
  });

  it('lists the paths that are served at the root', () => {
    const { paths } = body(get('/')) as { paths: string[] };
    expect(paths).toEqual([...paths].sort());
    for (const path of ['/api', '/apis/', '/apis/apps/v1', '/openapi/v3', '/livez/ping', '/readyz/shutdown'])
      expect(paths).toContain(path);
    expect(paths).not.toContain('/apis/autoscaling/v2beta1');
  });

  it('lists those paths with any Accept header, also at /index.html', () => {
    for (const path of ['/', '/index.html']) expect(body(get(path, 'text/plain'))).toEqual(body(get('/')));
  });

  it('has the release at /version, only as JSON', () => {
    expect(body(get('/version'))).toMatchObject({
      major: '1',
      minor: '32',
      gitVersion: expect.stringMatching(/^v1\.32\.\d+/),
    });
    expect(refusal(() => set.answer('/version', 'application/yaml', undefined)).code).toBe(406);
  });

  it('is indented for browsers and curl, unless the media type has another setting', () => {
    const lines = (accept: string | undefined, indent?: boolean): number =>
      Buffer.from(set.answer('/apis', accept, undefined, indent)!.bytes)
        .toString()
        .trimEnd()
        .split('\n').length;
    expect([lines(undefined), lines('application/json;pretty=0', true)]).toEqual([1, 1]);
    for (const [accept, indent] of [
      [undefined, true],
      ['application/json;pretty=1', false],
    ] as const)
      expect(lines(accept, indent)).toBeGreaterThan(20);
  });

  it('answers lists in YAML if requested', () => {
    const answer = get('/apis', 'application/yaml');
    expect(answer.contentType).toBe('application/yaml');
    expect(Buffer.from(answer.bytes).toString()).toMatch(/^apiVersion: v1\ngroups:/);
  });
});

describe('error answers', () => {
  it('below /api and at versions of the table are those of a route: GET only, with its own messages', () => {
    for (const path of ['/api', '/api/', '/api/v1', '/apis/apps/v1', '/version']) {
      expect([path, set.isGetOnly(path)]).toEqual([path, true]);
      expect(refusal(() => set.answer(path, 'text/plain', undefined)).message).toMatch(
        /^406: Not Acceptable\n\nAvailable/,
      );
    }
  });

  it('of groups and custom versions are those of a handler: any method, with the messages of resources', () => {
    for (const path of ['/apis', '/apis/', '/apis/apps', '/apis/apps/', '/apis/toys.example.com/v1']) {
      expect([path, set.isGetOnly(path)]).toEqual([path, false]);
      expect(refusal(() => set.answer(path, 'text/plain', undefined)).message).toBe(
        'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf',
      );
    }
    for (const path of ['/', '/nosuch']) expect(set.isGetOnly(path)).toBe(false);
  });
});

describe('discovery in protobuf', () => {
  it.each([
    ['/api', 'APIVersions'],
    ['/apis', 'APIGroupList'],
    ['/apis/apps', 'APIGroup'],
    ['/api/v1', 'APIResourceList'],
    ['/apis/apps/v1', 'APIResourceList'],
  ])('%s is %s in the envelope', (path, kind) => {
    const { contentType, bytes } = get(path, PB);
    expect(contentType).toBe(PB);
    const { apiVersion, kind: named, raw } = decodeEnvelope(bytes);
    expect([apiVersion, named]).toEqual(['v1', kind]);
    const { kind: _, apiVersion: __, ...rest } = body(get(path)) as Record<string, unknown>;
    expect(decodeMessage(findType(`meta.v1.${kind}`)!, raw).value).toMatchObject(rest);
  });
});

describe('aggregated discovery', () => {
  const kindOf = (path: string, accept: string): [string, string | undefined] => {
    const answer = get(path, accept);
    const { kind, apiVersion } = body(answer) as { kind: string; apiVersion?: string };
    return [kind, apiVersion];
  };

  it.each([
    ['application/json', 'APIVersions', undefined],
    ['*/*', 'APIVersions', undefined],
    ['', 'APIVersions', undefined],
    [V2, 'APIGroupDiscoveryList', 'apidiscovery.k8s.io/v2'],
    [`${V2BETA1},${V2}`, 'APIGroupDiscoveryList', 'apidiscovery.k8s.io/v2beta1'],
    [`application/json,${V2}`, 'APIGroupDiscoveryList', 'apidiscovery.k8s.io/v2'],
    [`text/plain,${V2}`, 'APIGroupDiscoveryList', 'apidiscovery.k8s.io/v2'],
    [`${V2.replace('v=v2', 'v=v9')},application/json`, 'APIVersions', undefined],
  ])('Accept %s', (accept, kind, apiVersion) => {
    expect(kindOf('/api', accept)).toEqual([kind, apiVersion]);
  });

  it('is JSON, YAML or protobuf, as the range names it', () => {
    const ranges = [V2, V2.replace('json', 'yaml'), V2.replace('application/json', PB)];
    const answers = ranges.map(range => get('/apis', range));
    expect(answers.map(({ contentType }) => contentType)).toEqual(ranges);
    expect(Buffer.from(answers[1]!.bytes).toString()).toMatch(
      /^apiVersion: apidiscovery.k8s.io\/v2\nitems:\n- metadata:/,
    );
    const { apiVersion, kind, raw } = decodeEnvelope(answers[2]!.bytes);
    expect([apiVersion, kind]).toEqual(['apidiscovery.k8s.io/v2', 'APIGroupDiscoveryList']);
    const { value } = decodeMessage(findType('apidiscovery.v2.APIGroupDiscoveryList')!, raw);
    const names = (list: unknown) =>
      (list as { items: { metadata: { name: string } }[] }).items.map(({ metadata }) => metadata.name);
    expect(names(value)).toEqual(names(body(answers[0]!)));
  });

  it('at /api accepts no wildcard subtype, as the router of upstream', () => {
    const any = V2.replace('json', '*');
    expect(refusal(() => get('/api', any)).message).toMatch(/^406: Not Acceptable/);
    expect(kindOf('/apis', any)[0]).toBe('APIGroupDiscoveryList');
  });

  it('is also served at /api/, but not at /apis/', () => {
    expect(kindOf('/api/', V2)[0]).toBe('APIGroupDiscoveryList');
    expect(kindOf('/apis/', `${V2},application/json`)[0]).toBe('APIGroupList');
    expect(refusal(() => set.answer('/apis/', V2, undefined)).code).toBe(406);
  });

  it('is 406 for an unknown version, and for other media types', () => {
    for (const accept of [V2.replace('v=v2', 'v=v9'), 'text/plain']) {
      expect(refusal(() => set.answer('/apis', accept, undefined)).reason).toBe('NotAcceptable');
    }
  });

  it('accepts both spellings of the group in both namings and answers with the requested one', () => {
    for (const name of ['neutral', 'kubernetes'] as const) {
      const from = discoveryDocuments(registry, namingOf(name));
      for (const accept of [V2, V2.replace('k8s.io', 'orchestrator.io')]) {
        const answer = get('/apis', accept, undefined, from);
        expect(answer.contentType).toBe(accept);
        expect(body(answer)).toHaveProperty('apiVersion', `${namingOf(name).group('apidiscovery.orchestrator.io')}/v2`);
      }
    }
  });

  it('has a tag; the same tag is answered 304 without body, `*` in full', () => {
    const first = get('/api', V2);
    expect(first.headers).toMatchObject({ vary: 'Accept', 'cache-control': 'public' });
    expect(first.etag).toMatch(/^"[0-9A-F]+"$/);
    const again = get('/api', V2, first.etag);
    expect([again.status, again.bytes.length, again.etag]).toEqual([304, 0, first.etag]);
    expect(get('/api', V2, '"other"').status).toBe(200);
    expect(get('/api', V2, '*').status).toBe(200);
    expect(get('/api', 'application/json', first.etag).etag).toBeUndefined();
  });

  it('has every resource with scope, verbs and subresources', () => {
    const { items } = body(get('/apis', V2)) as {
      items: { metadata: { name: string }; versions: { version: string; freshness: string; resources: unknown[] }[] }[];
    };
    expect(items.map(i => i.metadata.name)).toEqual(['apps', 'autoscaling', 'toys.example.com']);
    expect(items[0]?.versions[0]?.freshness).toBe('Current');
    expect(items[0]?.versions[0]?.resources[1]).toMatchObject({
      resource: 'deployments',
      responseKind: { group: '', version: '', kind: 'Deployment' },
      scope: 'Namespaced',
      singularResource: 'deployment',
      subresources: [
        { subresource: 'scale', responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' } },
        { subresource: 'status', responseKind: { group: '', version: '', kind: 'Deployment' } },
      ],
    });
    expect(items[1]?.versions.map(v => v.version)).toEqual(['v2', 'v1']);
  });
});
