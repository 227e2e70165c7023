/** The template of one extension point. */
export interface PointTemplate {
  /** Settings with which README and tests use the plugin, as JSON. */
  readonly config: string;
  readonly source: (name: string) => string;
  readonly test: string;
}

/** The imports of a test. `names` are those of `capstan/testing`. */
const testHead = (point: string, names: string): string => `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ${point} } from 'capstan/api';
import { ${names} } from 'capstan/testing';
import plugin from '../src/index.js';
`;

/** The test of `parse`, and the constant `use` for the test with a server. */
const commonTests = (badConfig: string, message: string): string => `
test('refuses bad settings with the field and the fix', () => {
  assert.throws(() => plugin.parse(${badConfig}), /^ConfigError: ${message}$/);
});

const use = fileURLToPath(new URL('../src/index.js', import.meta.url));
`;

const indent = (text: string, by: string): string => text.replaceAll(/^(?=.)/gm, by);

/** A test with a server that runs the plugin; `body` are its statements. */
const serverTest = (title: string, body: string): string => `test('${title}', async () => {
  const server = await startTestServer({ plugins: [{ use, config }] });
  try {
${indent(body, '    ')}
  } finally {
    await server.close();
  }
});
`;

const MAPS = '/api/v1/namespaces/default/configmaps';

const authenticator: PointTemplate = {
  config: '{ "key": "a-secret-of-the-team", "user": "ann" }',
  source: name => `import { timingSafeEqual, createHash } from 'node:crypto';
import { authenticator, ConfigError, definePlugin, type Plugin, Refusal } from 'capstan/api';

/** Settings: who has the key that the header x-api-key must contain. */
interface Config {
  readonly key: string;
  readonly user: string;
}

function parse(config: unknown): Config {
  const { key, user } = (config ?? {}) as Partial<Config>;
  if (typeof key !== 'string' || key.length < 8) throw new ConfigError('key', 'must have at least 8 characters');
  if (typeof user !== 'string' || user === '') throw new ConfigError('user', 'must be the name of a user');
  return { key, user };
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Knows one user by a key in the header x-api-key. */
export default definePlugin({
  name: '${name}',
  parse,
  contribute: ({ key, user }) => [
    authenticator.of(() => ({
      cacheFor: 'never',
      authenticate(request) {
        const sent = request.header('x-api-key');
        if (sent === undefined) return null;
        if (!timingSafeEqual(digest(sent), digest(key))) throw new Refusal('Unauthorized', 'Unauthorized');
        return { name: user, uid: '', groups: [], extra: new Map() };
      },
    })),
  ],
}) satisfies Plugin<Config>;
`,
  test: `${testHead('authenticator', 'authenticatorConformance, fakeHost, partsOf, startTestServer')}
const config = { key: 'a-secret-of-the-team', user: 'ann' };
const make = async () => (await partsOf(plugin, config, authenticator, fakeHost('pool').host))[0]!;
const good = { request: { headers: { 'x-api-key': config.key } }, name: 'ann', groups: [] };
const bad = [{ headers: { 'x-api-key': 'wrong' } }];

for (const { name, run } of authenticatorConformance({ make, good, bad })) test(name, run);
${commonTests("{ key: 'short', user: 'ann' }", 'key: must have at least 8 characters')}
${serverTest(
  'identifies the sender of a request to a server',
  `const get = (key: string) =>
  server.request('GET', '${MAPS}', { token: '', headers: { 'x-api-key': key } });
assert.match((await get(config.key)).body.message, /User "ann" cannot list/);
assert.equal((await get('wrong')).status, 401);`,
)}`,
};

const authorizer: PointTemplate = {
  config: '{ "group": "auditors", "label": "audited" }',
  source: name => `import { authorizer, ConfigError, definePlugin, type Plugin } from 'capstan/api';

/** Settings: which group may read in namespaces with which label. */
interface Config {
  readonly group: string;
  readonly label: string;
}

function parse(config: unknown): Config {
  const { group, label } = (config ?? {}) as Partial<Config>;
  if (typeof group !== 'string' || group === '') throw new ConfigError('group', 'must be the name of a group');
  if (typeof label !== 'string' || label === '') throw new ConfigError('label', 'must be the key of a label');
  return { group, label };
}

const READS: readonly string[] = ['get', 'list', 'watch'];

/** Lets a group read everything but secrets in namespaces that have a label. */
export default definePlugin({
  name: '${name}',
  parse,
  contribute: ({ group, label }) => [
    authorizer.of(host => {
      const namespaces = host.informer('namespaces');
      return {
        // Decisions are cached until a namespace changes.
        dependsOn: ['core/namespaces'],
        authorize(user, target) {
          if (target.is !== 'resource' || target.resource === 'secrets' || !READS.includes(target.verb))
            return { is: 'noOpinion' };
          if (!user.groups.includes(group)) return { is: 'noOpinion' };
          const labels = namespaces.get('', target.namespace)?.metadata.labels;
          return labels?.[label] === undefined ? { is: 'noOpinion' } : { is: 'allow', reason: \`\${label} namespace\` };
        },
      };
    }),
  ],
}) satisfies Plugin<Config>;
`,
  test: `${testHead('authorizer', 'authorizerConformance, fakeHost, partsOf, startTestServer, target, user')}
const config = { group: 'auditors', label: 'audited' };
const namespace = (labels: Record<string, string>) => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'default', labels },
});

async function make() {
  const fake = fakeHost('pool');
  fake.put('core/namespaces', namespace({ audited: 'yes' }));
  return (await partsOf(plugin, config, authorizer, fake.host))[0]!;
}

const ann = user('ann', 'auditors');
const decisions = [
  { user: ann, target: target({ verb: 'list' }), is: 'allow' },
  { user: ann, target: target({ verb: 'delete' }), is: 'noOpinion' },
  { user: ann, target: target({ resource: 'secrets' }), is: 'noOpinion' },
  { user: ann, target: target({ namespace: 'other' }), is: 'noOpinion' },
  { user: user('bob'), target: target({ verb: 'list' }), is: 'noOpinion' },
] as const;

for (const { name, run } of authorizerConformance({ make, decisions })) test(name, run);
${commonTests("{ group: 'auditors' }", 'label: must be the key of a label')}
${serverTest(
  'lets the group read in a server once the namespace has the label',
  `const headers = { 'impersonate-user': 'ann', 'impersonate-group': 'auditors' };
const list = () => server.request('GET', '${MAPS}', { headers });
assert.equal((await list()).status, 403);
await server.request('PATCH', '/api/v1/namespaces/default', { body: { metadata: { labels: { audited: 'yes' } } } });
assert.equal((await list()).status, 200);`,
)}`,
};

const mutator: PointTemplate = {
  config: '{ "label": "team", "value": "unknown" }',
  source: name => `import { ConfigError, definePlugin, mutator, type Plugin } from 'capstan/api';

/** Settings: the label that ConfigMaps get, and its value. */
interface Config {
  readonly label: string;
  readonly value: string;
}

function parse(config: unknown): Config {
  const { label, value } = (config ?? {}) as Partial<Config>;
  if (typeof label !== 'string' || label === '') throw new ConfigError('label', 'must be the key of a label');
  if (typeof value !== 'string') throw new ConfigError('value', 'must be a text');
  return { label, value };
}

/** Gives ConfigMaps a label, unless they have it. */
export default definePlugin({
  name: '${name}',
  parse,
  contribute: ({ label, value }) => [
    mutator.of(() => ({
      on: { groups: [''], resources: ['configmaps'], operations: ['CREATE', 'UPDATE'] },
      mutate(_change, draft) {
        draft.metadata.labels = { [label]: value, ...draft.metadata.labels };
      },
    })),
  ],
}) satisfies Plugin<Config>;
`,
  test: `${testHead('mutator', 'change, fakeHost, mutatorConformance, partsOf, startTestServer')}
const config = { label: 'team', value: 'unknown' };
const make = async () => (await partsOf(plugin, config, mutator, fakeHost('pool').host))[0]!;
const map = (labels?: Record<string, string>) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'sample', namespace: 'default', ...(labels ? { labels } : {}) },
});
const drafts = [
  { change: change(), draft: map(), after: map({ team: 'unknown' }) },
  { change: change(), draft: map({ team: 'red', a: 'b' }), after: map({ team: 'red', a: 'b' }) },
];

for (const { name, run } of mutatorConformance({ make, drafts })) test(name, run);
${commonTests("{ label: 'team' }", 'value: must be a text')}
${serverTest(
  'gives the label in a server',
  `const { body } = await server.request('POST', '${MAPS}', { body: { metadata: { name: 'sample' } } });
assert.deepEqual(body.metadata.labels, { team: 'unknown' });`,
)}`,
};

const validator: PointTemplate = {
  config: '{ "label": "team" }',
  source: name => `import { ConfigError, definePlugin, type Plugin, required, validator } from 'capstan/api';

/** Settings: the label that ConfigMaps need. */
interface Config {
  readonly label: string;
}

function parse(config: unknown): Config {
  const { label } = (config ?? {}) as Partial<Config>;
  if (typeof label !== 'string' || label === '') throw new ConfigError('label', 'must be the key of a label');
  return { label };
}

/** Refuses ConfigMaps without a label. */
export default definePlugin({
  name: '${name}',
  parse,
  contribute: ({ label }) => [
    validator.of(() => ({
      on: { groups: [''], resources: ['configmaps'], operations: ['CREATE', 'UPDATE'] },
      validate({ user }, after) {
        // The server's own controllers, which write ConfigMaps too.
        if (user.name.startsWith('system:')) return [];
        return after?.metadata.labels?.[label] === undefined ? [required(\`metadata.labels[\${label}]\`)] : [];
      },
    })),
  ],
}) satisfies Plugin<Config>;
`,
  test: `${testHead('validator', 'change, fakeHost, partsOf, startTestServer, user, validatorConformance')}
const config = { label: 'team' };
const make = async () => (await partsOf(plugin, config, validator, fakeHost('pool').host))[0]!;
const map = (labels: Record<string, string>) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'sample', namespace: 'default', labels },
});
const objects = [
  { change: change(), after: map({ team: 'red' }), fields: [] },
  { change: change(), after: map({ other: 'red' }), fields: ['metadata.labels[team]'] },
  { change: change({ user: user('system:controller') }), after: map({}), fields: [] },
];

for (const { name, run } of validatorConformance({ make, objects })) test(name, run);
${commonTests('{}', 'label: must be the key of a label')}
${serverTest(
  'refuses objects without the label in a server',
  `const create = (labels: object) =>
  server.request('POST', '${MAPS}', { body: { metadata: { name: 'sample', labels } } });
const refused = await create({});
assert.equal(refused.status, 422);
assert.equal(refused.body.details.causes[0].field, 'metadata.labels[team]');
assert.equal((await create({ team: 'red' })).status, 201);`,
)}`,
};

/** The templates by name of the extension point. */
export const POINT_TEMPLATES: ReadonlyMap<string, PointTemplate> = new Map(
  Object.entries({ authenticator, authorizer, mutator, validator }),
);
