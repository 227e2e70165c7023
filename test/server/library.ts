import { createRequire } from 'node:module';
import { resolve } from 'node:path';

/**
 * The built library as a program gets it. It is required, not imported: the test runner rewrites what tests import, and
 * the server's threads must share modules and module paths with the thread that starts them.
 */
export const { startServer, defineResource } = createRequire(import.meta.url)(
  resolve('dist/core/index.js'),
) as typeof import('../../core/index.js');
