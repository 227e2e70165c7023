import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { ConfiguredServer } from '../plugins/support.js';

const use = pathToFileURL(resolve('dist/test/abuse/fixtures/hostile.js')).href;
const SECRETS = '/api/v1/namespaces/default/secrets';

/** Attacks on threads of which the server has only one, and its exit code; null if a signal ends it. */
const LOOPS = {
  'the control thread': { point: 'controller', path: SECRETS, name: 'controller-loop', exitCode: 1 },
  'the main thread': { point: 'httpDocuments', path: '/hostile/loop', name: undefined, exitCode: null },
} as const;

test.each(Object.entries(LOOPS))(
  'a plugin that loops in %s ends the server, and the log names it',
  async (thread, { point, path, name, exitCode }) => {
    const server = new ConfiguredServer();
    try {
      await server.start({ plugins: [{ use, timeout: '1s' }] });
      const sent = name ? server.call('POST', path, { body: { metadata: { name } } }) : server.call('GET', path);
      sent.catch(() => undefined);
      expect(await server.exited()).toBe(exitCode);
      expect(server.log).toContainEqual(
        expect.objectContaining({
          plugins: [`test/hostile (${point})`],
          message: `${thread} does not return to its event loop, and is ended: test/hostile (${point})`,
        }),
      );
    } finally {
      await server.dispose();
    }
  },
);
