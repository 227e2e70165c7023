import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { tokenIssuer } from '../../core/api/index.js';
import {
  bootstrapSigner,
  legacyTokenCleaner,
  serviceAccountTokens,
  tokenCleaner,
} from '../../plugins/controllers/index.js';
import { FakeServer } from './fakeHost.js';
import { startControllers } from './settle.js';
import { eventually } from '../support/eventually.js';

let server: FakeServer;
beforeEach(() => {
  server = new FakeServer();
});
afterEach(() => server.close());

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const data = (given: { [key: string]: string }): object => ({
  data: Object.fromEntries(Object.entries(given).map(([key, text]) => [key, base64(text)])),
});
const stored = (key: string) => server.objects.get(key) as { data?: { [key: string]: string } } | undefined;

describe('bootstrap tokens', () => {
  const VALUE = '0123456789abcdef';
  const token = (id: string, more: { [key: string]: string } = {}): void => {
    const type = 'bootstrap.kubernetes.io/token';
    const given = { 'token-id': id, 'token-secret': VALUE, ...more };
    const metadata = { name: `bootstrap-token-${id}`, namespace: 'kube-system' };
    server.create('v1', 'Secret', metadata, { type, ...data(given) });
  };
  const has = (id: string): boolean => server.has('v1', 'secrets', 'kube-system', `bootstrap-token-${id}`);
  const EXPIRED = { expiration: '2020-01-01T00:00:00Z' };

  test('are removed when they expire, others are kept [A022]', async () => {
    token('aaaaaa', EXPIRED);
    token('bbbbbb', { expiration: '2100-01-01T00:00:00Z' });
    token('cccccc');
    await startControllers(server, tokenCleaner, {});
    await eventually(() => !has('aaaaaa'));
    const soon = new Date(server.host.now() + 30).toISOString();
    token('dddddd', { expiration: soon });
    Object.assign(server.host, { now: () => Date.parse(soon) });
    await eventually(() => !has('dddddd'));
    expect([has('bbbbbb'), has('cccccc')]).toEqual([true, true]);
  });

  test('for signing sign with HS256 and the full token, as long as they exist [A030] [A031] [A032] [A023]', async () => {
    const signs = { 'usage-bootstrap-signing': 'true' };
    token('aaaaaa', signs);
    token('bbbbbb');
    token('cccccc', { ...signs, ...EXPIRED });
    const kubeconfig = 'apiVersion: v1\n';
    server.create(
      'v1',
      'ConfigMap',
      { name: 'cluster-info', namespace: 'kube-public' },
      { data: { kubeconfig, 'jws-kubeconfig-gone00': 'x' } },
    );
    await startControllers(server, bootstrapSigner, {});
    const info = () => stored('core/configmaps|kube-public|cluster-info')?.data ?? {};
    await eventually(() => Object.keys(info()).length === 2 && 'jws-kubeconfig-aaaaaa' in info());
    const [head = '', body, signature] = info()['jws-kubeconfig-aaaaaa']!.split('.');
    expect(JSON.parse(Buffer.from(head, 'base64url').toString())).toEqual({ alg: 'HS256', kid: 'aaaaaa' });
    const payload = Buffer.from(kubeconfig).toString('base64url');
    const expected = createHmac('sha256', `aaaaaa.${VALUE}`).update(`${head}.${payload}`).digest('base64url');
    expect([body, signature]).toEqual(['', expected]);
    server.send('DELETE', '/api/v1/namespaces/kube-system/secrets/bootstrap-token-aaaaaa');
    await eventually(() => Object.keys(info()).length === 1);
  });
});

describe('legacy tokens of service accounts', () => {
  const TYPE = 'kubernetes.io/service-account-token';
  const account = (name: string, more: object = {}) =>
    server.create('v1', 'ServiceAccount', { name, namespace: 'n' }, more);
  const secret = (name: string, of: string, more: object = {}): void =>
    void server.create(
      'v1',
      'Secret',
      { name, namespace: 'n', annotations: { 'kubernetes.io/service-account.name': of }, ...more },
      { type: TYPE },
    );
  const has = (name: string): boolean => server.has('v1', 'secrets', 'n', name);

  test('fill their secrets, which are deleted with the account; accounts no longer list a removed secret', async () => {
    const issue = { issueLegacy: async ({ secret: of }: { secret: string }) => `token of ${of}` };
    Object.assign(server.host, { at: (point: unknown) => (point === tokenIssuer ? issue : undefined) });
    const { metadata } = account('robot', { secrets: [{ name: 's' }, { name: 'other' }] });
    secret('s', 'robot');
    secret('lost', 'nobody');
    secret('old', 'robot', {
      annotations: { 'kubernetes.io/service-account.name': 'robot', 'kubernetes.io/service-account.uid': 'gone' },
    });
    await startControllers(server, serviceAccountTokens, { rootCa: 'PEM' });
    await eventually(() => !has('lost') && !has('old'));
    await eventually(() => stored('core/secrets|n|s')?.data !== undefined);
    expect(stored('core/secrets|n|s')).toMatchObject({
      ...data({ 'ca.crt': 'PEM', namespace: 'n', token: 'token of s' }),
      metadata: { annotations: { 'kubernetes.io/service-account.uid': metadata.uid } },
    });
    server.send('DELETE', '/api/v1/namespaces/n/secrets/s');
    const listed = () => JSON.stringify(server.objects.get('core/serviceaccounts|n|robot')?.['secrets']);
    await eventually(() => listed() === '[{"name":"other"}]');
    secret('s2', 'robot');
    await eventually(() => stored('core/secrets|n|s2')?.data !== undefined);
    server.send('DELETE', '/api/v1/namespaces/n/serviceaccounts/robot');
    await eventually(() => !has('s2'));
  });

  test('that are not used for the period are marked as invalid, and removed after another period', async () => {
    const DAY = 86_400_000;
    const now = server.host.now();
    const date = (days: number): string => new Date(now - days * DAY).toISOString().slice(0, 10);
    const since = { data: { since: date(100) } };
    const name = 'kube-apiserver-legacy-service-account-token-tracking';
    server.create('v1', 'ConfigMap', { name, namespace: 'kube-system' }, since);
    const names = ['unused', 'used', 'old', 'mounted', 'ended', 'ending', 'fresh'];
    account('robot', { secrets: names.map(one => ({ name: one })) });
    const creationTimestamp = new Date(now - 50 * DAY).toISOString();
    const made = (of: string, labels: object = {}, more: object = {}): void =>
      secret(of, 'robot', { creationTimestamp, labels, ...more });
    made('unused');
    made('manual');
    made('used', { 'kubernetes.io/legacy-token-last-used': date(5) });
    made('old', { 'kubernetes.io/legacy-token-last-used': date(40) });
    made('mounted');
    made('ended', { 'kubernetes.io/legacy-token-invalid-since': date(31) });
    made('ending', { 'kubernetes.io/legacy-token-invalid-since': date(3) });
    made('fresh', {}, { creationTimestamp: new Date(now - DAY).toISOString() });
    server.create(
      'v1',
      'Pod',
      { name: 'p', namespace: 'n' },
      { spec: { volumes: [{ secret: { secretName: 'mounted' } }] } },
    );
    await startControllers(server, legacyTokenCleaner, { periodMs: 30 * DAY });
    const invalid = (of: string) =>
      server.objects.get(`core/secrets|n|${of}`)?.metadata.labels?.['kubernetes.io/legacy-token-invalid-since'];
    expect(Object.fromEntries([...names, 'manual'].filter(has).map(of => [of, invalid(of)]))).toEqual({
      unused: date(0),
      used: undefined,
      old: date(0),
      mounted: undefined,
      ending: date(3),
      fresh: undefined,
      manual: undefined,
    });
  });
});
