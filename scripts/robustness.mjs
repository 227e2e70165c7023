/**
 * `npm run robustness -- [--minutes N] [--seed N] [--faults a,b] [--backend rocksdb|memory|etcd]
 * [--listening-threads N]`: builds what is stale, then breaks servers and checks what clients saw.
 */
import { join } from 'node:path';
import { build, install, root, run } from './project.mjs';

await install();
await build();
process.exitCode = await run(process.execPath, [
  join(root, 'dist', 'test', 'robustness', 'main.js'),
  ...process.argv.slice(2),
]);
