import { setTimeout } from 'node:timers/promises';
import { createServer, type Server } from 'node:https';
import { Agent, request } from 'node:https';
import { Agent as PlainAgent, request as plainRequest } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { issue } from '../../core/services/pki/certificate.js';
import type { Capstan } from '../lib/capstan.js';
import type { Bench, Case, Row } from '../lib/case.js';

/** The number of measured creates of each kind. */
export const CREATES = { short: 200, long: 1000 };
const RULES = 20;
/** The group of the kinds. */
export const GROUP = 'bench.example.com';
const KINDS = ['plain', 'checked', 'hooked'] as const;

const kindOf = (kind: string): string => kind[0]!.toUpperCase() + kind.slice(1);

/** The definition of a kind; that of the checked kind has the rules. */
function definitionOf(kind: string): object {
  const names = Array.from({ length: RULES }, (_, i) => `f${i}`);
  const rules = names.map(name => ({ rule: `self.${name} >= 0 && self.${name} < 1000 && self.name.size() > 0` }));
  const properties = Object.fromEntries(names.map(name => [name, { type: 'integer' }]));
  const spec = {
    type: 'object',
    properties: { ...properties, name: { type: 'string', maxLength: 100 } },
    ...(kind === 'checked' ? { 'x-kubernetes-validations': rules } : {}),
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${kind}s.${GROUP}` },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: { plural: `${kind}s`, kind: kindOf(kind) },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
        },
      ],
    },
  };
}

const objectOf = (kind: string, name: string): object => ({
  apiVersion: `${GROUP}/v1`,
  kind: kindOf(kind),
  metadata: { name },
  spec: { name, ...Object.fromEntries(Array.from({ length: RULES }, (_, i) => [`f${i}`, i])) },
});

/** The creates of a kind, as policies and webhooks select them. */
export const rulesOf = (kind: string): readonly object[] => [
  { apiGroups: [GROUP], apiVersions: ['v1'], operations: ['CREATE'], resources: [`${kind}s`] },
];
/** The path of policies and webhook configurations. */
export const REGISTRATION = '/apis/admissionregistration.k8s.io/v1';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
/** The time limit until a definition is served, and the pause between two polls, in milliseconds. */
const SERVED_MS = 30_000;
const LOOK_MS = 10;

/** Creates the definition of a kind, and waits until it is served. */
export async function define(kind: string, send: Bench['sendAsAdmin']): Promise<void> {
  await send('POST', DEFINITIONS, definitionOf(kind));
  const isServed = async (): Promise<boolean> => {
    const { status } = JSON.parse(await send('GET', `${DEFINITIONS}/${kind}s.${GROUP}`)) as {
      readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
    };
    return status?.conditions?.some(one => one.type === 'Established' && one.status === 'True') ?? false;
  };
  for (const end = Date.now() + SERVED_MS; !(await isServed()); await setTimeout(LOOK_MS))
    if (Date.now() > end) throw new Error(`the definition of ${kind} is not served after ${SERVED_MS} ms`);
}

async function installPolicies({ sendAsAdmin }: Bench): Promise<void> {
  for (const name of ['bench-one', 'bench-two']) {
    const validations = [{ expression: 'object.spec.name != "" && object.spec.f1 >= 0' }];
    await sendAsAdmin('POST', `${REGISTRATION}/validatingadmissionpolicies`, {
      metadata: { name },
      spec: { matchConstraints: { resourceRules: rulesOf('checked') }, validations },
    });
    await sendAsAdmin('POST', `${REGISTRATION}/validatingadmissionpolicybindings`, {
      metadata: { name },
      spec: { policyName: name, validationActions: ['Deny'] },
    });
  }
}

/** A webhook that allows everything at once. */
async function startWebhook({ sendAsAdmin }: Bench): Promise<Server> {
  const span = { notBefore: Date.now() - 3_600_000, notAfter: Date.now() + 24 * 3_600_000 };
  const own = await issue({ subject: { commonName: 'bench' }, ...span, use: 'server', sans: ['127.0.0.1'] });
  const server = createServer({ key: own.key, cert: own.certificate }, (incoming, outgoing) => {
    let text = '';
    incoming.on('data', chunk => (text += chunk));
    incoming.on('end', () => {
      const review = JSON.parse(text) as { apiVersion: string; kind: string; request: { uid: string } };
      const { apiVersion, kind } = review;
      outgoing.end(JSON.stringify({ apiVersion, kind, response: { uid: review.request.uid, allowed: true } }));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  await sendAsAdmin('POST', `${REGISTRATION}/validatingwebhookconfigurations`, {
    metadata: { name: `bench-${Date.now()}` },
    webhooks: [
      {
        name: 'bench.example.com',
        clientConfig: { url, caBundle: Buffer.from(own.certificate).toString('base64') },
        rules: rulesOf('hooked'),
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        failurePolicy: 'Ignore',
      },
    ],
  });
  return server;
}

/**
 * Sends dry-run creates of the kinds in turn over one connection. Returns the tenth percentile of each, in
 * milliseconds.
 */
export async function measure<Kind extends string>(
  kinds: readonly Kind[],
  server: Capstan,
  tls: boolean,
  creates: number,
): Promise<ReadonlyMap<Kind, number>> {
  const agent = tls
    ? new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false })
    : new PlainAgent({ keepAlive: true, maxSockets: 1 });
  const times = new Map<Kind, number[]>(kinds.map(kind => [kind, []]));
  const create = async (kind: Kind, name: string): Promise<number> => {
    const began = performance.now();
    const sent = (tls ? request : plainRequest)({
      host: server.host,
      port: server.port,
      method: 'POST',
      path: `/apis/${GROUP}/v1/namespaces/default/${kind}s?dryRun=All`,
      agent,
      headers: { authorization: `Bearer ${server.adminToken}`, 'content-type': 'application/json' },
    });
    sent.end(JSON.stringify(objectOf(kind, name)));
    const [answer] = await once(sent, 'response');
    answer.resume();
    await once(answer, 'end');
    if (answer.statusCode !== 201)
      throw new Error(`the create of a ${kind} object was answered with ${answer.statusCode}`);
    return performance.now() - began;
  };
  for (let i = 0; i < creates; i++)
    for (const kind of kinds) {
      const time = await create(kind, `o${i}`);
      if (i >= creates / 10) times.get(kind)!.push(time);
    }
  agent.destroy();
  return new Map(
    [...times].map(([kind, all]) => [kind, all.sort((a, b) => a - b)[Math.floor(all.length / 10)]!] as const),
  );
}

const admission: Case = {
  name: 'admission',
  async run(bench): Promise<Row[]> {
    const server = await bench.server();
    for (const kind of KINDS) await define(kind, bench.sendAsAdmin);
    await installPolicies(bench);
    const webhook = await startWebhook(bench);
    try {
      const times = await measure(KINDS, server, bench.tls, bench.short ? CREATES.short : CREATES.long);
      const [plain, checked, hooked] = KINDS.map(kind => times.get(kind)!) as [number, number, number];
      const note = 'tenth percentile of dry runs over one connection';
      return [
        {
          case: `create, ${RULES} rules and two policies`,
          unit: 'ms',
          value: checked,
          baseline: plain,
          aim: 2,
          atMost: true,
          note,
        },
        {
          case: 'create, through a local webhook: added',
          unit: 'ms',
          value: hooked - plain,
          baseline: 1,
          aim: 1,
          atMost: true,
          note,
        },
      ];
    } finally {
      webhook.closeAllConnections();
      webhook.close();
    }
  },
};

/** Costs of rules, policies and webhooks in creates of custom objects. */
export const admissions: readonly Case[] = [admission];
