import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ConfiguredServer } from './support.js';

/* Plugins in TypeScript, which Node.js runs by erasing types, from 22.18 on. */

/** True if this version of Node.js runs TypeScript. */
const runsTypeScript = (process.features as { readonly typescript?: unknown }).typescript === 'strip';

const PLUGIN = `import { definePlugin, mutator, type Plugin } from 'capstan/api';
import { label } from './label.ts';

interface Config {
  readonly value: string;
}

export default definePlugin({
  name: 'labels',
  parse: (config): Config => config as Config,
  contribute: ({ value }) => [
    mutator.of(() => ({
      on: { resources: ['configmaps'], operations: ['CREATE'] },
      mutate(_change, draft): void {
        draft.metadata.labels = { [label]: value };
      },
    })),
  ],
}) satisfies Plugin<Config>;
`;

/** A server whose configuration names a module with this text; its error if it does not start. */
async function withModule(text: string, use: (server: ConfiguredServer) => Promise<unknown>): Promise<string> {
  const server = new ConfiguredServer();
  try {
    writeFileSync(join(server.directory, 'labels.ts'), text);
    writeFileSync(join(server.directory, 'label.ts'), "export const label: string = 'team';\n");
    await server.start({ plugins: [{ use: './labels.ts', config: { value: 'blue' } }] });
    await use(server);
    return '';
  } catch (error) {
    return (error as Error).message;
  } finally {
    await server.dispose();
  }
}

const never = async (): Promise<never> => expect.unreachable();

describe.runIf(runsTypeScript)('a plugin in TypeScript', () => {
  test('runs in all threads without a build', async () => {
    const failed = await withModule(PLUGIN, async server => {
      const path = '/api/v1/namespaces/default/configmaps';
      const { body } = await server.call('POST', path, { body: { metadata: { name: 'a' } } });
      expect(body.metadata.labels).toEqual({ team: 'blue' });
    });
    expect(failed).toBe('');
  });

  test.each([
    ['a syntax error', PLUGIN.replace('contribute:', 'contribute'), /labels\.ts:11: /],
    ['an enum', `${PLUGIN}enum Color { Red }\n`, /labels\.ts:20: .*enum.*: use types alone, which Node\.js can erase/],
    [
      'an import of the compiled file',
      PLUGIN.replace('label.ts', 'label.js'),
      /: import label\.ts, because Node\.js compiles/,
    ],
  ])('with %s is refused with the position and a hint', async (_what, text, message) => {
    expect(await withModule(text, never)).toMatch(message);
  });
});

test.skipIf(runsTypeScript)('a plugin in TypeScript is refused with the versions of Node.js that run it', async () => {
  expect(await withModule(PLUGIN, never)).toContain(
    `Node.js ${process.versions.node} runs no TypeScript: use 22.18, 24 or a newer release, or compile it and name the result`,
  );
});
