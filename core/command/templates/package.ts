import type { PointTemplate } from './shared.js';

/** Versions of the tools with which new packages are developed. */
export const TOOLS = { '@types/node': '20.19.43', typescript: '5.9.3' } as const;

/** The commands of a package manager. */
export interface PackageManager {
  readonly install: string;
  readonly test: string;
  readonly pack: string;
}

/** The package managers, by the names in the environment of the programs that they run. */
export const PACKAGE_MANAGERS = {
  npm: { install: 'npm install', test: 'npm test', pack: 'npm pack' },
  // Without the flag, it fails until the user decides about the scripts of dependencies. None is needed.
  pnpm: { install: 'pnpm install --ignore-scripts', test: 'pnpm test', pack: 'pnpm pack' },
  yarn: { install: 'yarn install', test: 'yarn test', pack: 'yarn pack' },
} as const satisfies { readonly [name: string]: PackageManager };

/** The name of a new package, and the source of Capstan. */
export interface PackageFacts {
  /** Name of the package and of the plugin. */
  readonly name: string;
  /**
   * Versions of Capstan that it works with, for `peerDependencies`. The server itself refuses a plugin for another
   * version of the interface, which a new version of Capstan need not have.
   */
  readonly capstan: string;
  /** The source of Capstan for development: a version, or a file. */
  readonly source: string;
  readonly manager: PackageManager;
}

const json = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`;

const readme = (name: string, config: string, { install, test, pack }: PackageManager): string => `# ${name}
A plugin for Capstan.

\`\`\`sh
${install}
${test}    # builds and tests it, also in a server
${pack}    # writes the tarball to install beside a configuration file
\`\`\`

In the configuration of the server:
\`\`\`yaml
plugins:
  - use: '${name}'
    config: ${config}
\`\`\`
`;

/** The files of a new package by path. */
export function packageFiles(
  { name, capstan, source, manager }: PackageFacts,
  point: PointTemplate,
): Map<string, string> {
  const manifest = {
    name,
    version: '0.1.0',
    description: 'A plugin for Capstan.',
    type: 'module',
    exports: { '.': { types: './dist/src/index.d.ts', default: './dist/src/index.js' } },
    files: ['dist/src'],
    scripts: { build: 'tsc', test: 'tsc && node --test dist/test/index.test.js', prepack: 'tsc' },
    engines: { node: '>=20.19' },
    peerDependencies: { capstan },
    devDependencies: { ...TOOLS, capstan: source },
  };
  const compilerOptions = {
    target: 'es2023',
    // Without the types of browsers, which are in the default and take the compiler longer than everything else.
    lib: ['es2023'],
    module: 'nodenext',
    strict: true,
    declaration: true,
    skipLibCheck: true,
    types: ['node'],
    rootDir: '.',
    outDir: 'dist',
  };
  return new Map([
    ['package.json', json(manifest)],
    ['tsconfig.json', json({ compilerOptions, include: ['src', 'test'] })],
    ['.gitignore', 'node_modules\ndist\n*.tgz\n'],
    ['README.md', readme(name, point.config, manager)],
    ['src/index.ts', point.source(name)],
    ['test/index.test.ts', point.test],
  ]);
}
