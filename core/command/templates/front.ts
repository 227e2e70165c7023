import { commonTests, MAPS, type PointTemplate, serverTest, testHead, textSettings } from './shared.js';

/** A file that is read once for the whole server. */
export const service: PointTemplate = {
  config: '{ "file": "frozen.txt" }',
  source: name => `import { existsSync, readFileSync, unwatchFile, watchFile } from 'node:fs';
import { ConfigError, definePlugin, forbiddenField, type Plugin, service, validator } from 'capstan/api';

${textSettings('a file with names of namespaces, one a line, in which ConfigMaps may not be changed', {
  file: 'must be the name of a file',
})}

const namesIn = (file: string): string[] =>
  existsSync(file) ? readFileSync(file, 'utf8').split('\\n').map(line => line.trim()) : [];

/** The service reads the file, and reads it again when it changes; the validators of all threads get its lines. */
export default definePlugin({
  name: '${name}',
  parse,
  contribute: ({ file }) => [
    service.of(host => ({
      name: 'frozen-namespaces',
      start(publish) {
        publish(namesIn(file));
        const changed = () => publish(namesIn(file));
        watchFile(file, { interval: 1000, persistent: false }, changed);
        host.onClose(() => unwatchFile(file, changed));
      },
    })),
    validator.of(host => {
      const frozen = host.service('frozen-namespaces');
      return {
        on: { groups: [''], resources: ['configmaps'] },
        async validate({ target: { namespace }, user }) {
          // The server's own controllers, which write ConfigMaps too.
          if (user.name.startsWith('system:')) return [];
          const names = (await frozen.state()) as readonly string[];
          return names.includes(namespace) ? [forbiddenField('metadata.namespace', 'the namespace is frozen')] : [];
        },
      };
    }),
  ],
}) satisfies Plugin<Config>;
`,
  test: `${testHead('service', 'fakeHost, partsOf, startTestServer').replace(
    "import { test } from 'node:test';\n",
    `import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
`,
  )}
const directory = mkdtempSync(join(tmpdir(), 'frozen-'));
after(() => rmSync(directory, { recursive: true }));
const config = { file: join(directory, 'frozen.txt') };
writeFileSync(config.file, 'default\\nother\\n');

test('publishes the lines of the file', async () => {
  const fake = fakeHost('front');
  const [part] = await partsOf(plugin, config, service, fake.host);
  const published: unknown[] = [];
  await part!.start(state => published.push(state));
  assert.deepEqual(published, [['default', 'other', '']]);
  await fake.close();
});
${commonTests('{}', 'file: must be the name of a file')}
${serverTest(
  'refuses changes in a frozen namespace of a server',
  `const create = (namespace: string) =>
  server.request('POST', '${MAPS}'.replace('default', namespace), { body: { metadata: { name: 'sample' } } });
const refused = await create('default');
assert.equal(refused.status, 422);
assert.match(refused.body.message, /the namespace is frozen/);
assert.equal((await create('orchestrator-public')).status, 201);`,
)}`,
};

/** A counter. */
export const metrics: PointTemplate = {
  config: '{ "name": "configmaps_created_total" }',
  source: name => `import { ConfigError, definePlugin, metrics, type Plugin, validator } from 'capstan/api';

/** Settings: the name of the metric. */
interface Config {
  readonly name: string;
}

function parse(config: unknown): Config {
  const { name } = (config ?? {}) as Partial<Config>;
  if (typeof name !== 'string' || !/^[a-z_]+$/.test(name))
    throw new ConfigError('name', 'must have lower case letters and _ only');
  return { name };
}

/** Counts ConfigMaps by the namespace in which they are to be created. */
export default definePlugin({
  name: '${name}',
  parse,
  contribute: ({ name }) => [
    metrics.of(() => [{ name, type: 'counter', help: 'ConfigMaps to be created.', labels: ['namespace'] }]),
    validator.of(host => ({
      on: { groups: [''], resources: ['configmaps'], operations: ['CREATE'] },
      validate({ target: { namespace } }) {
        host.observe(name, { namespace }, 1);
        return [];
      },
    })),
  ],
}) satisfies Plugin<Config>;
`,
  test: `${testHead('metrics', 'change, fakeHost, metricsConformance, partsOf, startTestServer, target').replace(
    'import { metrics }',
    'import { metrics, validator }',
  )}
const config = { name: 'configmaps_created_total' };
const make = async () => (await partsOf(plugin, config, metrics, fakeHost('front').host)).flat();

for (const { name, run } of metricsConformance({ make, names: [config.name] })) test(name, run);

test('counts by namespace', async () => {
  const fake = fakeHost('pool');
  const [part] = await partsOf(plugin, config, validator, fake.host);
  await part!.validate(change({ target: target({ namespace: 'shop' }) }), undefined);
  assert.deepEqual(fake.observations, [{ metric: config.name, labels: { namespace: 'shop' }, value: 1 }]);
});
${commonTests("{ name: 'A b' }", 'name: must have lower case letters and _ only')}
${serverTest(
  'is at /metrics of a server',
  `await server.request('POST', '${MAPS}', { body: { metadata: { name: 'sample' } } });
const counted = /configmaps_created_total\\{namespace="default"\\} \\d+/;
await server.until('/metrics', ({ text }) => counted.test(text));`,
)}`,
};

/** A text at a path of its own. */
export const httpDocuments: PointTemplate = {
  config: '{ "contact": "admin@example.com" }',
  source: name => `import { ConfigError, definePlugin, httpDocuments, type Plugin } from 'capstan/api';

/** Settings: the contact for questions about the server. */
interface Config {
  readonly contact: string;
}

function parse(config: unknown): Config {
  const { contact } = (config ?? {}) as Partial<Config>;
  if (typeof contact !== 'string' || !contact.includes('@')) throw new ConfigError('contact', 'must be an address');
  return { contact };
}

/** Serves \`/contact\` to users who may read this path. */
export default definePlugin({
  name: '${name}',
  parse,
  contribute: ({ contact }) => [
    httpDocuments.of(() => [{ path: '/contact', contentType: 'text/plain', headers: {}, body: () => \`\${contact}\\n\` }]),
  ],
}) satisfies Plugin<Config>;
`,
  test: `${testHead('httpDocuments', 'fakeHost, httpDocumentsConformance, partsOf, startTestServer')}
const config = { contact: 'admin@example.com' };
const make = async () => (await partsOf(plugin, config, httpDocuments, fakeHost('front').host)).flat();

for (const { name, run } of httpDocumentsConformance({ make, paths: ['/contact'] })) test(name, run);
${commonTests('{}', 'contact: must be an address')}
${serverTest(
  'is served',
  `const { status, text } = await server.request('GET', '/contact');
assert.deepEqual([status, text], [200, 'admin@example.com\\n']);
assert.equal((await server.as('ann').request('GET', '/contact')).status, 403);`,
)}`,
};

/** Pages for everybody, at a path of their own. */
export const httpSite: PointTemplate = {
  config: '{ "greeting": "Hello" }',
  source: name => `import { definePlugin, httpSite, type Plugin, type SiteAnswer, ConfigError } from 'capstan/api';

${textSettings('what the page says', { greeting: 'must be a text' })}

const page = (status: number, text: string): SiteAnswer => ({
  status,
  headers: [['content-type', 'text/plain; charset=utf-8']],
  body: Buffer.from(\`\${text}\\n\`),
});

/** Serves \`/hello\` and all paths below it, also to clients without credentials. */
export default definePlugin({
  name: '${name}',
  parse,
  contribute: ({ greeting }) => [
    httpSite.of(() => ({
      path: '/hello',
      answer: ({ path }) => (path === '/hello' ? page(200, greeting) : page(404, 'there is no such page')),
    })),
  ],
}) satisfies Plugin<Config>;
`,
  test: `${testHead('httpSite', 'fakeHost, httpSiteConformance, partsOf, startTestServer')}
const config = { greeting: 'Good morning' };
const make = async () => (await partsOf(plugin, config, httpSite, fakeHost('front').host))[0]!;

for (const { name, run } of httpSiteConformance({ make, path: '/hello', pages: ['/hello'] })) test(name, run);
${commonTests('{}', 'greeting: must be a text')}
${serverTest(
  'is served to everybody',
  `const { status, text } = await server.as('ann').request('GET', '/hello');
assert.deepEqual([status, text], [200, 'Good morning\\n']);`,
)}`,
};

/** Tokens that another service verifies. */
export const tokenIssuer: PointTemplate = {
  config: '{ "key": "a-secret-of-the-team" }',
  source: name => `import { createHmac, randomUUID } from 'node:crypto';
import { ConfigError, definePlugin, type Plugin, tokenIssuer } from 'capstan/api';

/** Settings: the key that signs tokens of service accounts. */
interface Config {
  readonly key: string;
}

function parse(config: unknown): Config {
  const { key } = (config ?? {}) as Partial<Config>;
  if (typeof key !== 'string' || key.length < 16) throw new ConfigError('key', 'must have at least 16 characters');
  return { key };
}

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A JSON Web Token, signed with HMAC and SHA-256. */
function sign(claims: object, key: string): string {
  const content = \`\${encode({ alg: 'HS256', typ: 'JWT' })}.\${encode({ jti: randomUUID(), ...claims })}\`;
  return \`\${content}.\${createHmac('sha256', key).update(content).digest('base64url')}\`;
}

const subject = (namespace = '', name = ''): string => \`system:serviceaccount:\${namespace}:\${name}\`;

/**
 * Makes the tokens of service accounts instead of the server, for a service that has the same key. An authenticator
 * that accepts them here is another contribution: see \`authenticator\`.
 */
export default definePlugin({
  name: '${name}',
  parse,
  contribute: ({ key }) => [
    tokenIssuer.of(() => ({
      audiences: ['team'],
      maxSeconds: 3600,
      extend: false,
      issue: async ({ account: { metadata }, audiences, issuedAt, expiresAt }) =>
        sign({ sub: subject(metadata.namespace, metadata.name), aud: audiences, iat: issuedAt, exp: expiresAt }, key),
      issueLegacy: async ({ namespace, account }) => sign({ sub: subject(namespace, account), aud: ['team'] }, key),
    })),
  ],
}) satisfies Plugin<Config>;
`,
  test: `${testHead('tokenIssuer', 'fakeHost, partsOf, startTestServer, tokenIssuerConformance')}
const config = { key: 'a-secret-of-the-team' };
const make = async () => (await partsOf(plugin, config, tokenIssuer, fakeHost('pool').host))[0]!;

for (const { name, run } of tokenIssuerConformance({ make })) test(name, run);
${commonTests("{ key: 'short' }", 'key: must have at least 16 characters')}
${serverTest(
  'makes the tokens of a server',
  `const accounts = '/api/v1/namespaces/default/serviceaccounts';
await server.request('POST', accounts, { body: { metadata: { name: 'robot' } } });
const { body } = await server.request('POST', \`\${accounts}/robot/token\`, { body: { spec: {} } });
const claims = JSON.parse(Buffer.from(body.status.token.split('.')[1], 'base64url').toString());
assert.deepEqual([claims.sub, claims.aud], ['system:serviceaccount:default:robot', ['team']]);`,
)}`,
};
