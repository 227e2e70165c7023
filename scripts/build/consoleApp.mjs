/** Bundles the app of the console with all of its imports: browsers load nothing from other sites. */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';

/** The path of the app, below the folders of sources and of the build. */
export const CONSOLE_APP = join('plugins', 'console', 'app');
/** The maximum size of the first load, in compressed bytes. */
export const FIRST_LOAD_BYTES = 300 * 1024;

const hashOf = text => createHash('sha256').update(text).digest('hex').slice(0, 10);

/** The style sheets of the app as one: the tokens first, then the others in `style`, then the rest. */
function styleOf(app, root) {
  const sheets = readdirSync(app, { recursive: true })
    .filter(name => name.endsWith('.css'))
    .map(name => name.split('\\').join('/'))
    .sort();
  const rank = name => ['style/tokens.css', 'style/base.css'].indexOf(name) + 1 || (name.startsWith('style/') ? 3 : 4);
  const ordered = sheets.sort((a, b) => rank(a) - rank(b)).map(name => readFileSync(join(app, name), 'utf8'));
  const charts = readFileSync(join(root, 'node_modules', 'uplot', 'dist', 'uPlot.min.css'), 'utf8');
  return [charts, ...ordered].join('\n');
}

/** The chunks that the page loads before it shows anything: the entry, and its static imports. */
function firstChunks(output) {
  const byName = new Map(output.map(chunk => [chunk.fileName, chunk]));
  const first = new Set();
  const add = name => {
    if (first.has(name)) return;
    first.add(name);
    for (const imported of byName.get(name)?.imports ?? []) add(imported);
  };
  for (const chunk of output) if (chunk.isEntry) add(chunk.fileName);
  return [...first].map(name => byName.get(name));
}

/** The licences of the bundled packages. */
function licencesOf(output) {
  const modules = output.flatMap(({ modules = {} }) => Object.keys(modules));
  const folders = modules.map(id => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id.split('\\').join('/'))?.[0]);
  const packages = [...new Set(folders)].filter(folder => folder !== undefined).sort();
  return packages
    .map(folder => {
      const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      const file = readdirSync(folder).find(found => /^(licen[cs]e|copying)/i.test(found));
      return `${name} ${version}: ${license}\n\n${file ? readFileSync(join(folder, file), 'utf8').trim() : ''}\n`;
    })
    .join('\n');
}

/**
 * Writes the app to `out`: the page, and files whose names contain a hash of their content. Throws if the first load is
 * larger than FIRST_LOAD_BYTES, or if one of its chunks has a package that must be loaded later.
 */
export async function bundleConsole(root, out) {
  const app = join(root, CONSOLE_APP);
  const bundled = await rolldown({
    input: { main: join(app, 'main.tsx') },
    platform: 'browser',
    tsconfig: join(app, 'tsconfig.json'),
    resolve: { extensionAlias: { '.js': ['.tsx', '.ts', '.js'] } },
  });
  const { output } = await bundled.write({
    dir: join(out, 'assets'),
    format: 'esm',
    minify: true,
    entryFileNames: '[name]-[hash].js',
    chunkFileNames: '[name]-[hash].js',
    comments: false,
  });
  await bundled.close();
  const style = styleOf(app, root);
  const styleName = `style-${hashOf(style)}.css`;
  const first = firstChunks(output);
  const page = readFileSync(join(app, 'index.html'), 'utf8')
    .replace('href="style.css"', `href="/console/assets/${styleName}"`)
    .replace('href="icon.svg"', 'href="/console/icon.svg"')
    .replace('src="main.js"', `src="/console/assets/${first[0].fileName}"`);
  const bytes = [page, style, ...first.map(({ code }) => code)].reduce((sum, text) => sum + gzipSync(text).length, 0);
  if (bytes > FIRST_LOAD_BYTES)
    throw new Error(`the first load of the console has ${bytes} bytes: at most ${FIRST_LOAD_BYTES}; import() the rest`);
  const early = first.flatMap(({ modules = {} }) => Object.keys(modules)).find(id => /codemirror|uplot/i.test(id));
  if (early) throw new Error(`the console loads ${early} at first: only pages that need it may import it`);
  mkdirSync(join(out, 'assets'), { recursive: true });
  writeFileSync(join(out, 'assets', styleName), style);
  writeFileSync(join(out, 'index.html'), page);
  writeFileSync(join(out, 'icon.svg'), readFileSync(join(app, 'icon.svg')));
  writeFileSync(join(out, 'licences.txt'), licencesOf(output));
  return { bytes };
}

if (process.argv[1] === import.meta.filename) {
  const root = dirname(dirname(import.meta.dirname));
  const { bytes } = await bundleConsole(root, join(root, 'dist', CONSOLE_APP));
  console.error(`console: ${bytes} bytes at first`);
}
