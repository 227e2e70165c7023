import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The app of the console, which runs in browsers. */
export const APP = 'plugins/console/app/';

const root = normalize(join(dirname(fileURLToPath(import.meta.url)), '..', '..'));

/** A source file, with its path in the project. */
export interface Source {
  readonly path: string;
  readonly text: string;
  /** Imported modules: files of the project by path, packages by name. */
  readonly imports: readonly string[];
  /**
   * The imported modules without which the file neither compiles nor runs: imports of types as well, but not
   * `import()`.
   */
  readonly needs: readonly string[];
}

function modulesIn(path: string, text: string, statement: RegExp): string[] {
  const named = [...text.matchAll(statement)].map(match => (match[1] ?? match[2])!);
  return named.map(name => (name.startsWith('.') ? sourceOf(normalize(join(dirname(path), name))) : name));
}

/** The source of a module: components of the app of the console are in TSX. */
function sourceOf(path: string): string {
  const [plain, component] = ['.ts', '.tsx'].map(extension => path.replace(/\.js$/, extension)) as [string, string];
  return path.startsWith(APP) && existsSync(join(root, component)) ? component : plain;
}

const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*'([^']+)'/g;
const STATEMENT = /^(?:import|export)\s+(?:[^;']*?\sfrom\s*)?'([^']+)'/gm;
/** A type of a module, such as `import('./a.js').A`. */
const TYPE = /(?:\btypeof\s+import\('([^']+)'\)|\bimport\('([^']+)'\)\.(?!then\b|catch\b|finally\b))/g;

/** The modules that a file with this text imports. */
export const neededBy = (path: string, text: string): string[] =>
  [STATEMENT, TYPE].flatMap(pattern => modulesIn(path, text, pattern));

const filesIn = (folder: string, isSource: (path: string) => boolean): Source[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map(name => relative(root, join(root, folder, name)))
    .filter(isSource)
    .map(path => {
      const text = readFileSync(join(root, path), 'utf8');
      return { path, text, imports: modulesIn(path, text, IMPORT), needs: neededBy(path, text) };
    });

/** The TypeScript files in these folders that run in Node.js. */
export const sourcesIn = (...folders: readonly string[]): Source[] =>
  folders.flatMap(folder => filesIn(folder, path => path.endsWith('.ts') && !path.startsWith(APP)));

/** The TypeScript files of the app of the console. */
export const appSources = (): Source[] => filesIn(APP, path => /\.tsx?$/.test(path));
