/**
 * `npm run lint`: checks format and style of the sources: Biome, and the rules of this project. Ends with 1 and
 * a line for each violation.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { root, run } from '../project.mjs';
import { faultsIn } from './style.mjs';

/** The files with this extension in these folders. */
const sourcesIn = (extension, ...folders) =>
  folders.flatMap(folder =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter(name => name.endsWith(extension) && !/node_modules|[\\/]dist[\\/]/.test(name))
      .map(name => {
        const path = posix.join(folder, ...name.split(/[\\/]/));
        return { path, text: readFileSync(join(root, path), 'utf8') };
      }),
  );

const requirements = readFileSync(join(root, 'docs', 'reference', 'requirements.tsv'), 'utf8').split('\n');
const sections = new Set(requirements.map(row => row.split('\t')[1]));
const biome = join(root, 'node_modules', '@biomejs', 'biome', 'bin', 'biome');
const code = await run(process.execPath, [biome, 'check', '.']);
const sources = [
  ...sourcesIn('.ts', 'core', 'plugins', 'workers', 'test', 'bench', 'examples'),
  ...sourcesIn('.tsx', 'plugins'),
];
const faults = faultsIn(sources, sourcesIn('.mjs', 'scripts'), sections);
for (const line of faults) console.error(line);
process.exitCode = code !== 0 || faults.length > 0 ? 1 : 0;
