import { describe, expect, test } from 'vitest';
import type { ConfigError } from '../../core/api/index.js';
import type { Settings } from '../../core/index.js';
import { startServer } from '../server/library.js';
import { ConfiguredServer, fixture } from './support.js';

const use = (...names: readonly string[]) => names.map(name => ({ use: fixture('required', name) }));
const start = (settings: Partial<Settings>) => startServer({ storage: 'memory', port: 0, ...settings });

async function starts(plugins: Settings['plugins'], settings: Partial<Settings> = {}): Promise<void> {
  await (await start({ ...settings, plugins })).close();
}

describe('a plugin that requires another', () => {
  test('fails the start with both names and a hint if the other is not configured', async () => {
    const error = await start({ plugins: use('twin', 'needsProvider') }).catch((thrown: unknown) => thrown);
    expect((error as Error).message).toBe(
      'plugins[1]: the plugin test/needs-provider requires the plugin test/provider, which is not configured: add it to plugins, or omit test/needs-provider',
    );
    expect((error as ConfigError).path).toBe('plugins[1]');
  });

  test('fails the command with exit code 2 and one line', async () => {
    const server = new ConfiguredServer();
    const ended = await server.start({ plugins: use('needsProvider') }).catch((thrown: Error) => thrown.message);
    await server.dispose();
    expect(ended).toMatch(/^ended with 2:\ncapstan: plugins\[0]: the plugin test\/needs-provider requires .*\n$/);
  });

  // Plugins in other threads, two that require each other, and one that requires itself.
  const others = ['inPool', 'inFront', 'first', 'second', 'needsItself'];
  test.each([
    ['before it, in another thread, requires it as well, or is itself', ['provider', 'needsProvider', ...others]],
    ['after it', ['needsProvider', 'provider', 'needsRbac', 'twin', 'twin']],
  ])('starts if the other is configured %s', (_where, names) => starts(use(...names)));

  test('may require a built-in plugin only if the server loads it', async () => {
    await expect(starts(use('needsRbac'), { authorizationMode: ['AlwaysAllow'] })).rejects.toThrow(
      'test/needs-rbac requires the plugin rbac, which is not configured',
    );
  });

  test('must list the names of required plugins', async () => {
    await expect(starts(use('badRequires'))).rejects.toThrow(
      'plugins[0].use: the plugin test/bad must require a list of names of plugins',
    );
  });
});

describe('the name of a plugin', () => {
  test('belongs to one plugin, which may be used several times', async () => {
    await expect(starts(use('twin', 'provider', 'otherTwin'))).rejects.toThrow(
      /^plugins\[2]\.use: .*#otherTwin is a plugin named test\/twin, as plugins\[0] is: rename one of them$/,
    );
  });
});
