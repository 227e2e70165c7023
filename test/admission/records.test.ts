import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Api, type Loose } from '../api/support.js';
import { Hooks, install } from './hooks.js';
import { MERGE } from '../support/mediaTypes.js';

/* The records of webhooks and policies in audit events and metrics, through a running server. */

const GROUP = '/apis/admissionregistration.k8s.io/v1';
const MAPS = '/api/v1/namespaces/default/configmaps';

let api: Api;
let hooks: Hooks;
const directory = mkdtempSync(join(tmpdir(), 'capstan-records-'));
beforeAll(async () => {
  writeFileSync(
    join(directory, 'policy.yaml'),
    'apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\n' +
      "rules: [{ level: Request, verbs: [create], resources: [{ group: '', resources: [configmaps] }] }, " +
      "{ level: Metadata, resources: [{ group: '', resources: [configmaps] }] }]\n",
  );
  hooks = await Hooks.start();
  api = await Api.start({
    auditLogPath: join(directory, 'audit.log'),
    auditPolicyFile: join(directory, 'policy.yaml'),
  });
});
afterAll(async () => {
  await api.close();
  await hooks.close();
  rmSync(directory, { recursive: true });
});

/** The audit event of the request with this address, once it is written. */
async function eventOf(uri: string): Promise<Loose> {
  let found: Loose | undefined;
  await api.until(async () => {
    const lines = readFileSync(join(directory, 'audit.log'), 'utf8').split('\n').filter(Boolean);
    found = lines.map(line => JSON.parse(line) as Loose).find(event => String(event['requestURI']) === uri);
    return found !== undefined;
  });
  return found!;
}

/** Creates a config map and returns the annotations of its audit event, except those of authorization and slowness. */
async function annotationsOf(name: string, labels: object): Promise<Readonly<Record<string, string>>> {
  const uri = `${MAPS}?fieldManager=${name}`;
  await api.post(uri, { metadata: { name, labels } });
  const all = (await eventOf(uri))['annotations'] as unknown as Record<string, string>;
  return Object.fromEntries(Object.entries(all).filter(([key]) => !/^authorization\.|latency/.test(key)));
}

/** The lines of the metrics that have all of these texts, once there are any. */
async function metrics(...texts: readonly string[]): Promise<readonly string[]> {
  let lines: readonly string[] = [];
  await api.until(async () => {
    const { text } = await api.get('/metrics');
    lines = text.split('\n').filter(line => texts.every(one => line.includes(one)));
    return lines.length > 0;
  });
  return lines;
}

async function makePolicy(name: string, spec: object, actions: readonly string[]): Promise<void> {
  await api.made(`${GROUP}/validatingadmissionpolicies`, {
    metadata: { name },
    spec: {
      matchConstraints: {
        resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
        objectSelector: { matchLabels: { policy: name } },
      },
      ...spec,
    },
  });
  await api.made(`${GROUP}/validatingadmissionpolicybindings`, {
    metadata: { name: `${name}-binding` },
    spec: { policyName: name, validationActions: actions },
  });
}

test('annotations of webhooks are prefixed with their names; mutating ones record whether they changed the object', async () => {
  hooks.on('/notes', () => ({ auditAnnotations: { seen: 'yes', 'not a name': 'no' } }));
  await install(api, 'Validating', 'notes', hooks.webhook('/notes'));
  await install(api, 'Mutating', 'changes', hooks.webhook('/notes', { name: 'changes.example.com' }));
  expect(await annotationsOf('noted', { hook: 'notes' })).toEqual({
    'notes.example.com/seen': 'yes',
    'changes.example.com/seen': 'yes',
    'mutation.webhook.admission.k8s.io/round_0_index_0':
      '{"configuration":"changes","webhook":"changes.example.com","mutated":false}',
  });
});

test('a request that a mutating webhook refuses is recorded as allowed by authorization, and not changed', async () => {
  hooks.on('/forbids', () => ({ allowed: false, status: { code: 403 } }));
  await install(api, 'Mutating', 'forbids', hooks.webhook('/forbids'));
  const uri = `${MAPS}?fieldManager=forbidden`;
  expect((await api.post(uri, { metadata: { name: 'forbidden', labels: { hook: 'forbids' } } })).status).toBe(403);
  const annotations = (await eventOf(uri))['annotations'] as unknown as Record<string, string>;
  expect(annotations['authorization.k8s.io/decision']).toBe('allow');
  const [, mutation] = Object.entries(annotations).find(([key]) => key.startsWith('mutation.'))!;
  expect(JSON.parse(mutation)).toEqual({ configuration: 'forbids', webhook: 'forbids.example.com', mutated: false });
});

test('patches of webhooks are recorded where the policy asks for bodies', async () => {
  const operations = [{ op: 'add', path: '/data', value: { by: 'webhook' } }];
  const patch = Buffer.from(JSON.stringify(operations)).toString('base64');
  hooks.on('/patches', () => ({ patchType: 'JSONPatch', patch }));
  await install(api, 'Mutating', 'patches', hooks.webhook('/patches'));
  const found = await annotationsOf('patched', { hook: 'patches' });
  const index = Object.keys(found)
    .find(key => key.startsWith('mutation.'))!
    .slice(-1);
  expect(JSON.parse(found[`patch.webhook.admission.k8s.io/round_0_index_${index}`]!)).toEqual({
    configuration: 'patches',
    webhook: 'patches.example.com',
    patch: operations,
    patchType: 'JSONPatch',
  });
  const uri = `${MAPS}/patched?fieldManager=again`;
  await api.patch(uri, MERGE, { data: null });
  const event = await eventOf(uri);
  expect(Object.keys(event['annotations']!).filter(key => key.includes('webhook.admission'))).toEqual([
    `mutation.webhook.admission.k8s.io/round_0_index_${index}`,
  ]);
});

test('an event of a refused create names the object, and has the Status of the answer', async () => {
  const uri = `${MAPS}?fieldManager=names`;
  await api.post(uri, { metadata: { name: 'Bad Name' }, data: { key: 'value' } });
  expect(await eventOf(uri)).toMatchObject({
    objectRef: { name: 'Bad Name' },
    responseStatus: {
      status: 'Failure',
      message: expect.stringMatching(/^ConfigMap "Bad Name" is invalid: metadata.name: /) as string,
      reason: 'Invalid',
      details: { name: 'Bad Name', kind: 'ConfigMap' },
      code: 422,
    },
  });
  await api.get(`${MAPS}/none`);
  expect((await eventOf(`${MAPS}/none`))['responseStatus']).toEqual({
    metadata: {},
    status: 'Failure',
    message: 'configmaps "none" not found',
    reason: 'NotFound',
    details: { name: 'none', kind: 'configmaps' },
    code: 404,
  });
});

test('a failure that is ignored is recorded in the audit event and counted', async () => {
  hooks.on('/breaks', () => ({ code: 500, raw: 'boom' }));
  await install(api, 'Validating', 'breaks', hooks.webhook('/breaks', { failurePolicy: 'Ignore' }));
  const annotations = await annotationsOf('broken', { hook: 'breaks' });
  const [[key, value]] = Object.entries(annotations) as [[string, string]];
  expect(key).toMatch(/^failed-open\.validating\.webhook\.admission\.k8s\.io\/round_0_index_\d+$/);
  expect(value).toBe('breaks.example.com');
  expect(await metrics('apiserver_admission_webhook_fail_open_count{', 'breaks.example.com')).toEqual([
    'apiserver_admission_webhook_fail_open_count{name="breaks.example.com",type="validating"} 1',
  ]);
});

test('calls of a webhook are counted with their codes and durations, refusals with their reasons', async () => {
  hooks.on('/refuses', () => ({ allowed: false, status: { code: 418 } }));
  await install(api, 'Validating', 'refuses', hooks.webhook('/refuses'));
  await annotationsOf('refused', { hook: 'refuses' });
  const [total] = await metrics('apiserver_admission_webhook_request_total{', 'refuses.example.com');
  expect(total).toBe(
    'apiserver_admission_webhook_request_total{name="refuses.example.com",type="validating",operation="CREATE",' +
      'rejected="true",code="418"} 1',
  );
  const [rejection] = await metrics('apiserver_admission_webhook_rejection_count{', 'refuses.example.com');
  expect(rejection).toContain('error_type="no_error",rejection_code="418"');
  const [count] = await metrics('webhook_admission_duration_seconds_count{', 'refuses.example.com');
  expect(count).toMatch(/rejected="true"\} 1$/);
});

test('annotations of a policy are prefixed with its name; null values add none', async () => {
  const auditAnnotations = [
    { key: 'size', valueExpression: "string(size(object.metadata.name)) + ' characters'" },
    { key: 'none', valueExpression: 'null' },
  ];
  await makePolicy('measures', { auditAnnotations }, ['Deny']);
  expect(await annotationsOf('four', { policy: 'measures' })).toEqual({ 'measures/size': '4 characters' });
});

test('annotations of a policy are in the event of a create whose name exists', async () => {
  await makePolicy('repeats', { auditAnnotations: [{ key: 'seen', valueExpression: "'yes'" }] }, ['Deny']);
  const object = { metadata: { name: 'taken', labels: { policy: 'repeats' } } };
  expect((await api.post(MAPS, object)).status).toBe(201);
  expect(await annotationsOf('taken', { policy: 'repeats' })).toEqual({ 'repeats/seen': 'yes' });
});

test('the action Audit records the failure and lets the request pass', async () => {
  const validations = [{ expression: 'true' }, { expression: 'false', message: 'never' }];
  await makePolicy('audits', { validations, matchConditions: [{ name: 'all', expression: 'true' }] }, ['Audit']);
  const annotations = await annotationsOf('audited', { policy: 'audits' });
  expect(JSON.parse(annotations['validation.policy.admission.k8s.io/validation_failure']!)).toEqual([
    { message: 'never', policy: 'audits', binding: 'audits-binding', expressionIndex: 1, validationActions: ['Audit'] },
  ]);
  expect((await api.get(`${MAPS}/audited`)).status).toBe(200);
  expect(await metrics('apiserver_validating_admission_policy_check_total{', '"audits"')).toEqual([
    'apiserver_validating_admission_policy_check_total{policy="audits",policy_binding="audits-binding",' +
      'error_type="invalid_error",enforcement_action="audit"} 1',
  ]);
  const [seconds] = await metrics('match_condition_evaluation_seconds_count{', '"audits"');
  expect(seconds).toMatch(/kind="policy",type="validate",operation="CREATE"\} 1$/);
});
