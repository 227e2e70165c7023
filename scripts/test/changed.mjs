/**
 * The tests that a change affects, for `npm test -- --changed`. A test depends on the files that it imports, directly
 * and through other modules. Tests of a running server import the build: they depend on the folders that SUBJECTS names
 * for them.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { root, SOURCES } from '../project.mjs';

/** Folders of tests whose servers are affected by a change below a path. The first path that matches counts. */
const SUBJECTS = [
  [/^plugins\/kinds\//, ['kinds', 'tables', 'apply']],
  [/^plugins\/admission\//, ['admission']],
  [/^plugins\/auth[nz]\//, ['access', 'authn', 'authz']],
  [/^plugins\/console\//, ['console', 'testing']],
  [/^plugins\/controllers\//, ['controllers', 'control']],
  [/^plugins\/listener\//, ['listener', 'conformance', 'api', 'server']],
  [/^plugins\/storage\//, ['storage', 'conformance', 'server']],
  [/^workers\/control\//, ['control', 'controllers', 'plugins']],
  [/^workers\/pool\//, ['pool', 'api', 'apply', 'admission', 'access', 'custom']],
  [/^workers\/writer\//, ['storage', 'api', 'server', 'threads']],
  [/^workers\/front\//, ['front', 'api', 'access', 'server', 'listener']],
  [/^core\/(?:services\/)?(\w+)\//, ['api', 'server']],
];
/** Folders that tests of a running server depend on: the program, and the modules that it loads for them. */
const PROGRAM = /^(?:(?:core|plugins|workers|kinds)\/|test\/\w+\/fixtures\/).*\.tsx?$/;
/** The program, which loads commands on demand: SUBJECTS says which tests a change of a command affects. */
const MAIN = 'core/command/main.ts';
/** Changes of these may change every test. */
const ALL = /^(?:package(?:-lock)?\.json|tsconfig\.json|vitest\.config\.ts|scripts\/project\.mjs|scripts\/build\/.*)$/;

const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' });
const linesOf = text => text.split('\n').filter(line => line !== '');

/** The commit from which the branch started; on the main branch itself, the last commit. */
function baseOf() {
  try {
    return git('merge-base', 'HEAD', 'main').trim();
  } catch {
    return 'HEAD';
  }
}

/** Files that differ from a commit, also new ones. Throws if the commit does not exist. */
function changedFiles(base) {
  const others = git('ls-files', '--others', '--exclude-standard');
  return [...new Set([...linesOf(git('diff', '--name-only', base)), ...linesOf(others)])];
}

/** Imports of types, on which no running code depends. */
const TYPES = /\b(?:import|export) type [^;]*;|\btypeof import\([^)]*\)|\bimport\([^)]*\)\.[A-Z]/g;
const IMPORTED = /(?:\bfrom|\bimport|\bURL)\s*\(?\s*'(\.[^']+)'/g;
const BUILT = /'dist\/([^']+)'/g;

/** The paths to which a module refers: sources, and the built files of sources. */
function namedIn(path, text) {
  const named = [...text.replace(TYPES, '').matchAll(IMPORTED)].map(([, name]) =>
    posix.normalize(posix.join(posix.dirname(path), name)),
  );
  return [...named, ...Array.from(text.matchAll(BUILT), ([, name]) => name)].map(name => name.replace(/\.js$/, '.ts'));
}

/** All modules with the paths to which they refer, and whether they start a program from the build. */
export function modules() {
  const found = new Map();
  for (const folder of SOURCES.filter(name => existsSync(join(root, name))))
    for (const name of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })) {
      if (!name.endsWith('.ts')) continue;
      const path = posix.join(folder, ...name.split(/[\\/]/));
      const text = readFileSync(join(root, path), 'utf8');
      found.set(path, { named: namedIn(path, text), isBuiltUser: /'dist\/(?:core|plugins|workers)\//.test(text) });
    }
  return found;
}

/** The modules that a test needs; for a test of a running server, only those of the test itself. */
function neededBy(test, all) {
  const needed = new Set([test]);
  let usesBuild = false;
  for (const path of needed) {
    const { named, isBuiltUser } = all.get(path) ?? { named: [], isBuiltUser: false };
    if (path.startsWith('test/')) usesBuild ||= isBuiltUser;
    if (path === MAIN) continue;
    for (const name of named) if (all.has(name) || !name.endsWith('.ts')) needed.add(name);
  }
  return { needed, usesBuild };
}

/** Folders of tests whose servers are affected by a change of a file; undefined for all. */
function foldersFor(file) {
  const [, ...parts] = file.split('/');
  const own = parts.slice(0, -1).filter(name => existsSync(join(root, 'test', name)));
  const subject = SUBJECTS.find(([path]) => path.test(file));
  return subject ? [...own, ...subject[1]] : own.length > 0 ? own : undefined;
}

/** The test files that changes of these files affect: all tests for files on which all depend. */
export function testsFor(files, all = modules()) {
  const tests = [...all.keys()].filter(path => /^test\/.*\.test\.ts$/.test(path));
  if (files.some(file => ALL.test(file))) return tests;
  const found = files.filter(file => PROGRAM.test(file)).map(foldersFor);
  const isServed = test => found.some(folders => folders === undefined || folders.includes(test.split('/')[1]));
  return tests.filter(test => {
    const { needed, usesBuild } = neededBy(test, all);
    return files.some(file => needed.has(file)) || (usesBuild && isServed(test));
  });
}

/**
 * The test files that are affected by the changes since a commit, by default since the beginning of the branch. Throws
 * if the commit does not exist.
 */
export const changedTests = (base = baseOf()) => testsFor(changedFiles(base));
