/** Functions that several scripts use: install and build if stale, and run a program. */
import { spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** Folders of sources. */
export const SOURCES = ['core', 'kinds', 'plugins', 'workers', 'bench', 'test', 'examples'];

/** The compiler of TypeScript. */
export const TYPESCRIPT = join(root, 'node_modules', 'typescript', 'bin', 'tsc');

/** Runs a program in this terminal, forwards signals to it, and resolves with its exit code. */
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

/** The text of a file that a step has written; undefined if it does not exist. */
const recorded = file => (existsSync(file) ? readFileSync(file, 'utf8') : undefined);
const modified = file => (existsSync(file) ? statSync(file).mtimeMs : 0);

/**
 * The modification time of the newest file below these paths, in whole milliseconds: the time of a build is not more
 * precise, and the last type of a kind is often written in the millisecond in which the build begins.
 */
function newest(paths) {
  let latest = 0;
  for (const path of paths) {
    if (!existsSync(path)) continue;
    const found = statSync(path);
    latest = Math.max(latest, Math.floor(found.mtimeMs));
    if (found.isDirectory() && !path.endsWith('results'))
      latest = Math.max(latest, newest(readdirSync(path).map(name => join(path, name))));
  }
  return latest;
}

/** Announces a long step on standard error. Output is for other programs. */
const say = text => void process.stderr.write(`${text}\n`);

/** Runs a step. If it fails, the script ends with its exit code. */
async function step(command, args) {
  const code = await run(command, args);
  if (code !== 0) process.exit(code);
}

/**
 * The file with the major version of Node.js for which node_modules was installed: some packages have a binary for
 * each.
 */
const installedFor = join(root, 'node_modules', '.installed-for');

/** Installs the packages of package-lock.json, if node_modules is older than it, or for another version of Node.js. */
export async function install() {
  const installed = modified(join(root, 'node_modules', '.package-lock.json'));
  const major = process.versions.node.split('.')[0];
  const isNew = installed > 0 && installed >= modified(join(root, 'package-lock.json'));
  if (isNew && recorded(installedFor) === major) return;
  say('installing dependencies …');
  // Not `npm ci`: it requires the binaries of every platform in the lock file, and not all registries offer those of
  // every platform.
  await step('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error']);
  writeFileSync(installedFor, major);
}

/**
 * A file whose time is that of the last complete build, and whose text names the program for which the code caches are.
 * The compiler's own record is also written by type checks.
 */
const stamp = join(root, 'dist', '.built');
/** The folder that the compiler writes. */
const compiled = join(root, 'dist', 'modules');

/** Compiles and bundles if a source is newer than the last build. Creates code caches for this version of Node.js. */
export async function build() {
  const built = modified(stamp);
  const settings = ['tsconfig.json', 'package-lock.json', 'scripts/project.mjs', 'scripts/build'].map(name =>
    join(root, name),
  );
  const isNew = built > 0 && newest([...SOURCES.map(name => join(root, name)), ...settings]) <= built;
  const program = `${process.version} ${process.arch}`;
  if (isNew && recorded(stamp) === program) return;
  say(
    isNew ? 'making code caches for this Node.js …' : 'building (half a minute, only after changes): types of kinds …',
  );
  const { writeKindTypes } = await import('./build/kindTypes.mjs');
  if (!isNew) await writeKindTypes();
  // The time of the build is its beginning, so that files that change during the build are newer.
  const began = isNew ? new Date(built) : new Date();
  if (!isNew) {
    removeOrphans();
    say('compiling …');
    await step(process.execPath, [TYPESCRIPT, '-p', 'tsconfig.json']);
    say('bundling, and making code caches …');
    await assemble();
  }
  const { makeCodeCache } = await import('./build/codeCache.mjs');
  await makeCodeCache(join(root, 'dist'));
  writeFileSync(stamp, program);
  utimesSync(stamp, began, began);
}

/** Removes the output of the compiler for removed sources: it may import modules that are removed as well. */
function removeOrphans() {
  for (const folder of SOURCES.filter(name => existsSync(join(compiled, name))))
    for (const name of readdirSync(join(compiled, folder), { recursive: true })) {
      const source = name.match(/^(.*?)(?:\.d)?\.[jt]s$/)?.[1];
      if (source !== undefined && !existsSync(join(root, folder, `${source}.ts`))) rmSync(join(compiled, folder, name));
    }
}

/**
 * Creates the folders of dist: bundled modules with the types that the compiler has written and the files that it omits
 * but the program reads, and the compiled tests, benches and examples.
 */
async function assemble() {
  const { bundle, BUNDLED } = await import('./build/bundle.mjs');
  const { bundleConsole, CONSOLE_APP } = await import('./build/consoleApp.mjs');
  const made = join(root, 'dist', 'new');
  rmSync(made, { recursive: true, force: true });
  await bundle(compiled, made);
  const copy = (from, folder, files) =>
    cpSync(join(from, folder), join(made, folder), {
      recursive: true,
      filter: path => !path.endsWith(CONSOLE_APP) && (statSync(path).isDirectory() || files.test(path)),
    });
  for (const folder of BUNDLED) {
    copy(compiled, folder, /\.d\.ts$/);
    copy(root, folder, /\.(proto|tsv|txt|gz)$/);
  }
  for (const folder of SOURCES.filter(name => !BUNDLED.includes(name))) copy(compiled, folder, /./);
  await bundleConsole(root, join(made, CONSOLE_APP));
  for (const folder of readdirSync(made)) {
    rmSync(join(root, 'dist', folder), { recursive: true, force: true });
    renameSync(join(made, folder), join(root, 'dist', folder));
  }
  rmSync(made, { recursive: true });
}
