import { commonTests, MAPS, type PointTemplate, serverTest, testHead, textSettings } from './shared.js';

/** A default label. */
export const mutator: PointTemplate = {
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

/** A required label. */
export const validator: PointTemplate = {
  config: '{ "label": "team" }',
  source: name => `import { ConfigError, definePlugin, type Plugin, required, validator } from 'capstan/api';

${textSettings('the label that ConfigMaps need', { label: 'must be the key of a label' })}

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
