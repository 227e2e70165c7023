/**
 * `npm run docs`: creates the documentation site in dist/site/out: the pages in `docs` and at the root, one of the
 * requirements, and the reference of the library from its doc comments. Ends with 1 and a line for each broken
 * link. `npx vitepress preview dist/site` shows it.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { install, root } from '../project.mjs';
import { brokenLinks, ROOT_PAGES, siteConfig, sitePage, slugify } from './sitePages.mjs';

const site = join(root, 'dist', 'site');
const read = path => readFileSync(join(root, path), 'utf8');
const write = (path, text) => {
  mkdirSync(dirname(join(site, path)), { recursive: true });
  writeFileSync(join(site, path), text);
};

/** The modules that programs import, by name on the site. */
const MODULES = {
  capstan: 'core/index.ts',
  testing: 'core/testing/index.ts',
  client: 'core/client/index.ts',
  cel: 'core/cel/index.ts',
};

/** Writes a page for each module of the library. Doc comments are read from the sources. */
async function writeApi() {
  const { Application } = await import('typedoc');
  const folder = join(site, 'reference', 'api');
  const app = await Application.bootstrapWithPlugins({
    plugin: ['typedoc-plugin-markdown'],
    entryPoints: Object.values(MODULES).map(path => join(root, path)),
    tsconfig: join(root, 'tsconfig.json'),
    name: 'The library',
    readme: 'none',
    disableSources: true,
    // `npm run typecheck` finds errors.
    skipErrorChecking: true,
    excludeInternal: true,
    logLevel: 'Error',
    outputFileStrategy: 'modules',
    outputs: [{ name: 'markdown', path: folder }],
    entryFileName: 'index',
    hidePageHeader: true,
    hideBreadcrumbs: true,
    sanitizeComments: true,
    useCodeBlocks: true,
    parametersFormat: 'table',
  });
  const project = await app.convert();
  if (!project) throw new Error('the doc comments of the library cannot be read');
  for (const module of project.children ?? []) {
    const [name] = Object.entries(MODULES).find(([, path]) => path.includes(`core/${module.name}.ts`)) ?? [
      module.name.split('/')[0],
    ];
    module.name = name === 'index' ? 'capstan' : name;
  }
  await app.generateOutputs(project);
  if (app.logger.hasErrors()) throw new Error('the reference of the library cannot be written');
}

/** The requirements as a page: what must hold, by section. */
function requirementsPage() {
  const [, ...rows] = read('docs/reference/requirements.tsv').trimEnd().split('\n');
  const sections = new Map();
  for (const row of rows.map(line => line.split('\t'))) sections.set(row[1], [...(sections.get(row[1]) ?? []), row]);
  const escaped = text => text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('{{', '{ {');
  const parts = Array.from(
    sections,
    ([section, found]) =>
      `## ${escaped(section)}\n| id | requirement |\n|---|---|\n${found.map(([id, , text]) => `| ${id} | ${escaped(text)} |\n`).join('')}`,
  );
  return `# Requirements\nTests name the requirements that they verify by these ids.\n\n${parts.join('\n')}`;
}

await install();
rmSync(site, { recursive: true, force: true });
const pages = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
  .filter(name => name.endsWith('.md'))
  .map(name => join('docs', name));
for (const page of [...pages, ...Object.keys(ROOT_PAGES)]) {
  const { path, text } = sitePage(page, read(page));
  write(path, text);
}
cpSync(join(root, 'docs', 'images'), join(site, 'images'), { recursive: true });
write('reference/requirements.md', requirementsPage());
await writeApi();
const config = JSON.stringify(siteConfig(site));
write(
  '.vitepress/config.mjs',
  `const config = ${config};\nconfig.markdown.anchor = { slugify: ${slugify} };\nexport default config;\n`,
);
const { build } = await import('vitepress');
await build(site);
const broken = brokenLinks(join(site, 'out'));
for (const line of broken) console.error(line);
process.exitCode = broken.length > 0 ? 1 : 0;
if (broken.length === 0) console.log(join('dist', 'site', 'out'));
