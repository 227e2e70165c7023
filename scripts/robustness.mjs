/**
 * `npm run robustness -- [--minutes N] [--seed N] [--faults a,b] [--backend rocksdb|memory|etcd]
 * [--listening-threads N]`: builds if stale, then injects faults into servers and checks the observations of clients.
 */
import { join } from 'node:path';
import { build, install, root, run } from './project.mjs';

await install();
await build();
process.exitCode = await run(process.execPath, [
  join(root, 'dist', 'test', 'robustness', 'main.js'),
  ...process.argv.slice(2),
]);
