import { createRequire } from 'node:module';
import { resolve } from 'node:path';

/**
 * The built library as programs use it. It is loaded with require and not import: the test runner rewrites imports, but
 * the threads of the server must use the same modules and paths as the thread that starts them.
 */
export const { startServer, defineResource } = createRequire(import.meta.url)(
  resolve('dist/core/index.js'),
) as typeof import('../../core/index.js');
