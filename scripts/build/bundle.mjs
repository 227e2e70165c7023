/**
 * Bundles the compiled modules: loading a module takes Node.js longer than running it, and five threads load hundreds
 * of them at each start.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join, posix, relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { edited, splitChunk, urlsIn } from './splitChunk.mjs';

/** The folders whose modules are bundled. */
export const BUNDLED = ['core', 'plugins', 'workers'];
const CHUNKS = 'chunks';
/** The module with which chunks run their scripts; it is in their folder, so that they need nothing else. */
const RUNNER = 'core/chunk.js';
/**
 * Packages, or modules of them, that are bundled as well, with their dependencies. Most have dozens of small modules,
 * which several threads load. `cbor-x` and `msgpackr` would bring optional packages, which npm compiles if no
 * binary is available; the server does not use these.
 */
export const PACKAGES = [
  '@noble/ciphers',
  '@peculiar/x509',
  'cbor-x',
  'import-meta-resolve',
  'msgpackr',
  'prom-client',
  'protobufjs/minimal.js',
  'reflect-metadata',
  'snappyjs',
];
/** Modules with effects when they are loaded: they are kept separate, so that no other module loads them. */
const ENTRIES = {
  command: 'core/command/main.js',
  writer: 'workers/writer/main.js',
  pool: 'workers/pool/main.js',
  control: 'workers/control/main.js',
};

/**
 * The modules that each kind of thread loads first: its entry, and the plugins of a server with default settings. The
 * modules of `capstan/api` are separated as well.
 */
async function rootsIn(modules) {
  const roots = { ...Object.fromEntries(Object.entries(ENTRIES).map(([thread, path]) => [thread, [path]])) };
  roots.command.push('core/command/serve.js');
  roots.pool.push('workers/pool/runner.js');
  roots.front = ['core/server/start.js'];
  // Not a thread: plugins may have a copy of this interface, which must not load other modules.
  roots.api = ['core/api/index.js'];
  const load = path => import(pathToFileURL(join(modules, path)).href);
  const { builtInPlugins } = await load('core/server/plugins.js');
  const { DEFAULTS } = await load('core/server/settings.js');
  for (const { use, threads = Object.keys(ENTRIES) } of builtInPlugins(DEFAULTS))
    for (const thread of threads) roots[thread].push(relative(modules, fileURLToPath(use.replace(/#.*/, ''))));
  return roots;
}

/** The folder of the package that a module belongs to; undefined for modules of this one. */
const packageOf = id => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id.split(sep).join('/'))?.[0];

/** True if an import names a bundled package, or a module in it. */
const isBundled = name => PACKAGES.some(found => name === found || name.startsWith(`${found}/`));

/** True if an import remains one, of a package that is installed next to this one. */
const isExternal = (name, importer = '') =>
  isBuiltin(name) || (/^[^./]/.test(name) && !isBundled(name) && packageOf(importer) === undefined);

/** Writes the licences of the bundled packages. */
const licences = {
  name: 'licences',
  generateBundle(_, bundle) {
    const modules = Object.values(bundle).flatMap(({ modules = {} }) => Object.keys(modules));
    const packages = [...new Set(modules.map(packageOf))].filter(found => found !== undefined).sort();
    const textOf = folder => {
      const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      const file = readdirSync(folder).find(found => /^(licen[cs]e|copying)/i.test(found));
      return `${name} ${version}: ${license}\n\n${file ? readFileSync(join(folder, file), 'utf8').trim() : ''}\n`;
    };
    const source = packages.map(textOf).join('\n');
    this.emitFile({ type: 'asset', fileName: `${CHUNKS}/licences.txt`, source });
  },
};

/** Keeps the value of `import.meta.url` of a module: the files next to it are not next to its chunk. */
const ownUrls = pathOf => ({
  name: 'own-urls',
  transform(code, id) {
    if (!code.includes('import.meta.url') || packageOf(id) !== undefined) return null;
    return edited(
      code,
      urlsIn(this.parse(code)).map(node => [node, `ownUrl("${pathOf(id)}")`]),
    );
  },
  renderChunk: (code, { fileName }) =>
    code.replace(/\bownUrl\("([^"]+)"\)/g, (_, path) => {
      const between = posix.relative(posix.dirname(fileName), path);
      return `new URL(${JSON.stringify(between.startsWith('.') ? between : `./${between}`)}, import.meta.url).href`;
    }),
});

/**
 * Writes the modules of the folder `modules` to the folder `out`. Each has its file there, at the same path and with
 * the same exports, which come from a chunk if a server loads the module at its start. There is one chunk for each set
 * of threads: it has the modules that exactly these load. Thus a thread loads few files and no modules of others, and a
 * module is loaded once, whichever way it is imported.
 */
export async function bundle(modules, out) {
  const pathOf = id => relative(modules, id).split(sep).join('/');
  const names = BUNDLED.flatMap(folder =>
    readdirSync(join(modules, folder), { recursive: true })
      .filter(name => name.endsWith('.js'))
      .map(name => `${folder}/${name.split(sep).join('/')}`),
  );
  const roots = await rootsIn(modules);
  const own = id => Object.keys(roots).filter(thread => roots[thread].includes(pathOf(id)));
  const entries = new Set(Object.values(ENTRIES));
  const known = new Map();
  /** The threads that load a module at the start. */
  const threadsOf = (id, graph) => {
    let threads = known.get(id);
    if (threads === undefined) {
      const importers = [...graph.getModuleInfo(id).importers];
      threads = new Set([...own(id), ...importers.flatMap(importer => [...threadsOf(importer, graph)])]);
      known.set(id, threads);
    }
    return threads;
  };
  const chunkOf = (id, graph) => {
    const threads = threadsOf(id, graph);
    return threads.size === 0 || entries.has(pathOf(id)) ? null : [...threads].sort().join('-');
  };
  const bundled = await rolldown({
    input: Object.fromEntries(
      names.map(name => [name === RUNNER ? `${CHUNKS}/run` : name.replace(/\.js$/, ''), join(modules, name)]),
    ),
    platform: 'node',
    external: isExternal,
    treeshake: false,
    optimization: { inlineConst: false },
    preserveEntrySignatures: 'allow-extension',
    plugins: [ownUrls(pathOf), licences],
  });
  const { output } = await bundled.write({
    dir: out,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: `${CHUNKS}/[name].js`,
    comments: false,
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [{ name: chunkOf, debugName: 'threads' }],
    },
  });
  await bundled.close();
  const groups = new Set(Array.from(known.values(), threads => [...threads].sort().join('-')));
  for (const { fileName, name, code, modules = {} } of output) {
    if (!fileName.startsWith(CHUNKS) || !(groups.has(name) || Object.keys(modules).some(packageOf))) continue;
    const split = splitChunk(code);
    if (!split) continue;
    writeFileSync(join(out, fileName), split.module);
    writeFileSync(join(out, fileName.replace(/\.js$/, '.script')), split.script);
  }
}
