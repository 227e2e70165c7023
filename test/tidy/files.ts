import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = normalize(join(dirname(fileURLToPath(import.meta.url)), '..', '..'));

/** A source file, with its path in the project. */
export interface Source {
  readonly path: string;
  readonly text: string;
  /** Imported modules: files of the project by path, packages by name. */
  readonly imports: readonly string[];
  /** The imported modules without which the file neither compiles nor runs: types as well, but not `import()`. */
  readonly needs: readonly string[];
}

function modulesIn(path: string, text: string, statement: RegExp): string[] {
  const named = [...text.matchAll(statement)].map(match => (match[1] ?? match[2])!);
  return named.map(name =>
    name.startsWith('.') ? normalize(join(dirname(path), name)).replace(/\.js$/, '.ts') : name,
  );
}

const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*'([^']+)'/g;
const STATEMENT = /^(?:import|export)\s+(?:[^;']*?\sfrom\s*)?'([^']+)'/gm;
/** A type of a module, such as `import('./a.js').A`. */
const TYPE = /(?:\btypeof\s+import\('([^']+)'\)|\bimport\('([^']+)'\)\.(?!then\b|catch\b|finally\b))/g;

/** The modules that a file with this text needs. */
export const neededBy = (path: string, text: string): string[] =>
  [STATEMENT, TYPE].flatMap(pattern => modulesIn(path, text, pattern));

/** The TypeScript files in these folders. */
export function sourcesIn(...folders: readonly string[]): Source[] {
  return folders.flatMap(folder =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter(name => name.endsWith('.ts'))
      .map(name => {
        const path = relative(root, join(root, folder, name));
        const text = readFileSync(join(root, path), 'utf8');
        return { path, text, imports: modulesIn(path, text, IMPORT), needs: neededBy(path, text) };
      }),
  );
}
