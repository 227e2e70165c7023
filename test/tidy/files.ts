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
  /** The imported modules that are loaded before the file runs: all except `import type` and `import()`. */
  readonly loads: readonly string[];
}

function modulesIn(path: string, text: string, statement: RegExp): string[] {
  const named = [...text.matchAll(statement)].map(match => match[1]!);
  return named.map(name =>
    name.startsWith('.') ? normalize(join(dirname(path), name)).replace(/\.js$/, '.ts') : name,
  );
}

const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*'([^']+)'/g;
/** The compiler keeps a statement in which all names have a `type` modifier, but without the names. */
const LOADING_IMPORT = /^(?:import|export)\s+(?!type\s)(?:[^;']*?\sfrom\s*)?'([^']+)'/gm;

/** The modules that a file with this text loads. */
export const loadedBy = (path: string, text: string): string[] => modulesIn(path, text, LOADING_IMPORT);

/** The TypeScript files in these folders. */
export function sourcesIn(...folders: readonly string[]): Source[] {
  return folders.flatMap(folder =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter(name => name.endsWith('.ts'))
      .map(name => {
        const path = relative(root, join(root, folder, name));
        const text = readFileSync(join(root, path), 'utf8');
        return { path, text, imports: modulesIn(path, text, IMPORT), loads: loadedBy(path, text) };
      }),
  );
}
