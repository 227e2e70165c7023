/** What the scripts share: where things are, whether they are stale, and how to run a program. */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
const SOURCES = ['core', 'plugins', 'workers', 'bench', 'test', 'examples'];

/** Runs a program with our terminal, forwards signals to it, and resolves with its exit code. */
export function run(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, stdio: 'inherit', ...options });
    const forward = signal => child.kill(signal);
    process.on('SIGINT', forward);
    process.on('SIGTERM', forward);
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      process.off('SIGINT', forward);
      process.off('SIGTERM', forward);
      resolve(code ?? (signal === 'SIGINT' ? 130 : signal === 'SIGTERM' ? 143 : 1));
    });
  });
}

const modified = file => (existsSync(file) ? statSync(file).mtimeMs : 0);

/** When the newest file below these paths changed. */
function newest(paths) {
  let latest = 0;
  for (const path of paths) {
    if (!existsSync(path)) continue;
    const found = statSync(path);
    latest = Math.max(latest, found.mtimeMs);
    if (found.isDirectory() && !path.endsWith('results'))
      latest = Math.max(latest, newest(readdirSync(path).map(name => join(path, name))));
  }
  return latest;
}

/** Runs a step; its failure ends the script with the step's exit code. */
async function step(command, args) {
  const code = await run(command, args);
  if (code !== 0) process.exit(code);
}

/** Installs what package-lock.json names, if node_modules is older than it. */
export async function install() {
  const installed = modified(join(root, 'node_modules', '.package-lock.json'));
  if (installed >= modified(join(root, 'package-lock.json')) && installed > 0) return;
  // Not `npm ci`: it wants every platform's binary in the lock file, and registries do not all offer those of every
  // platform.
  await step('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error']);
}

/** As old as the last complete build. Not the compiler's own record, which a check of types alone writes, too. */
const stamp = join(root, 'dist', '.built');

/** Compiles, if a source is newer than the last build. */
export async function build() {
  const built = modified(stamp);
  const settings = ['tsconfig.json', 'package-lock.json'].map(name => join(root, name));
  if (built > 0 && newest([...SOURCES.map(name => join(root, name)), ...settings]) <= built) return;
  // What changes meanwhile is newer than this build.
  const began = new Date();
  await step(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', 'tsconfig.json']);
  await assets();
  writeFileSync(stamp, '');
  utimesSync(stamp, began, began);
}

/** Files that the compiler leaves out but the program reads. */
async function assets() {
  const { cpSync } = await import('node:fs');
  for (const folder of ['core', 'plugins', 'workers']) {
    cpSync(join(root, folder), join(root, 'dist', folder), {
      recursive: true,
      filter: path => statSync(path).isDirectory() || /\.(proto|tsv|txt|gz)$/.test(path),
    });
  }
}
