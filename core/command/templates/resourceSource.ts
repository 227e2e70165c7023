import { commonTests, MAPS, type PointTemplate, serverTest, testHead, textSettings } from './shared.js';

/** Kinds that ConfigMaps define. */
export const resourceSource: PointTemplate = {
  config: '{ "group": "kinds.example.com" }',
  source: name => `import {
  type ApiObject,
  ConfigError,
  definePlugin,
  defineResource,
  type Plugin,
  resourceSource,
  t,
} from 'capstan/api';

${textSettings('the group of the kinds', { group: 'must be a domain name' })}

/** ConfigMaps with this label define kinds. */
const LABEL = 'kinds.example.com/define';

interface ConfigMap extends ApiObject {
  readonly data?: { readonly [key: string]: string };
}

/**
 * Serves a kind for each ConfigMap with the label, whose data has the name of the kind and its plural: \`kind: Cake\`,
 * \`plural: cakes\`. Deleting the ConfigMap removes the kind. A kind of that name from elsewhere takes precedence.
 */
export default definePlugin({
  name: '${name}',
  parse,
  contribute: ({ group }) => [
    resourceSource.of(() => ({
      storageName: 'core/configmaps',
      // Called in several threads, for objects of any content: it must not throw, and must depend only on the object.
      define(object) {
        const { metadata, data = {} } = object as ConfigMap;
        const { kind = '', plural = '' } = data;
        if (metadata?.labels?.[LABEL] !== 'true') return undefined;
        if (!/^[A-Z][A-Za-z]{0,50}$/.test(kind) || !/^[a-z]{1,50}$/.test(plural)) return undefined;
        const schema = t.object({ spec: t.map(t.string()) });
        return defineResource({ group, kind, plural, scope: 'Namespaced', schema });
      },
    })),
  ],
}) satisfies Plugin<Config>;
`,
  test: `${testHead('resourceSource', 'fakeHost, partsOf, resourceSourceConformance, startTestServer')}
const config = { group: 'kinds.example.com' };
const make = async () => (await partsOf(plugin, config, resourceSource, fakeHost('pool').host))[0]!;

const definition = (labels: { readonly [name: string]: string }, kind = 'Cake') => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'cakes', namespace: 'default', labels },
  data: { kind, plural: 'cakes' },
});
const objects = [
  { object: definition({ 'kinds.example.com/define': 'true' }), defines: 'cakes.kinds.example.com' },
  { object: definition({ 'kinds.example.com/define': 'true' }, 'not a name'), defines: null },
  { object: definition({}), defines: null },
];

for (const { name, run } of resourceSourceConformance({ make, objects })) test(name, run);
${commonTests('{}', 'group: must be a domain name')}
${serverTest(
  'serves the kinds of ConfigMaps while these exist',
  `const path = '/apis/kinds.example.com/v1/namespaces/default/cakes';
assert.equal((await server.request('GET', path)).status, 404);
await server.request('POST', '${MAPS}', { body: objects[0]!.object });
await server.until(path, ({ status }) => status === 200);
const names = { apiVersion: 'kinds.example.com/v1', kind: 'Cake' };
const body = { ...names, metadata: { name: 'sample' }, spec: { icing: 'lemon' } };
assert.equal((await server.request('POST', path, { body })).status, 201);`,
)}
`,
};
