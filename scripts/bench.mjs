/**
 * `npm run bench -- [options] [case…]`: installs and builds if stale, then runs the benchmarks (docs/benchmarks.md).
 */
import { join } from 'node:path';
import { build, install, root, run } from './project.mjs';

await install();
await build();
process.exitCode = await run(process.execPath, [
  '--expose-gc',
  join(root, 'dist', 'bench', 'run.js'),
  ...process.argv.slice(2),
]);
