/** `npm start -- <flags>`: installs and builds if stale, then runs `capstan serve` with the flags. */
import { join } from 'node:path';
import { build, install, root, run } from './project.mjs';

await install();
await build();
const main = join(root, 'dist', 'core', 'command', 'main.js');
process.exitCode = await run(process.execPath, [main, 'serve', ...process.argv.slice(2)], { cwd: process.cwd() });
