import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api } from './support.js';

describe('metrics', () => {
  let api: Api;
  beforeAll(async () => {
    api = await Api.start();
  });
  afterAll(() => api.close());

  /** The value of the series whose labels include the given ones; undefined if there is none. */
  async function valueFor(
    name: string,
    labels: { readonly [label: string]: string } = {},
  ): Promise<number | undefined> {
    const { text } = await api.get('/metrics');
    for (const line of text.split('\n')) {
      if (!line.startsWith(`${name}{`) && !line.startsWith(`${name} `)) continue;
      if (Object.entries(labels).every(([label, value]) => line.includes(`${label}="${value}"`)))
        return Number(line.split(' ').at(-1));
    }
    return undefined;
  }

  test('are Prometheus text about requests and the process [A406]', async () => {
    const { status, headers, text } = await api.get('/metrics');
    expect([status, headers['content-type']]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
    for (const line of text.split('\n').filter(Boolean))
      expect(line).toMatch(/^(# (HELP|TYPE) \w+ .+|\w+(\{.*\})? (\+Inf|[-+.\de]+))$/);
    for (const name of ['process_cpu_seconds_total', 'process_resident_memory_bytes', 'process_start_time_seconds'])
      expect(await valueFor(name)).toBeGreaterThan(0);
    expect(await valueFor('apiserver_current_inflight_requests', { request_kind: 'readOnly' })).toBe(1);
    expect(await valueFor('apiserver_current_inflight_requests', { request_kind: 'mutating' })).toBe(0);
  });

  test('feature gates are shown with their stage, and whether they are enabled', async () => {
    const value = (name: string, stage: string) => valueFor('kubernetes_feature_enabled', { name, stage });
    expect(await value('APIServerIdentity', 'BETA')).toBe(1);
    expect(await value('ClusterTrustBundle', 'ALPHA')).toBe(0);
    expect(await value('KMSv1', 'DEPRECATED')).toBe(0);
    expect(await value('WatchBookmark', '')).toBe(1);
    expect(await value('AllAlpha', 'ALPHA')).toBe(0);
  });

  test('the utilization of each kind of thread is shown', async () => {
    for (const thread of ['front', 'pool', 'writer', 'control']) {
      expect(await valueFor('capstan_threads', { thread })).toBeGreaterThan(0);
      const busy = await valueFor('capstan_thread_busy_seconds_total', { thread });
      expect(busy).toBeGreaterThan(0);
      if (process.platform !== 'linux') continue;
      // Starting a thread takes much CPU time, and happens before its event loop runs.
      const all = await valueFor('process_cpu_seconds_total');
      expect(await valueFor('capstan_thread_cpu_seconds_total', { thread })).toBeGreaterThan(0);
      expect(await valueFor('capstan_thread_cpu_seconds_total', { thread })).toBeLessThan(all! + 1);
    }
  });

  test('requests are counted by verb, resource, scope and code, and timed', async () => {
    const maps = '/api/v1/namespaces/default/configmaps';
    const labels = { resource: 'configmaps', group: '', version: 'v1', component: 'apiserver' };
    const of = (verb: string, scope: string, code: string) =>
      valueFor('apiserver_request_total', { ...labels, verb, scope, code });
    for (const name of ['a', 'b']) await api.made(maps, { metadata: { name } });
    await api.post(maps, { metadata: { name: 'a' } });
    await api.get(`${maps}/a`);
    await api.get(maps);
    await api.get('/api/v1/configmaps');
    await api.call('DELETE', `${maps}/b`);
    expect(await of('POST', 'namespace', '201')).toBe(2);
    expect(await of('POST', 'namespace', '409')).toBe(1);
    expect(await of('GET', 'resource', '200')).toBe(1);
    expect(await of('LIST', 'namespace', '200')).toBe(1);
    expect(await of('LIST', 'cluster', '200')).toBe(1);
    expect(await of('DELETE', 'resource', '200')).toBe(1);
    const timed = { ...labels, verb: 'POST', scope: 'namespace' };
    expect(await valueFor('apiserver_request_duration_seconds_count', timed)).toBe(3);
    expect(await valueFor('apiserver_request_duration_seconds_bucket', { ...timed, le: '+Inf' })).toBe(3);
    expect(await valueFor('apiserver_request_duration_seconds_sum', timed)).toBeGreaterThan(0);
  });

  test('watches are counted when they begin and while they are open, and not timed', async () => {
    const watch = await api.watch('/api/v1/secrets?watch=1');
    const labels = { resource: 'secrets', verb: 'WATCH', scope: 'cluster' };
    await api.until(async () => (await valueFor('apiserver_request_total', { ...labels, code: '200' })) === 1);
    expect(await valueFor('apiserver_request_duration_seconds_count', labels)).toBeUndefined();
    expect(await valueFor('apiserver_longrunning_requests', { verb: 'WATCH' })).toBe(1);
    watch.close();
    await api.until(async () => (await valueFor('apiserver_longrunning_requests', { verb: 'WATCH' })) === 0);
  });

  test('/metrics/slis has the result of each health check', async () => {
    for (const path of ['/readyz', '/readyz/ping', '/livez/nosuch']) await api.get(path);
    const { status, headers, text } = await api.get('/metrics/slis');
    expect([status, headers['content-type']]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
    expect(text).toContain('kubernetes_healthcheck{name="ping",type="readyz"} 1\n');
    expect(text).toMatch(/^kubernetes_healthchecks_total\{name="ping",status="success",type="readyz"\} [2-9]$/m);
    expect(text).not.toMatch(/nosuch|livez|error/);
  });

  test('label values never come from the request', async () => {
    await api.get('/api/v1/namespaces/default/invented/name');
    await api.get('/nowhere/"injected"\n');
    await api.call('OPTIONS', '/api/v1/invented');
    const { text } = await api.get('/metrics');
    expect(text).not.toMatch(/invented|injected|nowhere/);
    expect(await valueFor('apiserver_request_total', { verb: 'other', resource: '' })).toBeGreaterThan(0);
  });
});
