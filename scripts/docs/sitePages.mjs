/** The pages of the site: the paths, the conversion of links, and the order in which pages are listed. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

/** Pages at the root of the repository, and their paths on the site. */
export const ROOT_PAGES = {
  'README.md': 'about.md',
  'ARCHITECTURE.md': 'internals/architecture.md',
  'CONTRIBUTING.md': 'internals/contributing.md',
  'CHANGELOG.md': 'changelog.md',
};
const REQUIREMENTS = 'docs/reference/requirements.tsv';

/** The path on the site of a file of the repository; undefined if the site does not have it. */
function placeOf(path) {
  if (path === REQUIREMENTS) return 'reference/requirements.md';
  if (/^docs\/(.*\.md|images\/.*)$/.test(path)) return path.slice('docs/'.length);
  return ROOT_PAGES[path];
}

/** A link of a page, as the site has it: only the text if the target is not on the site. */
function siteLink(page, place, [whole, bang, text, target, anchor = '']) {
  if (/^(https?:|#|mailto:)/.test(target + anchor)) return whole;
  const to = placeOf(posix.normalize(posix.join(posix.dirname(page), target)));
  if (to === undefined) return text;
  const relative = posix.relative(posix.dirname(place), to);
  return `${bang}[${text}](${relative.startsWith('.') ? relative : `./${relative}`}${anchor})`;
}

const LINK = /(!?)\[((?:[^[\]]|\[[^[\]]*\])*)\]\(([^()\s#]*)(#[^()\s]*)?\)/g;

/** A page of the repository as a page of the site. Code is not changed. */
export function sitePage(page, markdown) {
  const path = placeOf(page);
  const text = markdown
    .split(/(^```.*?^```$)/gms)
    .map((part, i) => (i % 2 === 1 ? part : part.replaceAll(LINK, (...match) => siteLink(page, path, match))))
    .join('');
  return { path, text };
}

/** The first heading of a page, as text. */
const titleOf = file =>
  /^# (.*)$/m
    .exec(readFileSync(file, 'utf8'))?.[1]
    .replaceAll(/[`\\]/g, '')
    .replace(/^(Tutorial|Kinds and types): /, '');

/** The configuration of VitePress for the pages in a folder. Browsers load nothing from other sites. */
export function siteConfig(folder) {
  const item = (path, text = titleOf(join(folder, path))) => ({ text, link: `/${path.replace(/(index)?\.md$/, '')}` });
  const all = (directory, rest = {}) =>
    readdirSync(join(folder, directory))
      .filter(name => name.endsWith('.md') && !Object.hasOwn(rest, name))
      .sort()
      .map(name => item(`${directory}/${name}`));
  const group = (text, items, collapsed) => ({ text, items, ...(collapsed === undefined ? {} : { collapsed }) });
  const byTitle = items => items.sort((a, b) => a.text.localeCompare(b.text));
  const tutorials = ['kind', 'policy', 'controller', 'plugin'].map(name => item(`tutorials/${name}.md`));
  const reference = ['configuration', 'flags', 'errors', 'kinds'].map(name => item(`reference/${name}.md`));
  return {
    title: 'Capstan',
    description: 'A Kubernetes-style API server for Node.js',
    outDir: './out',
    cleanUrls: false,
    lastUpdated: false,
    // Angle brackets in the pages are part of a type or a placeholder (`Map<string, T>`, `<name>`), never HTML.
    markdown: { html: false, linkify: false },
    themeConfig: {
      search: { provider: 'local' },
      outline: { level: [2, 3] },
      nav: [
        item('start.md', 'Start'),
        item('tutorials/kind.md', 'Tutorials'),
        item('guides/programs.md', 'Guides'),
        item('reference/configuration.md', 'Reference'),
      ],
      sidebar: [
        group('Start', [item('start.md'), item('about.md', 'About Capstan')]),
        group('Tutorials', tutorials),
        group('Guides', byTitle(all('guides')), false),
        group(
          'Reference',
          [
            ...reference,
            group('Types of all kinds', all('reference/kinds'), true),
            group('The library', byTitle(all('reference/api')), true),
          ],
          false,
        ),
        group(
          'Internals',
          [
            item('internals/architecture.md'),
            item('internals/contributing.md'),
            item('glossary.md'),
            item('changelog.md'),
            group('Decisions', all('decisions'), true),
          ],
          true,
        ),
        group('Benchmarks', [item('benchmarks.md'), item('performance.md')], true),
        group('Proofs', [item('reliability.md'), item('security.md'), item('reference/requirements.md')], true),
      ],
    },
  };
}

/**
 * The anchor of a heading, as links in the repository write it: without characters other than letters, digits, `_`
 * and `-`.
 */
export const slugify = text =>
  text
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');

/** Pages that typedoc writes, with its own anchors. */
const GENERATED = /^reference\/api\//;
const HREF = /<a[^>]* href="([^"]*)"/g;
const ID = / id="([^"]*)"/g;
const decode = text => decodeURIComponent(text.replaceAll('&amp;', '&'));

/** A line for each link of a built site whose page or anchor does not exist. */
export function brokenLinks(folder) {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.html'));
  const pages = new Map(
    files.map(name => {
      const text = readFileSync(join(folder, name), 'utf8');
      return [
        name.replaceAll('\\', '/'),
        {
          ids: new Set(Array.from(text.matchAll(ID), ([, id]) => decode(id))),
          links: new Set(Array.from(text.matchAll(HREF), ([, href]) => href)),
        },
      ];
    }),
  );
  return [...pages].flatMap(([page, { links }]) =>
    [...links].flatMap(href => {
      if (/^(https?:|mailto:|data:)/.test(href)) return [];
      const [path, anchor = ''] = href.split('#');
      const target = path === '' ? page : posix.join(path.startsWith('/') ? '' : posix.dirname(page), path);
      const name = decode(target.replace(/^\//, '')).replace(/(^|\/)$/, '$1index.html');
      const found = pages.get(name);
      if (!found) return existsSync(join(folder, name)) ? [] : [`${page}: ${href} leads to no page`];
      return anchor === '' || GENERATED.test(name) || found.ids.has(decode(anchor))
        ? []
        : [`${page}: ${href}: the page has no such place`];
    }),
  );
}
