import type { PointTemplate } from './points.js';

/** Versions of what new packages are developed with. */
export const TOOLS = { '@types/node': '20.19.43', typescript: '5.9.3' } as const;

/** The name of a new package, and where it gets Capstan from. */
export interface PackageFacts {
  /** Name of the package and of the plugin. */
  readonly name: string;
  /** Version of Capstan that it needs, for `peerDependencies`. */
  readonly capstan: string;
  /** Where Capstan is installed from for development: a version, or a file. */
  readonly source: string;
}

const json = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`;

const readme = (name: string, config: string): string => `# ${name}
A plugin for Capstan.

\`\`\`sh
npm install
npm test         # builds and tests it, also in a server
npm pack         # writes the tarball to install beside a configuration file
\`\`\`

In the configuration of the server:
\`\`\`yaml
plugins:
  - use: '${name}'
    config: ${config}
\`\`\`
`;

/** The files of a new package by path. */
export function packageFiles({ name, capstan, source }: PackageFacts, point: PointTemplate): Map<string, string> {
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
    ['README.md', readme(name, point.config)],
    ['src/index.ts', point.source(name)],
    ['test/index.test.ts', point.test],
  ]);
}
