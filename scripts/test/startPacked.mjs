/**
 * Starts the packed server like its users: `node scripts/test/startPacked.mjs TARBALL` installs the tarball into an
 * empty folder with the Node.js that runs this, without a compiler, and starts a server there, twice.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../project.mjs';

/** The time limit of a start, which takes about a second. */
const START_MS = 60_000;

/** Starts a server and stops it when it is ready. Resolves with its output; rejects if it does not exit with 0. */
function startOnce(folder) {
  const main = join(folder, 'node_modules', 'capstan', 'dist', 'core', 'command', 'main.js');
  const args = ['--throw-deprecation', main, 'serve', '--secure-port=0', '--data-dir=data'];
  const server = spawn(process.execPath, args, { cwd: folder, timeout: START_MS });
  let output = '';
  const take = more => {
    output += more;
    if (/^ready in /m.test(more)) server.kill('SIGTERM');
  };
  server.stdout.on('data', take);
  server.stderr.on('data', take);
  return new Promise((resolve, reject) =>
    server.once('close', code =>
      code === 0 && output.includes('ready in') ? resolve(output) : reject(new Error(`ended with ${code}:\n${output}`)),
    ),
  );
}

const folder = mkdtempSync(join(tmpdir(), 'capstan-packed-'));
try {
  writeFileSync(join(folder, 'package.json'), '{}');
  const env = { ...process.env, CC: '/bin/false', CXX: '/bin/false' };
  const flags = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
  const code = await run('npm', ['install', ...flags, process.argv[2]], { cwd: folder, env });
  if (code !== 0) throw new Error('the package cannot be installed');
  await startOnce(folder);
  console.log(`${process.version} starts the packed server:\n${await startOnce(folder)}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
