import { readFileSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { AuditEvent } from '../../core/api/index.js';
import { authority, type TestAuthority } from '../authn/certificates.js';
import { type Answer, type Call, TestWebhook } from '../authn/testWebhook.js';
import { ConfiguredServer } from '../plugins/support.js';
import { eventually } from '../support/eventually.js';

/* `--audit-webhook-config-file`, with a webhook over TLS that hangs, dies, and comes back. */

const MAPS = '/api/v1/namespaces/default/configmaps';
const policyOf = (level: string): string =>
  `apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: ${level}, users: [kube-admin], resources: [{ resources: [configmaps] }] }]\n`;

let ca: TestAuthority;
let webhook: TestWebhook;
let server: ConfiguredServer;

beforeAll(async () => {
  ca = await authority('audit-ca');
});
async function stop(): Promise<void> {
  webhook.close();
  await server.dispose();
}

/** Starts a server with a webhook that answers as given. */
async function start(settings: object, answer: () => Answer = () => ({})): Promise<void> {
  webhook = await TestWebhook.start(ca);
  webhook.answer = answer;
  server = new ConfiguredServer();
  const pathOf = (name: string, text: string): string => {
    writeFileSync(join(server.directory, name), text);
    return join(server.directory, name);
  };
  const cluster = { server: webhook.url, 'certificate-authority': pathOf('ca.crt', ca.certificate) };
  const kubeconfig = {
    'current-context': 'a',
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
    clusters: [{ name: 'a', cluster }],
    users: [{ name: 'a', user: { token: 'token-of-the-server' } }],
  };
  await server.start({
    auditPolicyFile: pathOf('policy.yaml', policyOf('Metadata')),
    auditWebhookConfigFile: pathOf('webhook.yaml', JSON.stringify(kubeconfig)),
    ...settings,
  });
}

const eventsOf = (calls: readonly Call[]): AuditEvent[] =>
  calls.flatMap(({ text }) => (JSON.parse(text) as { items: AuditEvent[] }).items);
/** Names and stages of the events that the webhook got. */
const got = (): string[] =>
  eventsOf(webhook.calls).map(({ requestURI, stage }) => `${requestURI.split('/').at(-1)} ${stage}`);
const both = (...names: string[]): string[] =>
  names.flatMap(name => [`${name} RequestReceived`, `${name} ResponseComplete`]);
const get = async (...names: string[]): Promise<number[]> => {
  const answers = await Promise.all(names.map(name => server.call('GET', `${MAPS}/${name}`)));
  return answers.map(({ status }) => status);
};
const textOfLog = (): string => readFileSync(join(server.directory, 'audit.log'), 'utf8');
const lost = (plugin: string): Promise<number> => server.counter('apiserver_audit_error_total', { plugin });

describe('the audit webhook', () => {
  afterEach(stop);

  test('gets events in batches, and all of them before the server has ended', async () => {
    await start({ auditWebhookBatchMaxSize: 4 });
    await get('a', 'b', 'c');
    expect(await server.end()).toBe(0);
    expect(got().sort()).toEqual(both('a', 'b', 'c'));
    expect(eventsOf(webhook.calls.slice(0, 1))).toHaveLength(4);
    const [{ text, authorization }] = webhook.calls as [Call];
    expect(authorization).toBe('Bearer token-of-the-server');
    expect(JSON.parse(text)).toMatchObject({ kind: 'EventList', apiVersion: 'audit.k8s.io/v1', metadata: {} });
    expect(Object.keys(eventsOf(webhook.calls)[0]!)).not.toContain('kind');
  });

  test('that hangs delays no request in the mode batch; lost events are counted', async () => {
    await start({ auditWebhookBatchMaxSize: 1, auditWebhookBatchBufferSize: 10 }, () => 'hang');
    const names = Array.from({ length: 40 }, (_, i) => `n${i}`);
    expect(await get(...names)).toEqual(names.map(() => 404));
    // 15 batches at once, according to the default throttle, and 10 that wait.
    expect(
      await eventually(
        () => lost('buffered'),
        count => count > 0,
      ),
    ).toBeGreaterThanOrEqual(80 - 10 - 16);
    expect(await server.counter('apiserver_audit_event_total', {})).toBe(80);
    expect(await server.counter('apiserver_audit_level_total', { level: 'Metadata' })).toBe(40);
  });

  test('that fails, dies and comes back gets the events that it has missed', async () => {
    const settings = { auditWebhookBatchMaxWait: '1ms', auditWebhookInitialBackoff: '50ms' };
    let calls = 0;
    await start(settings, () => (calls++ === 0 ? 500 : {}));
    await get('a');
    await eventually(() => webhook.calls.length >= 2);
    const { port } = webhook.server.address() as AddressInfo;
    webhook.close();
    await get('b');
    webhook = await TestWebhook.start(ca, port);
    expect(await server.end()).toBe(0);
    expect(got()).toEqual(both('b'));
  });

  test('in the mode blocking-strict refuses requests whose event it has not accepted, before they have any effect', async () => {
    let isDown = true;
    const settings = { auditWebhookMode: 'blocking-strict', auditWebhookInitialBackoff: '1ms' };
    const legacy = { auditLogPath: 'audit.log', auditLogFormat: 'legacy' };
    await start({ ...settings, ...legacy }, () => (isDown ? 500 : {}));
    const refused = await server.call('POST', MAPS, { body: { metadata: { name: 'a' } } });
    expect(refused.status).toBe(500);
    expect(refused.text).toBe(`Internal Server Error: "${MAPS}": failed to store audit event\n`);
    expect(await server.counter('apiserver_audit_requests_rejected_total', {})).toBe(1);
    isDown = false;
    webhook.calls.length = 0;
    expect(await get('a')).toEqual([404]);
    expect(got()).toEqual(both('a'));
    expect(textOfLog()).toMatch(/ AUDIT: id=".* uri=".*configmaps\/a" response="404"\n$/);
  });
});

describe('in the mode blocking', () => {
  beforeAll(() =>
    start({ auditWebhookMode: 'blocking', auditWebhookInitialBackoff: '1ms', auditLogPath: 'audit.log' }),
  );
  afterAll(stop);

  test('the webhook gets the events before the client gets its answer', async () => {
    expect(await get('a')).toEqual([404]);
    expect(got()).toEqual(both('a'));
  });

  test('requests are not refused if the webhook fails', async () => {
    webhook.answer = () => 500;
    expect(await get('b')).toEqual([404]);
    expect(await lost('webhook')).toBe(2);
    webhook.answer = () => ({});
  });

  test('a changed policy file takes effect; while the file is invalid, the former policy applies', async () => {
    const reloads = (status: string) => server.counter('apiserver_audit_policy_reloads_total', { status });
    const usePolicy = async (text: string, status: string, times: number): Promise<void> => {
      writeFileSync(join(server.directory, 'policy.yaml'), text);
      await eventually(
        () => reloads(status),
        count => count === times,
      );
    };
    await usePolicy('rules: 1\n', 'failure', 1);
    expect(server.log.map(({ message }) => message).join()).toContain('the former one stays: --audit-policy-file');
    await get('c');
    expect(textOfLog()).toContain('configmaps/c"');
    await usePolicy(policyOf('None'), 'success', 1);
    await get('d');
    expect(textOfLog()).not.toContain('configmaps/d"');
    await usePolicy(policyOf('Metadata'), 'success', 2);
  });

  test('log and webhook have the events of all answered requests after kill -9', async () => {
    const names = Array.from({ length: 50 }, (_, i) => `n${i}`);
    await get(...names);
    server.kill();
    await server.exited();
    const logged = textOfLog()
      .split('\n')
      .slice(0, -1)
      .map(line => (JSON.parse(line) as AuditEvent).requestURI.split('/').at(-1)!)
      .filter(name => /^n\d/.test(name));
    expect(logged.sort()).toEqual(names.flatMap(name => [name, name]).sort());
    expect(got()).toEqual(expect.arrayContaining(both(...names)));
  });
});
