/** The style rules for sources that Biome does not have. `npm run lint` prints violations. */
import { posix } from 'node:path';

/** Modules that users run. */
const SHIPPED = ['core', 'plugins', 'workers'];
/** Tables: facts about kinds, and limits. Each of their lines is one fact, so they may be long. */
const TABLES = ['core/schema/table/', 'core/limits.ts'];
/** Modules that other packages import, and programs that are started by path. */
const ENTRY =
  /^(?:core\/api\/.*|core\/(?:cel\/|testing\/)?index\.ts|core\/command\/main\.ts|workers\/\w+\/.*[mM]ain\.ts)$/;

const LINES = 500;
const COLUMNS = 120;
/** The maximum numbers of source files in one shipped folder, and of scripts in one folder. */
const FILES = 15;

const EXPORT = /^export (?:default )?(?:abstract |async )*(?:interface|type|const|class|function\*?|enum) (\w+)/gm;
const COMMENT = /\/\*[\s\S]*?\*\/|(?:^|\s)\/\/.*$/gm;
const CITATION = /\bspec\b(?=[^"\n(]{0,20}[\s*]*"[A-Z])[^")]*(?:"[^"]*"(?: and )?)+|\(spec\b[^)]{0,80}\)/g;
const LITERAL = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`|\/(?:[^/\\\n]|\\.)+\/[a-z]*/g;

const isShipped = ({ path }) => SHIPPED.includes(path.split('/')[0]);
const isTable = ({ path }) => TABLES.some(table => path.startsWith(table));
const exportsOf = text => [...text.matchAll(EXPORT)];

/** True if a doc comment ends right before a position. */
function isDocumented(text, at) {
  const before = text.slice(0, at).trimEnd();
  return before.endsWith('*/') && before.startsWith('/**', before.lastIndexOf('/*'));
}

/** Everything that a module exports has a doc comment. */
const undocumented = sources =>
  sources.filter(isShipped).flatMap(({ path, text }) =>
    exportsOf(text)
      .filter(match => !isDocumented(text, match.index))
      .map(match => `${path}: ${match[1]} has no doc comment`),
  );

/** Functions and values that a module exports are used elsewhere. Types may be exported for users of those. */
function unused(sources, others) {
  const files = new Map();
  for (const [i, { text }] of [...sources, ...others].entries())
    for (const [word] of text.matchAll(/[A-Za-z_$][\w$]*/g)) {
      const found = files.get(word);
      if (found === undefined) files.set(word, i);
      else if (found !== i) files.set(word, -1);
    }
  return sources
    .filter(source => isShipped(source) && !ENTRY.test(source.path))
    .flatMap(({ path, text }) =>
      exportsOf(text)
        .filter(([statement, name]) => files.get(name) !== -1 && !/ (?:default|interface|type) /.test(statement))
        .map(match => `${path}: no other file uses ${match[1]}, which is exported`),
    );
}

/** Comments cite sections of the specification by name. */
function citations(sources, sections) {
  const isRight = citation =>
    citation.includes('spec, "') && Array.from(citation.matchAll(/"([^"]+)"/g)).every(([, name]) => sections.has(name));
  return sources.flatMap(({ path, text }) =>
    [...text.matchAll(COMMENT)]
      .flatMap(([comment]) => [...comment.replace(/\s*\n\s*\*?\s*/g, ' ').matchAll(CITATION)])
      .filter(([citation]) => !isRight(citation))
      .map(([citation]) => `${path}: ${citation} is no section of the specification`),
  );
}

/**
 * Lines are short, not counting literals, which are not split so that a search finds them; comments are short as well.
 */
const longLines = sources =>
  sources
    .filter(source => !isTable(source))
    .flatMap(({ path, text }) =>
      text
        .split('\n')
        .map((line, i) => ({ line, place: `${path}:${i + 1}` }))
        .filter(({ line }) => line.length > COLUMNS)
        .filter(({ line }) => /^\s*(\*|\/\*|\/\/)/.test(line) || line.replace(LITERAL, '').length > COLUMNS)
        .map(({ place }) => `${place}: the line is longer than ${COLUMNS} columns`),
    );

const longFiles = sources =>
  sources
    .filter(source => !isTable(source) && source.text.split('\n').length > LINES)
    .map(({ path }) => `${path}: the file has more than ${LINES} lines`);

function largeFolders(sources, others) {
  const counts = new Map();
  for (const { path } of [...sources.filter(isShipped), ...others])
    counts.set(posix.dirname(path), (counts.get(posix.dirname(path)) ?? 0) + 1);
  return [...counts]
    .filter(([, count]) => count > FILES)
    .map(([folder, count]) => `${folder}: the folder has ${count} source files, more than ${FILES}`);
}

/** Files and folders are named in camel case, except for folders of packages, which have their names. */
const otherNames = sources =>
  sources
    .filter(({ path }) => !path.startsWith('examples/packages/'))
    .filter(({ path }) => !/^([a-z][a-zA-Z0-9]*\/)*[a-z][a-zA-Z0-9]*(\.test|\.d)?\.tsx?$/.test(path))
    .map(({ path }) => `${path}: the name is not in camel case`);

/**
 * A line for each violation in `sources`, which have `path` and `text`. `others` are further files that may use exports
 * of sources. `sections` are the names of the sections of the specification.
 */
export const faultsIn = (sources, others, sections) => [
  ...undocumented(sources),
  ...unused(sources, others),
  ...citations(sources, sections),
  ...longLines(sources),
  ...longFiles(sources),
  ...largeFolders(sources, others),
  ...otherNames(sources),
];
