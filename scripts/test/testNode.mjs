/**
 * `npm run test:node -- 24 [vitest arguments]`: runs the tests with another version of Node.js, as on a machine that
 * has no other version. The program is installed from the registry; a copy of the project is installed and built with
 * it. Without arguments, it runs the tests of all code that depends on the version, and starts the package that the
 * running version packs.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { build, root, run } from '../project.mjs';

/** The tested release of each major version that the project supports. */
const RELEASES = { 20: '20.19.6', 22: '22.23.3', 24: '24.21.0', 26: '26.10.0' };
/**
 * Tests of native code, threads, V8 and TLS. Those of kubectl and of damaged stores are not included: they
 * have the same results with every version, since the listeners and the binding of RocksDB have their own tests.
 */
const DEPENDENT = [
  'test/clients/clientNode.test.ts',
  'test/examples/controller.test.ts',
  'test/examples/examples.test.ts',
  'test/listener/listener.test.ts',
  'test/listener/uwsBinary.test.ts',
  'test/packages/vitest.test.ts',
  'test/plugins/typescript.test.ts',
  'test/server/codeCache.test.ts',
  'test/server/crash.test.ts',
  'test/server/library.test.ts',
  'test/server/listeningThreads.test.ts',
  'test/server/renewedCertificates.test.ts',
  'test/server/warnings.test.ts',
  'test/storage/rocksdb.test.ts',
  'test/storage/rocksdbBinding.test.ts',
  'test/threads',
];
/** The folder of programs and copies. Below node_modules, vitest would treat the sources of the copies as packages. */
const FOLDER = join(root, 'dist', 'node');
/** Files that each copy has separately. */
const OWN = ['.git', 'dist', 'node_modules'];
/** Entries of `dist` that are not part of the build. */
const NOT_BUILT = /^(?:node|packed|site|test-.*)$/;

/**
 * The package with a program for this platform. It contains the program itself, so that no script needs to download it.
 */
function packageName() {
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  return `node-${platform === 'darwin' && process.arch === 'arm64' ? 'bin-darwin' : platform}-${process.arch}`;
}

/** The folder of the program of a release, which is installed if it does not exist. */
async function programOf(release) {
  const name = packageName();
  const folder = join(FOLDER, release);
  const bin = join(folder, 'node_modules', name, 'bin');
  if (existsSync(bin)) return bin;
  mkdirSync(folder, { recursive: true });
  const flags = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];
  const code = await run('npm', ['install', `--prefix=${folder}`, ...flags, `${name}@${release}`]);
  if (code !== 0) process.exit(code);
  return bin;
}

/**
 * Creates or updates a copy of the working tree; packages that are installed in the copy are kept. The
 * output of the compiler and the bundler does not depend on the version, so the copy gets the build, and creates its
 * own code caches. With the newest version it builds everything itself, because the build must work there as well.
 */
async function copyProject(copy, buildsItself) {
  await build();
  mkdirSync(copy, { recursive: true });
  const kept = buildsItself ? OWN : OWN.filter(name => name !== 'dist');
  for (const name of readdirSync(copy)) if (!kept.includes(name)) rmSync(join(copy, name), { recursive: true });
  for (const name of readdirSync(root).filter(found => !OWN.includes(found)))
    cpSync(join(root, name), join(copy, name), { recursive: true, preserveTimestamps: true });
  const built = buildsItself ? ['modules'] : readdirSync(join(root, 'dist')).filter(name => !NOT_BUILT.test(name));
  for (const name of built)
    cpSync(join(root, 'dist', name), join(copy, 'dist', name), { recursive: true, preserveTimestamps: true });
  // The folders of the copy are newer than the build, but the files are not.
  const now = new Date();
  if (!buildsItself) utimesSync(join(copy, 'dist', '.built'), now, now);
}

const [version, ...files] = process.argv.slice(2);
const release = RELEASES[version] ?? version;
if (!/^\d+\.\d+\.\d+$/.test(release ?? '')) {
  console.error(`usage: npm run test:node -- ${Object.keys(RELEASES).join('|')}|VERSION [vitest arguments]`);
  process.exit(2);
}

const folder = join(FOLDER, release);
const bin = await programOf(release);
const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
const withRelease = (...args) => run(join(bin, 'node'), args, { cwd: join(folder, 'project'), env });

/**
 * Packs the package with the running version, unless this has been done for another release since the build, and starts
 * it with the release. Returns its exit code.
 */
async function startPacked() {
  const { name, version: own } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const tarball = join(FOLDER, `${name}-${own}.tgz`);
  const isPacked = existsSync(tarball) && statSync(tarball).mtimeMs > statSync(join(root, 'dist', '.built')).mtimeMs;
  const packing = ['pack', '--ignore-scripts', '--silent', `--pack-destination=${FOLDER}`];
  return (isPacked ? 0 : await run('npm', packing)) || (await withRelease('scripts/test/startPacked.mjs', tarball));
}

await copyProject(join(folder, 'project'), version === Object.keys(RELEASES).at(-1));
console.log(`Node.js ${release}`);
const code = await withRelease('scripts/test.mjs', ...(files.length > 0 ? files : DEPENDENT));
process.exitCode = code || (files.length > 0 ? 0 : await startPacked());
