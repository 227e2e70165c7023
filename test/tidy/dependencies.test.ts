import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { appSources, type Source, sourcesIn } from './files.js';

type Versions = Readonly<Record<string, string>>;
const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'));
const manifest = read('package.json');
const { devDependencies }: { devDependencies: Versions } = manifest;
/** Dependencies that users of the package install. */
const dependencies: Versions = { ...manifest.dependencies, ...manifest.optionalDependencies };
/** Packages that the build bundles, so that users do not install them. */
const { PACKAGES: bundled } = (await import(new URL('../../scripts/build/bundle.mjs', import.meta.url).href)) as {
  PACKAGES: readonly string[];
};
/** Packages that the scripts use, and types that are used without an import. */
const TOOLS = [
  '@biomejs/biome',
  '@types/node',
  '@types/snappyjs',
  '@types/ws',
  'rolldown',
  'typedoc',
  'typedoc-plugin-markdown',
  'typescript',
  'vitepress',
];
const SHIPPED = ['core', 'plugins', 'workers'];
/** Packages that were chosen deliberately for this project, and the place where each is used. */
const CHOSEN: { readonly [name: string]: readonly string[] } = {
  piscina: ['workers'],
  '@uwsjs/core': ['plugins'],
  protobufjs: ['core'],
  rocksdb: ['plugins'],
  jose: SHIPPED,
  'cbor-x': ['core'],
  msgpackr: ['core'],
  'cel-js': ['bench'],
  tinybench: ['bench'],
  vitest: ['test'],
};
/**
 * Packages that run a program when they are installed, and its effect. It runs with the rights of the user who installs
 * this project: examine the program of a new package before you add it here.
 */
const INSTALL_SCRIPTS: { readonly [path: string]: string } = {
  'node_modules/@grpc/proto-loader/node_modules/protobufjs': 'postinstall: warns about versions that do not match',
};
/** The packages that modules in these folders import; `@scope/name/file` is returned as `@scope/name`. */
const namedIn = (folders: readonly string[]): Set<string> => namedBy(sourcesIn(...folders));

function namedBy(sources: readonly Source[]): Set<string> {
  const required = (text: string): string[] =>
    [...text.matchAll(/[rR]equire(?:\([^)]*\))?\('([^']+)'\)/g)].map(match => match[1]!);
  const modules = sources.flatMap(({ imports, text }) => [...imports, ...required(text)]);
  return new Set(modules.map(name => name.split('/', name.startsWith('@') ? 2 : 1).join('/')));
}

describe('dependencies', () => {
  it('are all used, by shipped code or for development', () => {
    const shipped = namedIn(SHIPPED);
    expect(Object.keys(dependencies).filter(name => !shipped.has(name))).toEqual([]);
    // The app of the console is bundled with all of its imports.
    const used = new Set([...namedIn([...SHIPPED, 'bench', 'test', 'examples']), ...namedBy(appSources())]);
    expect(Object.keys(devDependencies).filter(name => !used.has(name) && !TOOLS.includes(name))).toEqual([]);
  });

  it('of development are not imported by shipped code, unless they are bundled', () => {
    const developing = [...namedIn(SHIPPED)].filter(name => Object.hasOwn(devDependencies, name));
    expect(developing.filter(name => !bundled.includes(name))).toEqual([]);
  });

  it('include every package that was chosen deliberately', () => {
    const installed = { ...dependencies, ...devDependencies };
    const isUsed = ([name, folders]: [string, readonly string[]]): boolean =>
      installed[name] !== undefined && namedIn(folders).has(name);
    const unused = Object.entries(CHOSEN).filter(chosen => !isUsed(chosen));
    expect(unused.map(([name]) => name)).toEqual([]);
  });

  it('run only known programs when they are installed, none of which compiles or downloads', () => {
    const { packages }: { packages: Record<string, { hasInstallScript?: boolean }> } = read('package-lock.json');
    const running = Object.keys(packages).filter(path => packages[path]!.hasInstallScript);
    expect(running.sort()).toEqual(Object.keys(INSTALL_SCRIPTS).sort());
  });

  it('are pinned to the versions in the lock file', () => {
    const { packages } = read('package-lock.json');
    // An alias names the package as well: npm:name@version.
    for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies }))
      expect([name, packages[`node_modules/${name}`]?.version]).toEqual([name, version.replace(/^npm:.*@/, '')]);
  });
});
