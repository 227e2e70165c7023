import { commonTests, MAPS, type PointTemplate, serverTest, testHead, textSettings } from './shared.js';

/** A key in a header. */
export const authenticator: PointTemplate = {
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

/** Reads in labelled namespaces. */
export const authorizer: PointTemplate = {
  config: '{ "group": "auditors", "label": "audited" }',
  source: name => `import { authorizer, ConfigError, definePlugin, type Plugin } from 'capstan/api';

${textSettings('which group may read in namespaces with which label', {
  group: 'must be the name of a group',
  label: 'must be the key of a label',
})}

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
