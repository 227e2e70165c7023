/**
 * `npm run test:node -- 24 [vitest arguments]`: the tests under another version of Node.js, as on a machine that has no
 * other one. The program comes from the registry; a copy of the project is installed and built with it. Without
 * arguments, the tests of all that depends on the version.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { root, run } from './project.mjs';

/** The tested release of each major version that the project supports. */
const RELEASES = { 20: '20.19.6', 22: '22.23.3', 24: '24.21.0', 26: '26.10.0' };
/** Tests of what uses native code, threads, V8 and TLS. */
const DEPENDENT = [
  'test/clients',
  'test/conformance',
  'test/listener',
  'test/packages/packages.test.ts',
  'test/server',
  'test/storage',
  'test/threads',
];
/** Where programs and copies are; neither the project nor its packages have them. */
const CACHE = join(root, 'node_modules', '.cache', 'node');
/** What a copy has of its own. */
const OWN = ['.git', 'dist', 'node_modules'];

/** The package with a program for this platform. It holds the program itself, so that no script needs to get it. */
function packageName() {
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  return `node-${platform === 'darwin' && process.arch === 'arm64' ? 'bin-darwin' : platform}-${process.arch}`;
}

/** The folder of the program of a release, which is installed if it is not there. */
async function programOf(release) {
  const name = packageName();
  const folder = join(CACHE, release);
  const bin = join(folder, 'node_modules', name, 'bin');
  if (existsSync(bin)) return bin;
  mkdirSync(folder, { recursive: true });
  const flags = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];
  const code = await run('npm', ['install', `--prefix=${folder}`, ...flags, `${name}@${release}`]);
  if (code !== 0) process.exit(code);
  return bin;
}

/** Makes a copy of the project like its working tree, except for what was installed and built in the copy before. */
function copyProject(copy) {
  mkdirSync(copy, { recursive: true });
  for (const name of readdirSync(copy)) if (!OWN.includes(name)) rmSync(join(copy, name), { recursive: true });
  for (const name of readdirSync(root).filter(found => !OWN.includes(found)))
    cpSync(join(root, name), join(copy, name), { recursive: true, preserveTimestamps: true });
}

const [version, ...files] = process.argv.slice(2);
const release = RELEASES[version] ?? version;
if (!/^\d+\.\d+\.\d+$/.test(release ?? '')) {
  console.error(`usage: npm run test:node -- ${Object.keys(RELEASES).join('|')}|VERSION [vitest arguments]`);
  process.exit(2);
}
const bin = await programOf(release);
const copy = join(CACHE, release, 'project');
copyProject(copy);
const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
console.log(`Node.js ${release}`);
process.exitCode = await run(
  join(bin, 'node'),
  [join(copy, 'scripts', 'test.mjs'), ...(files.length > 0 ? files : DEPENDENT)],
  { cwd: copy, env },
);
