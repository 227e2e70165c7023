import { symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { COMMANDS_MS, installCapstan, newFolder, run } from './project.js';

const work = newFolder();
afterAll(() => work.remove());

/** True if this version of Node.js runs TypeScript. */
const runsTypeScript = (process.features as { readonly typescript?: unknown }).typescript === 'strip';

const PLUGIN = `import { definePlugin, type Plugin, required, validator } from 'capstan/api';
import { message } from './message.ts';

export default definePlugin({
  name: 'labeled',
  parse: () => null,
  contribute: () => [
    validator.of(() => ({
      on: { resources: ['secrets'], operations: ['CREATE'] },
      validate: (_change, after) => (after?.metadata.labels ? [] : [required('metadata.labels', message)]),
    })),
  ],
}) satisfies Plugin<null>;
`;

const TEST = `import { fileURLToPath } from 'node:url';
import { validator } from 'capstan/api';
import { change, fakeHost, partsOf, startTestServer } from 'capstan/testing';
import { expect, test } from 'vitest';
import plugin from './plugin.ts';

test('alone', async () => {
  const [part] = await partsOf(plugin, null, validator, fakeHost('pool').host);
  expect(part.validate(change(), undefined)).toHaveLength(1);
});

test('in a server', async () => {
  const use = fileURLToPath(new URL('./plugin.ts', import.meta.url));
  const server = await startTestServer({ plugins: [{ use }] });
  const path = '/api/v1/namespaces/default/secrets';
  const { status, body } = await server.request('POST', path, { body: { metadata: { name: 'a' } } });
  await server.close();
  expect([status, body.message.includes('label it')]).toEqual([422, true]);
});
`;

test.runIf(runsTypeScript)(
  'a plugin in TypeScript is tested with vitest without a build',
  { timeout: COMMANDS_MS },
  async () => {
    const files = {
      'package.json': '{ "type": "module" }',
      'plugin.ts': PLUGIN,
      'message.ts': "export const message: string = 'label it';\n",
      'plugin.test.ts': TEST,
    };
    await installCapstan(work.path);
    for (const [name, text] of Object.entries(files)) writeFileSync(join(work.path, name), text);
    symlinkSync(resolve('node_modules/vitest'), join(work.path, 'node_modules/vitest'));
    const output = await run(work.path, process.execPath, 'node_modules/vitest/vitest.mjs', 'run', '--root', '.');
    expect(output).toMatch(/Tests .*2 passed/);
  },
);
