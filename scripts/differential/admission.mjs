/**
 * Policies with bindings and params, webhooks, and conversions by a webhook, generated from a seed: the same
 * are created on several servers. Their answers to matching writes, and their requests to webhooks, are compared.
 */
import { createServer } from 'node:https';
import { APPLY, areAlike, DEFINITIONS, Generator, masked, MERGE, send } from './common.mjs';
import { conversions, convert, convertedDefinition, GROUP } from './conversions.mjs';
import { issue } from '../../dist/core/services/pki/certificate.js';

const ADMISSION = '/apis/admissionregistration.k8s.io';
const DAY = 24 * 3600 * 1000;
/**
 * The number of policies and webhooks that are created at once, and the time until servers apply them, in milliseconds.
 */
const BATCH = 8;
const KNOWN_MS = 6000;
const NAMESPACES = ['default', 'differential-other'];

const CONDITIONS = [
  'object == null || !has(object.data) || object.data.size() < 3',
  "object != null && 'a' in object.data",
  "request.operation != 'DELETE'",
  'params == null || object.data.a == params.data.want',
  "params.data.want == 'x'",
  "namespaceObject.metadata.labels['kubernetes.io/metadata.name'] == 'default'",
  'oldObject == null || object == null || oldObject.data == object.data',
  "authorizer.group('').resource('pods').namespace('default').check('get').allowed()",
  "request.userInfo.username == 'admin' && request.namespace == 'default'",
  'variables.v',
  "object.data.a.matches('^[a-z]+$')",
  "object.metadata.?labels[?'x'].orValue('') == ''",
  "quantity(object.data.a).isGreaterThan(quantity('1'))",
  '1 / int(object.data.n) > 0',
  'has(request.dryRun) && request.dryRun',
  "object.metadata.name.startsWith('o') && object.kind == 'ConfigMap'",
  "dyn(object).data.all(k, k != 'bad')",
  "[object.data.a, 'z'].exists_one(t, t == 'z')",
  "object.data['a'].split(',').size() == 1 && object.metadata.uid != ''",
  'ip(object.data.a).family() == 4',
  "isURL(object.data.a) || url(object.data.a).getHost() == ''",
  "object.data.a.find('[0-9]+') == object.data.a",
  'object.metadata.labels.map(k, k.size()).sum() > 5',
  'size(object.metadata.managedFields) < 3',
  'object.metadata.generation > 0',
  "authorizer.requestResource.check('create').reason() == ''",
  "authorizer.serviceAccount('default', 'none').path('/healthz').check('get').allowed()",
  "has(object.metadata.annotations) && object.metadata.annotations.exists(k, k == 'z')",
  'request.options.?dryRun.hasValue()',
  "request.kind.kind == 'ConfigMap' && request.subResource == '' && request.name != ''",
  'object.data == params.data',
  'format.dns1123Label().validate(object.data.a).hasValue()',
  "sets.contains(['x', 'y'], [object.data.a])",
  "timestamp(object.metadata.creationTimestamp) < timestamp('2020-01-01T00:00:00Z')",
  "duration(object.data.a) > duration('1s')",
  'object.immutable == true',
  "type(object.data) == map && string(object.data.n) != '0'",
];
/** Conditions that never fail. */
const CERTAIN = [CONDITIONS[0], CONDITIONS[2], CONDITIONS[8]];
const MESSAGES = [
  "'no ' + object.metadata.name",
  'params.data.want',
  'string(1/0)',
  "''",
  "'two\\nlines'",
  "'  spaces  '",
];
const MUTATIONS = [
  {
    patchType: 'ApplyConfiguration',
    applyConfiguration: { expression: 'Object{metadata: Object.metadata{labels: {"m": "1"}}}' },
  },
  { patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{data: {"a": "changed"}}' } },
  { patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{data: {"a": params.data.want}}' } },
  {
    patchType: 'JSONPatch',
    jsonPatch: { expression: '[JSONPatch{op: "add", path: "/metadata/labels/m", value: "2"}]' },
  },
  {
    patchType: 'JSONPatch',
    jsonPatch: {
      expression: '[JSONPatch{op: "test", path: "/data/a", value: "x"}, JSONPatch{op: "remove", path: "/data/a"}]',
    },
  },
  { patchType: 'JSONPatch', jsonPatch: { expression: '[JSONPatch{op: "replace", path: "/data/none", value: "2"}]' } },
];

/** Generates policies, webhooks, and writes that match them. */
class AdmissionGenerator extends Generator {
  rules(at) {
    const operations = this.pick([['*'], ['CREATE', 'UPDATE'], ['DELETE'], ['CREATE'], ['UPDATE', 'DELETE']]);
    const resources = this.pick([['configmaps'], ['configmaps'], ['*'], ['*/*']]);
    const names = this.chance(0.15) ? { resourceNames: [`o${at}`] } : {};
    return [{ apiGroups: [''], apiVersions: this.pick([['v1'], ['*']]), operations, resources, ...names }];
  }

  /** Match constraints of a policy or binding: only the objects of its case. */
  constraints(at) {
    const excluded = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['configmaps'] }];
    return {
      resourceRules: this.rules(at),
      objectSelector: { matchLabels: { case: `c${at}` } },
      ...(this.chance(0.1) ? { excludeResourceRules: excluded } : {}),
      ...(this.chance(0.3) ? { matchPolicy: this.pick(['Exact', 'Equivalent']) } : {}),
    };
  }

  conditions(expressions) {
    return this.chance(0.3) ? { matchConditions: [{ name: 'c', expression: this.pick(expressions) }] } : {};
  }

  validation() {
    return {
      expression: this.pick(CONDITIONS),
      ...(this.chance(0.4) ? { messageExpression: this.pick(MESSAGES) } : {}),
      ...(this.chance(0.4) ? { message: 'it is refused' } : {}),
      ...(this.chance(0.4)
        ? { reason: this.pick(['Invalid', 'Forbidden', 'Unauthorized', 'RequestEntityTooLarge']) }
        : {}),
    };
  }

  /**
   * A policy, its binding and its params, each with the path where it is created. `mutates`: true for a mutating
   * policy.
   */
  policy(at, mutates) {
    const [kind, version] = mutates ? ['MutatingAdmissionPolicy', 'v1alpha1'] : ['ValidatingAdmissionPolicy', 'v1'];
    const apiVersion = `admissionregistration.k8s.io/${version}`;
    const name = `policy-${at}`;
    const hasParams = this.chance(0.5);
    const variables = [{ name: 'v', expression: this.pick(["object.data.a == 'x'", 'true', 'has(params.data)']) }];
    const annotations = [{ key: 'k', valueExpression: this.pick(["'v'", 'object.data.a', 'null']) }];
    const rules = mutates
      ? {
          mutations: [this.pick(MUTATIONS), ...(this.chance(0.3) ? [this.pick(MUTATIONS)] : [])],
          reinvocationPolicy: this.pick(['Never', 'IfNeeded']),
        }
      : {
          validations: Array.from({ length: this.pick([1, 1, 2]) }, () => this.validation()),
          ...(this.chance(0.2) ? { auditAnnotations: annotations } : {}),
        };
    const spec = {
      matchConstraints: this.constraints(at),
      variables,
      ...rules,
      // Upstream evaluates match conditions of mutating policies again after a mutation, even if the policy is not
      // called again.
      ...this.conditions(mutates ? CERTAIN : CONDITIONS),
      ...(hasParams ? { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } } : {}),
      failurePolicy: this.pick(['Fail', 'Fail', 'Ignore']),
    };
    const named = this.pick([
      { name: `params-${at}` },
      { name: 'none' },
      { selector: { matchLabels: { params: `p${at}` } } },
    ]);
    const space = this.chance(0.5) ? { namespace: 'default' } : {};
    const paramRef = { ...named, ...space, parameterNotFoundAction: this.pick(['Allow', 'Deny']) };
    const actions = [['Deny'], ['Warn'], ['Audit'], ['Warn', 'Audit'], ['Deny', 'Audit']];
    const selector = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'default' } } };
    const binding = {
      policyName: name,
      ...(hasParams && this.chance(0.95) ? { paramRef } : {}),
      ...(mutates ? {} : { validationActions: this.pick(actions) }),
      ...(this.chance(0.2) ? { matchResources: selector } : {}),
    };
    const path = `${ADMISSION}/${version}/${kind.toLowerCase().slice(0, -1)}ies`;
    const params = NAMESPACES.map((namespace, i) => ({
      path: `/api/v1/namespaces/${namespace}/configmaps`,
      object: { metadata: { name: `params-${at}`, labels: { params: `p${at}` } }, data: { want: ['x', 'y'][i] } },
    }));
    return [
      ...(this.chance(0.85) ? params : []),
      { path, object: { apiVersion, kind, metadata: { name }, spec } },
      {
        path: `${path.slice(0, -3)}ybindings`,
        object: { apiVersion, kind: `${kind}Binding`, metadata: { name: `binding-${at}` }, spec: binding },
      },
    ];
  }

  /** A webhook configuration, and the answers of its webhooks. */
  webhooks(at) {
    const mutates = this.chance(0.6);
    const encode = patch => Buffer.from(JSON.stringify(patch)).toString('base64');
    const answers = [
      { allowed: true },
      { allowed: true, warnings: ['careful', 'x'.repeat(300)], auditAnnotations: { k: 'v' } },
      { allowed: false },
      { allowed: false, status: { message: 'not so', code: this.pick([400, 422, 200, 0]), reason: 'Invalid' } },
      { allowed: false, status: { details: { causes: [{ field: 'a', message: 'b' }] } }, warnings: ['also'] },
      { allowed: true, patchType: 'JSONPatch', patch: encode([{ op: 'add', path: '/data/hooked', value: '1' }]) },
      { allowed: true, patchType: 'JSONPatch', patch: encode([{ op: 'replace', path: '/data/none', value: '1' }]) },
      {
        allowed: true,
        patchType: 'JSONPatch',
        patch: encode([{ op: 'add', path: '/metadata/labels/hooked', value: '1' }]),
      },
      { allowed: true, patch: encode([]) },
    ];
    const webhook = i => ({
      name: `h${i}.c${at}.example.com`,
      rules: this.rules(at),
      ...(this.chance(0.3) ? { matchPolicy: 'Exact' } : {}),
      objectSelector: { matchLabels: { case: `c${at}` } },
      sideEffects: this.pick(['None', 'NoneOnDryRun']),
      admissionReviewVersions: this.pick([['v1'], ['v1beta1', 'v1'], ['v2', 'v1']]),
      failurePolicy: this.pick(['Fail', 'Ignore']),
      ...(mutates && this.chance(0.3) ? { reinvocationPolicy: 'IfNeeded' } : {}),
      ...this.conditions(CONDITIONS.slice(0, 3)),
    });
    // If several webhooks refuse a request, the first answer counts.
    const webhooks = Array.from({ length: mutates ? this.pick([1, 2]) : 1 }, (_, i) => webhook(i));
    const kind = mutates ? 'MutatingWebhookConfiguration' : 'ValidatingWebhookConfiguration';
    return {
      path: `${ADMISSION}/v1/${kind.toLowerCase()}s`,
      object: { apiVersion: 'admissionregistration.k8s.io/v1', kind, metadata: { name: `hooks-${at}` }, webhooks },
      answers: webhooks.map(() => this.pick(mutates ? answers : answers.filter(({ patch }) => patch === undefined))),
    };
  }

  data() {
    return this.pick([{ a: 'x' }, { a: 'y', n: '1' }, { a: '5', n: '0', bad: '1' }, undefined, { b: 'x' }, { a: 'X' }]);
  }

  /** Writes of config maps of a case, in both namespaces. */
  *writes(at) {
    const name = `o${at}`;
    const metadata = { name, labels: { case: `c${at}`, ...(this.chance(0.2) ? { x: 'y' } : {}) } };
    for (const namespace of NAMESPACES) {
      const path = `/api/v1/namespaces/${namespace}/configmaps`;
      const object = () => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: this.data() });
      yield ['POST', `${path}?dryRun=All`, object()];
      yield ['POST', `${path}?fieldManager=one`, object()];
      yield ['PATCH', `${path}/${name}`, { data: { a: this.pick(['x', 'y', null]), c: '1' } }, MERGE];
      yield ['PUT', `${path}/${name}`, object()];
      yield ['PATCH', `${path}/${name}?fieldManager=two&force=true`, object(), APPLY];
      yield ['GET', `${path}/${name}`];
      yield ['DELETE', `${path}/${name}`];
      yield ['DELETE', `${path}?labelSelector=case%3Dc${at}`];
    }
  }
}

/** An HTTPS server with the webhooks, which records the received reviews, by server and case. */
class Hooks {
  /** By the name of a webhook. */
  answers = new Map();
  reviews = new Map();

  async start() {
    const span = { notBefore: Date.now() - DAY, notAfter: Date.now() + DAY };
    const ca = await issue({ subject: { commonName: 'differential' }, ...span, use: 'ca' });
    const own = await issue({ subject: { commonName: 'hook' }, ...span, use: 'server', sans: ['127.0.0.1'] }, ca);
    this.caBundle = Buffer.from(ca.certificate).toString('base64');
    this.server = createServer({ key: own.key, cert: own.certificate }, (incoming, outgoing) => {
      const parts = [];
      incoming.on('data', part => parts.push(part));
      incoming.on('end', () => {
        const review = JSON.parse(Buffer.concat(parts).toString('utf8'));
        const response = { uid: review.request.uid, ...this.answer(incoming.url, review) };
        outgoing.writeHead(200, { 'content-type': 'application/json' });
        outgoing.end(JSON.stringify({ apiVersion: review.apiVersion, kind: review.kind, response }));
      });
    });
    await new Promise(resolve => this.server.listen(0, '127.0.0.1', resolve));
    this.url = `https://127.0.0.1:${this.server.address().port}`;
    return this;
  }

  answer(url, review) {
    const [, server, name] = url.split(/[/?]/);
    if (review.kind === 'ConversionReview') return convert(review.request);
    const key = `${server} ${name}`;
    this.reviews.set(key, [...(this.reviews.get(key) ?? []), masked(review.request)]);
    return this.answers.get(name);
  }

  /** The URL of the webhook with a name, for a server. */
  config(server, name) {
    return { url: `${this.url}/${server}/${name}`, caBundle: this.caBundle };
  }
}

/**
 * Policies that match nothing and are never removed: once the last policy with a kind of params is deleted, upstream
 * never finds params of this kind again.
 */
function keepers(canMutate) {
  const name = 'differential-keeper';
  const resourceRules = [
    { apiGroups: ['none.example.com'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['x'] },
  ];
  const spec = { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' }, matchConstraints: { resourceRules } };
  const paramRef = { name: 'none', parameterNotFoundAction: 'Allow' };
  const of = (kind, version, policy, binding) => {
    const path = `${ADMISSION}/${version}/${kind.toLowerCase().slice(0, -1)}`;
    const common = { apiVersion: `admissionregistration.k8s.io/${version}`, metadata: { name } };
    return [
      { path: `${path}ies`, object: { ...common, kind, spec: { ...spec, ...policy } } },
      {
        path: `${path}ybindings`,
        object: { ...common, kind: `${kind}Binding`, spec: { policyName: name, paramRef, ...binding } },
      },
    ];
  };
  const validations = [{ expression: 'true' }];
  return [
    ...of('ValidatingAdmissionPolicy', 'v1', { validations }, { validationActions: ['Deny'] }),
    ...(canMutate
      ? of('MutatingAdmissionPolicy', 'v1alpha1', { mutations: [MUTATIONS[0]], reinvocationPolicy: 'Never' }, {})
      : []),
  ];
}

const pause = milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds));

/**
 * Creates `count` policies or webhook configurations on all servers and sends writes that match them, then objects of a
 * kind with a conversion webhook. Calls `report` for each request that they answer differently, and for each webhook to
 * which they have sent different reviews. Returns the numbers of requests that were sent, and that were answered alike.
 */
export async function compareAdmission({ servers, token, count, random, report }) {
  const generator = new AdmissionGenerator(random);
  const hooks = await new Hooks().start();
  const result = { sent: 0, alike: 0 };
  const judge = (shown, answers) => {
    result.sent++;
    if (areAlike(answers)) result.alike++;
    else report(shown, answers);
  };
  /** `of`: the purpose of the request. */
  const compare = async ([method, path, body, type], of) => {
    const bodyOf = typeof body === 'function' ? body : () => body;
    const answers = await Promise.all(servers.map((server, i) => send(server, token, method, path, bodyOf(i), type)));
    judge({ method, path, type, body: bodyOf(0), of }, answers);
  };
  const remove = path => Promise.all(servers.map(server => send(server, token, 'DELETE', path)));
  const served = await Promise.all(servers.map(server => send(server, token, 'GET', `${ADMISSION}/v1alpha1`)));
  const canMutate = served.every(({ code }) => code === 200);
  const other = { metadata: { name: NAMESPACES[1] } };
  await Promise.all(servers.map(server => send(server, token, 'POST', '/api/v1/namespaces', other)));
  for (const { path, object } of keepers(canMutate))
    await Promise.all(servers.map(server => send(server, token, 'POST', path, object)));
  for (let from = 0; from < count; from += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, count - from) }, (_, i) => from + i);
    const created = [];
    const made = new Map();
    for (const at of batch) {
      if (generator.chance(0.35)) {
        const { path, object, answers } = generator.webhooks(at);
        for (const [i, { name }] of object.webhooks.entries()) hooks.answers.set(name, answers[i]);
        const webhooks = server =>
          object.webhooks.map(one => ({ ...one, clientConfig: hooks.config(server, one.name) }));
        await compare(['POST', path, server => ({ ...object, webhooks: webhooks(server) })]);
        made.set(at, [{ webhooks: object.webhooks, answers }]);
        created.push(`${path}/${object.metadata.name}`);
        continue;
      }
      const objects = generator.policy(at, canMutate && generator.chance(0.35));
      made.set(
        at,
        objects.map(({ object }) => object),
      );
      for (const { path, object } of objects) {
        await compare(['POST', path, object]);
        created.push(`${path}/${object.metadata.name}`);
      }
    }
    await pause(KNOWN_MS);
    for (const at of batch) for (const write of generator.writes(at)) await compare(write, made.get(at));
    for (const path of created) await remove(path);
  }
  for (const name of hooks.answers.keys()) {
    const reviews = servers.map((_, i) => ({ code: 0, body: hooks.reviews.get(`${i} ${name}`) ?? [] }));
    judge({ method: 'WEBHOOK', path: name, body: hooks.answers.get(name) }, reviews);
  }
  const { name } = convertedDefinition({}).metadata;
  await compare(['POST', DEFINITIONS, server => convertedDefinition(hooks.config(server, 'convert'))]);
  for (const version of ['v1', 'v2'])
    for (const server of servers)
      while ((await send(server, token, 'GET', `/apis/${GROUP}/${version}/gadgets`)).code !== 200) await pause(50);
  for (let at = 0; at < count; at++) for (const request of conversions(generator, at)) await compare(request);
  await remove(`${DEFINITIONS}/${name}`);
  hooks.server.close();
  hooks.server.closeAllConnections();
  return result;
}
