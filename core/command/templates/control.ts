import { commonTests, type PointTemplate, serverTest, testHead, textSettings } from './shared.js';

/** A ConfigMap in labelled namespaces. */
export const controller: PointTemplate = {
  config: '{ "label": "team" }',
  source:
    name => `import { ConfigError, controller, definePlugin, ownerReference, type Plugin, reconciler } from 'capstan/api';

/** Settings: the label whose value a ConfigMap of the same name holds. */
interface Config {
  readonly label: string;
}

function parse(config: unknown): Config {
  const { label } = (config ?? {}) as Partial<Config>;
  if (typeof label !== 'string' || !/^[a-z0-9-]{1,63}$/.test(label))
    throw new ConfigError('label', 'must be the key of a label, of lower case letters, digits and dashes');
  return { label };
}

/** Keeps a ConfigMap in every namespace that has the label. */
const keeper = ({ label }: Config) =>
  reconciler({
    name: 'label-keeper',
    for: 'namespaces',
    owns: ['configmaps'],
    // Called at the start, after every change, and again if it has thrown. It writes only what differs.
    async reconcile({ name: namespace }, { object, get, client }) {
      const value = object?.metadata.labels?.[label];
      if (!object || value === undefined || object.metadata.deletionTimestamp) return;
      const found = get('configmaps', { namespace, name: label });
      if (found?.data?.['value'] === value) return;
      const configMaps = client.resource('configmaps');
      const data = { value };
      if (found) await configMaps.replace({ ...found, data });
      else
        await configMaps.create({
          metadata: { namespace, name: label, ownerReferences: [ownerReference(object)] },
          data,
        });
    },
  });

export default definePlugin({
  name: '${name}',
  parse,
  contribute: config => [controller.of(keeper(config))],
}) satisfies Plugin<Config>;
`,
  test: `${testHead('controller', 'controllerConformance, partsOf, startTestServer')}
const config = { label: 'team' };
const namespace = (name: string, labels: Record<string, string>) => ({
  storageName: 'core/namespaces',
  object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels, uid: name } },
});
const suite = controllerConformance({
  make: async host => (await partsOf(plugin, config, controller, host))[0]!,
  objects: [namespace('shop', { team: 'tea' }), namespace('other', {})],
  requests: ['POST /api/v1/namespaces/shop/configmaps'],
});

for (const { name, run } of suite) test(name, run);
${commonTests('{}', 'label: must be the key of a label, of lower case letters, digits and dashes')}
${serverTest(
  'writes the value of the label in a server',
  `await server.client.resource('namespaces').create({ metadata: { name: 'shop', labels: { team: 'tea' } } });
const { body } = await server.until('/api/v1/namespaces/shop/configmaps/team', ({ status }) => status === 200);
assert.deepEqual(body.data, { value: 'tea' });`,
)}`,
};

/** An object that exists before the server answers requests. */
export const postStartHook: PointTemplate = {
  config: '{ "text": "hello" }',
  source:
    name => `import { ConfigError, controller, definePlugin, type Plugin, postStartHook, reconciler } from 'capstan/api';

${textSettings(`the text that the ConfigMap \`greeting\` holds in a new store`, { text: 'must be a text' })}

const GREETING = { namespace: 'default', name: 'greeting' };

/** Creates the ConfigMap unless it exists. */
const greeter = ({ text }: Config) =>
  reconciler({
    name: 'greeter',
    // That controller creates the namespace.
    startsAfter: ['system-objects'],
    keys: [GREETING],
    async reconcile(key, { get, client }) {
      if (!get('configmaps', key)) await client.resource('configmaps').create({ metadata: GREETING, data: { text } });
    },
  });

/** A server with a new store answers no requests before the greeting exists. */
export default definePlugin({
  name: '${name}',
  parse,
  contribute: config => [
    controller.of(greeter(config)),
    postStartHook.of(() => ({ name: 'greeting', controllers: ['greeter'] })),
  ],
}) satisfies Plugin<Config>;
`,
  test: `${testHead('postStartHook', 'fakeHost, partsOf, startTestServer')}
const config = { text: 'hello' };

test('waits for its controller', async () => {
  const [hook] = await partsOf(plugin, config, postStartHook, fakeHost('control').host);
  assert.deepEqual(hook, { name: 'greeting', controllers: ['greeter'] });
});
${commonTests('{}', 'text: must be a text')}
${serverTest(
  'is done when a server with a new store answers',
  `const { status, body } = await server.request('GET', '/api/v1/namespaces/default/configmaps/greeting');
assert.deepEqual([status, body.data], [200, { text: 'hello' }]);
assert.equal((await server.request('GET', '/readyz/poststarthook/greeting')).status, 200);`,
)}`,
};

/** A file that must be readable. */
export const healthCheck: PointTemplate = {
  config: '{ "file": "package.json" }',
  source: name => `import { access } from 'node:fs/promises';
import { ConfigError, definePlugin, healthCheck, type Plugin } from 'capstan/api';

${textSettings('the file without which the server is not ready', { file: 'must be the name of a file' })}

/** \`/readyz\` fails while the file is missing. The reason is logged, and not sent to clients. */
export default definePlugin({
  name: '${name}',
  parse,
  contribute: ({ file }) => [
    healthCheck.of(() => ({ name: 'needed-file', of: ['readyz'], check: () => access(file) })),
  ],
}) satisfies Plugin<Config>;
`,
  test: `${testHead('healthCheck', 'fakeHost, healthCheckConformance, partsOf, startTestServer')}
const config = { file: 'package.json' };
const checkOf = async (file: string) => (await partsOf(plugin, { file }, healthCheck, fakeHost('front').host))[0]!;
const suite = healthCheckConformance({
  make: () => checkOf(config.file),
  makeUnhealthy: () => checkOf('missing.json'),
});

for (const { name, run } of suite) test(name, run);
${commonTests('{}', 'file: must be the name of a file')}
${serverTest(
  'is part of the readiness of a server',
  `assert.equal((await server.request('GET', '/readyz/needed-file')).status, 200);
assert.match((await server.request('GET', '/readyz?verbose')).text, /needed-file ok/);`,
)}`,
};
