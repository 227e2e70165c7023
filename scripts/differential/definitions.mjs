/**
 * Definitions of custom kinds with the extensions of structural schemas, objects of them, policies and webhook
 * configurations, generated from a seed: the same are sent to several servers, and their answers and stored objects are
 * compared.
 */
import { APPLY, areAlike, DEFINITIONS, Generator, MERGE, send } from './common.mjs';

const GROUP = 'generated.example.com';
const ADMISSION = '/apis/admissionregistration.k8s.io/v1';

const FORMATS = ['date', 'date-time', 'duration', 'byte', 'cidr', 'ipv4', 'ipv6', 'uuid', 'uri', 'email', 'hostname'];
/** Texts, some of which are valid for each format. */
const TEXTS = [
  ...['', 'x', 'a b', 'é', '2030-01-02', '2030-01-02T03:04:05Z', '5s', 'aGk=', '10.0.0.0/8', '1.2.3.4', '::1'],
  ...['11111111-2222-4333-8444-555555555555', 'https://a.example/b', 'a@b.example', 'a.example', 'y'.repeat(70), '5'],
];
const NUMBERS = [0, 1, -1, 3, 7, 1.5, 100, 2147483648];
const RULES = [
  'self.all(k, k.size() < 20)',
  'has(self.a) || !has(self.b)',
  'self.size() < 4',
  'self == oldSelf',
  'self.size() >= oldSelf.size()',
];

/** Generates definitions, their objects, and the policies and webhooks for them. */
class DefinitionGenerator extends Generator {
  /** The schema of a scalar. */
  scalar() {
    const type = this.pick(['string', 'string', 'integer', 'number', 'boolean', 'format', 'intOrString']);
    if (type === 'intOrString') return { 'x-kubernetes-int-or-string': true };
    if (type === 'format') return { type: 'string', format: this.pick(FORMATS) };
    const limits = {
      string: [{}, { maxLength: 5 }, { minLength: 1 }, { enum: ['x', '5', 'a b'] }, { pattern: '^[a-z0-9.]*$' }],
      integer: [{}, { minimum: 0 }, { maximum: 5, exclusiveMaximum: true }, { format: 'int32' }, { multipleOf: 2 }],
      number: [{}, { minimum: 0.5 }],
      boolean: [{}],
    };
    return { type, ...this.pick(limits[type]), ...(this.chance(0.15) ? { nullable: true } : {}) };
  }

  list(depth) {
    const kind = this.pick(['plain', 'atomic', 'set', 'map']);
    const most = this.chance(0.2) ? { maxItems: 2 } : {};
    if (kind === 'set') return { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' }, ...most };
    if (kind !== 'map') {
      const marker = kind === 'atomic' ? { 'x-kubernetes-list-type': 'atomic' } : {};
      return { type: 'array', ...marker, items: this.schema(depth + 1), ...most };
    }
    const value = this.schema(depth + 1);
    const key = this.pick([{ type: 'string' }, { type: 'string', default: 'x' }]);
    return {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
      items: { type: 'object', properties: { k: key, v: value }, ...(key.default ? {} : { required: ['k'] }) },
      ...most,
    };
  }

  object(depth) {
    const kind = this.pick(['struct', 'struct', 'struct', 'map', 'free', 'embedded', 'bare']);
    if (kind === 'map') {
      const mapType = this.pick([{}, {}, { 'x-kubernetes-map-type': 'atomic' }]);
      return { type: 'object', additionalProperties: this.scalar(), ...mapType };
    }
    if (kind === 'free') return { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    if (kind === 'bare') return { type: 'object' };
    const properties = Object.fromEntries(
      ['a', 'b', 'c'].filter(() => this.chance(0.7)).map(name => [name, this.schema(depth + 1)]),
    );
    const names = Object.keys(properties);
    return {
      type: 'object',
      properties,
      ...(kind === 'embedded' ? { 'x-kubernetes-embedded-resource': true } : {}),
      ...(kind === 'embedded' && this.chance(0.5) ? { 'x-kubernetes-preserve-unknown-fields': true } : {}),
      ...(names.length > 0 && this.chance(0.2) ? { required: [this.pick(names)] } : {}),
      ...(this.chance(0.15) ? { 'x-kubernetes-validations': [this.rule()] } : {}),
      ...(names.length > 0 && this.chance(0.1)
        ? { anyOf: [{ required: [this.pick(names)] }, { maxProperties: 1 }] }
        : {}),
    };
  }

  rule() {
    return {
      rule: this.pick(RULES),
      ...(this.chance(0.4) ? { message: 'is refused' } : {}),
      ...(this.chance(0.2) ? { reason: this.pick(['FieldValueForbidden', 'FieldValueInvalid']) } : {}),
      ...(this.chance(0.2) ? { optionalOldSelf: true } : {}),
    };
  }

  /** A schema, sometimes with a default. */
  schema(depth) {
    const kind = depth > 3 ? 'scalar' : this.pick(['scalar', 'scalar', 'list', 'object']);
    const schema = kind === 'scalar' ? this.scalar() : kind === 'list' ? this.list(depth) : this.object(depth);
    return this.chance(0.2) ? { ...schema, default: this.value(schema, 0.9) } : schema;
  }

  /** A value for a schema, which is valid in a part of the cases. */
  value(schema, fits) {
    if (!this.chance(fits)) return this.pick([null, 'x', 5, true, [], {}, ['x'], { x: 1 }, 1.5, '']);
    if (schema['x-kubernetes-int-or-string']) return this.pick([1, 'x', '5']);
    if (schema.enum) return this.pick(schema.enum);
    switch (schema.type) {
      case 'string':
        return this.pick(TEXTS);
      case 'integer':
        return this.pick(NUMBERS.filter(Number.isInteger));
      case 'number':
        return this.pick(NUMBERS);
      case 'boolean':
        return this.chance(0.5);
      case 'array':
        return Array.from({ length: this.pick([0, 1, 1, 2, 3]) }, () => this.value(schema.items, fits));
      default:
        return this.members(schema, fits);
    }
  }

  members(schema, fits) {
    const out = {};
    if (schema['x-kubernetes-embedded-resource'] && this.chance(0.9)) {
      const metadata = this.pick([{}, { name: 'n' }, { name: 'A b' }, { labels: { a: 'b' }, nobody: 1 }]);
      Object.assign(out, { apiVersion: this.pick(['v1', 'a/b', 'x/y/z']), kind: 'Pod', metadata });
    }
    for (const [name, property] of Object.entries(schema.properties ?? {}))
      if (this.chance(schema.required?.includes(name) ? 0.9 : 0.6)) out[name] = this.value(property, fits);
    if (typeof schema.additionalProperties === 'object')
      for (const name of ['x', 'y z']) if (this.chance(0.5)) out[name] = this.value(schema.additionalProperties, fits);
    if (this.chance(0.1)) out.unknown = this.pick(['x', { y: 1 }]);
    return out;
  }

  version(name, isStored) {
    const spec = { ...this.object(0), type: 'object' };
    const status = { type: 'object', properties: { count: { type: 'integer' }, text: { type: 'string' } } };
    spec.properties = { replicas: { type: 'integer' }, chosen: { type: 'string' }, ...spec.properties };
    const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.count' };
    const columns = [
      { name: 'Chosen', type: 'string', jsonPath: '.spec.chosen' },
      { name: 'Any', type: this.pick(['string', 'integer', 'date']), jsonPath: this.pick(['.spec.a', '.spec.b[*].k']) },
    ];
    return {
      name,
      served: true,
      storage: isStored,
      schema: { openAPIV3Schema: { type: 'object', properties: { spec, status } } },
      ...(this.chance(0.7) ? { subresources: { status: {}, ...(this.chance(0.5) ? { scale } : {}) } } : {}),
      ...(this.chance(0.5) ? { additionalPrinterColumns: columns } : {}),
      ...(this.chance(0.4) ? { selectableFields: [{ jsonPath: this.pick(['.spec.chosen', '.spec.a']) }] } : {}),
    };
  }

  definition(at) {
    const versions = this.chance(0.3) ? ['v1', 'v2beta1'] : ['v1'];
    const plural = `kinds${at}`;
    return {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.${GROUP}` },
      spec: {
        group: GROUP,
        scope: this.pick(['Namespaced', 'Namespaced', 'Cluster']),
        names: { plural, kind: `Kind${at}` },
        versions: versions.map((name, i) => this.version(name, i === 0)),
        ...(this.chance(0.1) ? { preserveUnknownFields: this.chance(0.5) } : {}),
      },
    };
  }

  resourceRule() {
    const resources = this.pick([['*'], ['kinds1'], ['*/*'], ['pods/status', 'kinds1/scale'], ['kinds1', '*'], []]);
    const operations = this.pick([['*'], ['CREATE', 'UPDATE'], ['DELETE'], ['*', 'CREATE'], ['READ']]);
    return { apiGroups: this.pick([[GROUP], ['*'], ['']]), apiVersions: ['*'], operations, resources };
  }

  policy(at) {
    const expression = () =>
      this.pick([
        'object.spec.replicas < 5',
        "object.?spec.chosen.orValue('') != 'x'",
        '!has(object.spec.a) || type(object.spec.a) != string',
        'variables.v > 1',
        "request.operation == 'CREATE' || object.metadata.name == oldObject.metadata.name",
        'params.spec.x == 1',
        'object.spec.',
        '1 + 1',
      ]);
    return {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name: `policy-${at}` },
      spec: {
        ...(this.chance(0.2) ? { paramKind: { apiVersion: this.pick(['v1', 'a/b/c']), kind: 'ConfigMap' } } : {}),
        matchConstraints: { resourceRules: [this.resourceRule()] },
        variables: this.pick([[], [{ name: 'v', expression: this.pick(['2', 'object.spec.replicas', 'x']) }]]),
        validations: Array.from({ length: this.pick([0, 1, 2]) }, () => ({
          expression: expression(),
          ...(this.chance(0.3) ? { messageExpression: this.pick(["'no ' + string(1)", '1', 'x']) } : {}),
          ...(this.chance(0.3) ? { reason: this.pick(['Invalid', 'Forbidden', 'Nope']) } : {}),
        })),
        ...(this.chance(0.3) ? { auditAnnotations: [{ key: this.pick(['k', 'K k']), valueExpression: "'v'" }] } : {}),
        ...(this.chance(0.3) ? { matchConditions: [{ name: this.pick(['c', 'C c']), expression: expression() }] } : {}),
      },
    };
  }

  webhooks(at) {
    const url = this.pick(['https://127.0.0.1:1/x', 'http://a.example', 'https://a.example/x?y#z', 'https://u@a/']);
    const service = { namespace: 'n', name: 's', path: this.pick(['/x', 'x', '/a//b']), port: this.pick([443, 0]) };
    const clientConfig = this.pick([{ url }, { service }, { url, service }, {}]);
    const webhook = () => ({
      name: this.pick(['a.b.c', 'x', 'a.b.d']),
      clientConfig,
      rules: [this.resourceRule()],
      sideEffects: this.pick(['None', 'Some', 'NoneOnDryRun']),
      admissionReviewVersions: this.pick([['v1'], ['v2'], ['v1', 'v1beta1'], []]),
      failurePolicy: 'Ignore',
      ...(this.chance(0.3) ? { timeoutSeconds: this.pick([0, 1, 31]) } : {}),
      ...(this.chance(0.3) ? { matchConditions: [{ name: 'c', expression: this.pick(['true', '1', 'a ==']) }] } : {}),
      // No other request must call it.
      objectSelector: { matchLabels: { 'generated.example.com/none': 'x' } },
    });
    return {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: this.pick(['ValidatingWebhookConfiguration', 'MutatingWebhookConfiguration']),
      metadata: { name: `hooks-${at}` },
      webhooks: Array.from({ length: this.pick([1, 1, 2]) }, webhook),
    };
  }
}

/** The writes and reads of one object. */
function* requestsOf(generator, definition, path, at) {
  const { group, names, versions } = definition.spec;
  const version = generator.pick(versions);
  const { properties } = version.schema.openAPIV3Schema;
  const make = fits => ({
    apiVersion: `${group}/${version.name}`,
    kind: names.kind,
    metadata: { name: `o${at}` },
    spec: generator.members(properties.spec, fits),
  });
  const of = versionName => path.replace('VERSION', versionName);
  const one = `${of(version.name)}/o${at}`;
  const validation = generator.pick(['', '&fieldValidation=Strict', '&fieldValidation=Ignore']);
  yield ['POST', `${of(version.name)}?fieldManager=one${validation}`, make(0.93)];
  yield ['PATCH', `${one}?fieldManager=two${validation}`, make(0.97), APPLY];
  yield ['PATCH', `${one}?fieldManager=three&force=true`, make(0.97), APPLY];
  yield ['PATCH', `${one}?fieldManager=four${validation}`, { spec: make(0.95).spec }, MERGE];
  if (version.subresources) yield ['PATCH', `${one}/status`, { status: { count: 3, text: 'x', no: 1 } }, MERGE];
  if (version.subresources?.scale) yield ['PATCH', `${one}/scale`, { spec: { replicas: 4 } }, MERGE];
  for (const { name } of versions) yield ['GET', `${of(name)}/o${at}`];
  const [selected] = version.selectableFields ?? [];
  if (selected) yield ['GET', `${of(version.name)}?fieldSelector=${selected.jsonPath.slice(1)}%3Dx`];
}

/**
 * Creates `count` definitions with some objects each, policies and webhook configurations on all servers. Calls
 * `report` for each request that they answer differently. Returns the numbers of requests that were sent, and that were
 * answered alike.
 */
export async function compareDefinitions({ servers, token, count, objects = 8, random, report }) {
  const generator = new DefinitionGenerator(random);
  const result = { sent: 0, alike: 0 };
  const compare = async (method, path, body, type) => {
    const answers = await Promise.all(servers.map(server => send(server, token, method, path, body, type)));
    result.sent++;
    if (areAlike(answers)) result.alike++;
    else report({ method, path, type, body }, answers);
    return answers;
  };
  const remove = async path => {
    for (const server of servers) await send(server, token, 'DELETE', path);
    for (const server of servers) while ((await send(server, token, 'GET', path)).code === 200);
  };
  for (let at = 0; at < count; at++) {
    const definition = generator.definition(at);
    const { name } = definition.metadata;
    await remove(`${DEFINITIONS}/${name}`);
    const made = await compare('POST', DEFINITIONS, definition);
    const { plural } = definition.spec.names;
    const space = definition.spec.scope === 'Namespaced' ? 'namespaces/default/' : '';
    const path = `/apis/${GROUP}/VERSION/${space}${plural}`;
    if (made.every(({ code }) => code === 201)) {
      for (const { name: version } of definition.spec.versions)
        for (const server of servers)
          while ((await send(server, token, 'GET', path.replace('VERSION', version))).code !== 200);
      for (let i = 0; i < objects; i++)
        for (const request of requestsOf(generator, definition, path, i)) await compare(...request);
    }
    const policy = generator.policy(at);
    await compare('POST', `${ADMISSION}/validatingadmissionpolicies?dryRun=All`, policy);
    const hooks = generator.webhooks(at);
    await compare('POST', `${ADMISSION}/${hooks.kind.toLowerCase()}s?dryRun=All`, hooks);
    await remove(`${DEFINITIONS}/${name}`);
  }
  return result;
}
