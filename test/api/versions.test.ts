import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { namingOf } from '../../core/naming.js';
import { groupRows } from '../../core/schema/table/resources.js';
import { Api } from './support.js';

const naming = namingOf('kubernetes');

/** All versions of the table, with their group. */
const VERSIONS = groupRows().flatMap(group => group.versions.map(version => ({ group: group.name, ...version })));
/** All resources of the table, with the stability of their version. */
const RESOURCES = VERSIONS.flatMap(({ group, version, stability, enabled, resources }) =>
  resources.map(resource => ({ name: `${group}/${version} ${resource.plural}`, stability, enabled, ...resource })),
);

const minorOf = (release: string): number => Number(release.split('.')[1]);
/**
 * The number of minor releases for which a beta version may exist before its deprecation, and is supported after it.
 */
const BETA_RELEASES = 3;
/** The first release whose new beta versions are off by default. */
const BETAS_OFF = 22;

describe('the table of versions', () => {
  it('names them by their stability [R367] [R370] [R374]', () => {
    const forms = { alpha: /^v\d+alpha\d+$/, beta: /^v\d+beta\d+$/, ga: /^v\d+$/ };
    for (const { group, version, stability } of VERSIONS)
      expect(version, `${group}/${version}`).toMatch(forms[stability]);
  });

  it('disables alpha versions, and beta versions introduced in release 1.22 or later [R368] [R371] [R372]', () => {
    for (const { name, stability, enabled, introduced = '1.0' } of RESOURCES) {
      if (stability === 'alpha') expect(enabled, name).toBe(false);
      if (stability === 'beta') expect([name, enabled]).toEqual([name, minorOf(introduced) < BETAS_OFF]);
    }
  });

  it('never replaces a version by a less stable one [R382x]', () => {
    const order = ['alpha', 'beta', 'ga'];
    for (const { name, stability, replacement } of RESOURCES) {
      const [group = '', version] = replacement?.split(/[/,]/) ?? [];
      const other = VERSIONS.find(one => one.group === group && one.version === version);
      if (replacement !== undefined && other)
        expect(order.indexOf(other.stability), name).toBeGreaterThanOrEqual(order.indexOf(stability));
    }
  });

  it('removes no stable version, and beta versions not before 3 releases after their deprecation [R383] [R384] [R385]', () => {
    for (const { name, stability, introduced, deprecated, removed } of RESOURCES) {
      if (stability === 'ga') expect([name, removed]).toEqual([name, undefined]);
      if (stability !== 'beta' || introduced === undefined || deprecated === undefined) continue;
      expect(minorOf(deprecated) - minorOf(introduced), name).toBeLessThanOrEqual(BETA_RELEASES);
      if (removed) expect(minorOf(removed) - minorOf(deprecated), name).toBeGreaterThanOrEqual(BETA_RELEASES);
    }
  });
});

/** The rows of the specification about versions that are no longer served. */
const REMOVED = readFileSync('docs/reference/requirements.tsv', 'utf8')
  .split('\n')
  .flatMap(line => {
    const [id = '', , text = ''] = line.split('\t');
    const [, kind, apiVersion] = /^\d+\.\d+: (\w+) (\S+) no longer served/.exec(text) ?? [];
    return kind && apiVersion ? [[id, naming.apiVersion(apiVersion), kind] as const] : [];
  });

interface ResourceList {
  readonly resources?: readonly { readonly name: string; readonly kind: string; readonly namespaced: boolean }[];
}

describe('a version that earlier releases served', () => {
  let api: Api;
  /** The kinds that are served, by group version. */
  const served = new Map<string, NonNullable<ResourceList['resources']>>();
  beforeAll(async () => {
    api = await Api.start();
    const { body } = await api.get('/apis');
    const groups = body['groups'] as unknown as readonly { versions: readonly { groupVersion: string }[] }[];
    for (const { groupVersion } of groups.flatMap(({ versions }) => versions)) {
      const list = (await api.get(`/apis/${groupVersion}`)).body as unknown as ResourceList;
      served.set(groupVersion, list.resources ?? []);
    }
  });
  afterAll(() => api?.close());

  it.each(REMOVED)('is not served, but another version serves its kind: [%s] %s %s', async (_id, apiVersion, kind) => {
    const kinds = (served.get(apiVersion) ?? []).map(resource => resource.kind);
    expect(kinds).not.toContain(kind);
    const elsewhere = [...served].flatMap(([version, list]) =>
      list.flatMap(one => (one.kind === kind && !one.name.includes('/') ? [{ version, ...one }] : [])),
    );
    if (kind === 'PodSecurityPolicy') {
      expect(elsewhere).toEqual([]);
      return;
    }
    const [{ version, name, namespaced } = { version: '', name: '', namespaced: false }] = elsewhere;
    const inNamespace = namespaced ? '/namespaces/default' : '';
    expect((await api.get(`/apis/${apiVersion}${inNamespace}/${name}`)).status).toBe(404);
    expect((await api.post(`/apis/${apiVersion}${inNamespace}/${name}`, { apiVersion, kind })).status).toBe(404);
    // Reviews are only created.
    expect((await api.get(`/apis/${version}${inNamespace}/${name}`)).status).toBe(/Review$/.test(kind) ? 405 : 200);
  });

  it('renamed and defaults the shares of priority levels [R451 R452 R455]', async () => {
    const path = '/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations';
    const level = (name: string, limited: object) => ({
      metadata: { name },
      spec: { type: 'Limited', limited: { limitResponse: { type: 'Reject' }, ...limited } },
    });
    const sharesOf = async (name: string, limited: object): Promise<unknown> => {
      const { status, body } = await api.post(path, level(name, limited));
      expect(status).toBe(201);
      return body['spec']!['limited']!['nominalConcurrencyShares'];
    };
    expect(await sharesOf('unset', {})).toBe(30);
    expect(await sharesOf('none', { nominalConcurrencyShares: 0 })).toBe(0);
    const old = await api.post(`${path}?fieldValidation=Strict`, level('old', { assuredConcurrencyShares: 5 }));
    expect([old.status, old.body['message']]).toEqual([
      400,
      expect.stringContaining('unknown field "spec.limited.assuredConcurrencyShares"'),
    ]);
  });

  it('is reported as deprecated by a warning and a gauge whose labels match those of the request counter [R428] [R430 R431 R432]', async () => {
    const gauge = /^apiserver_requested_deprecated_apis\{(.*)\} 1$/gm;
    const labelsOf = async (): Promise<string[]> =>
      Array.from((await api.get('/metrics')).text.matchAll(gauge), match => match[1]!);
    expect(await labelsOf()).toEqual([]);
    const { headers } = await api.get('/api/v1/componentstatuses');
    expect(headers['warning']).toBe('299 - "v1 ComponentStatus is deprecated in v1.19+"');
    await api.get('/api/v1/componentstatuses');
    const labels = 'group="",version="v1",resource="componentstatuses",subresource=""';
    expect(await labelsOf()).toEqual([`${labels},removed_release=""`]);
    const { text } = await api.get('/metrics');
    const counted = text.split('\n').find(line => /^apiserver_request_total\{.*componentstatuses/.test(line));
    for (const label of labels.split(',')) expect(counted).toContain(label);
  });
});
