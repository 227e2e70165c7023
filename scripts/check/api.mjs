/**
 * `npm run api`: compares the types of `capstan/api` with the report in docs/reference/api.txt, and ends with 1 if they
 * differ, if CHANGELOG.md does not mention the report, or if API_VERSION is not the one that the changes since the last
 * release need. `npm run api -- --accept "what changed"` writes the report and the entry, and `npm run api -- --release
 * 0.2.0` turns the unreleased section of CHANGELOG.md into that of a release.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';
import { changesOf, versionError } from './apiVersion.mjs';
import { root } from '../project.mjs';

const REPORT = join(root, 'docs', 'reference', 'api.txt');
/** The report of the last release; absent before the first one. */
const RELEASED = join(root, 'docs', 'reference', 'api-released.txt');
const CHANGELOG = join(root, 'CHANGELOG.md');
/** Entries are added below this heading. */
const HEADING = '### Plugin interface\n';
const UNRELEASED = '## Unreleased\n';
const ENTRY = join(root, 'core', 'api', 'index.ts');

/** The settings of the compiler. `include` is omitted: finding its thousands of files takes a second. */
function settings() {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: undefined, files: [ENTRY] }, ts.sys, root);
  return { ...options, emitDeclarationOnly: true, incremental: false, tsBuildInfoFile: undefined, outDir: root };
}

/** A host for programs with these options. Files of packages are parsed once for all of them. */
function hostFor(options) {
  const host = ts.createCompilerHost(options);
  const { getSourceFile } = host;
  const parsed = new Map();
  host.getSourceFile = (path, language) => {
    if (!path.includes('node_modules')) return getSourceFile(path, language);
    if (!parsed.has(path)) parsed.set(path, getSourceFile(path, language));
    return parsed.get(path);
  };
  return host;
}

/** The declaration files of `capstan/api`, by path, as they are published. */
function declarations(options, host) {
  const program = ts.createProgram([ENTRY], options, host);
  const files = new Map();
  program.emit(undefined, (path, text) => files.set(path, text));
  return files;
}

/** A program of declaration files in memory. */
function programOf(files, options, host) {
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = path =>
    files.has(path) || (!path.endsWith('.ts') || path.includes('node_modules') ? fileExists(path) : false);
  host.readFile = path => files.get(path) ?? readFile(path);
  host.getSourceFile = (path, language) =>
    files.has(path) ? ts.createSourceFile(path, files.get(path), language, true) : getSourceFile(path, language);
  return ts.createProgram([ENTRY.replace(/\.ts$/, '.d.ts')], options, host);
}

/**
 * True if the declarations of a file are reported. Types of built-in kinds are not, since they follow from the table.
 */
const isReported = (path, files) => files.has(path) && !path.startsWith(join(root, 'kinds/'));

/** Every exported declaration, and those that they refer to, as text by name. */
function reportedSymbols() {
  const options = settings();
  const host = hostFor(options);
  const files = declarations(options, host);
  const program = programOf(files, options, host);
  const checker = program.getTypeChecker();
  const printer = ts.createPrinter({ removeComments: true });
  const resolved = symbol => (symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol);
  const entry = program.getSourceFile(ENTRY.replace(/\.ts$/, '.d.ts'));
  const exported = checker.getExportsOfModule(checker.getSymbolAtLocation(entry));
  const names = new Map(exported.map(symbol => [resolved(symbol), symbol.name]));
  const texts = new Map();
  const open = [...names.keys()];
  const seen = new Set(open);
  for (let symbol = open.shift(); symbol; symbol = open.shift()) {
    const own = (symbol.declarations ?? []).filter(node => isReported(node.getSourceFile().fileName, files));
    if (own.length === 0) continue;
    const visit = node => {
      const found = ts.isIdentifier(node) ? checker.getSymbolAtLocation(node) : undefined;
      const target = found && resolved(found);
      const isTop = target?.declarations?.some(one => ts.isSourceFile(statementOf(one).parent ?? one));
      if (target && isTop && !seen.has(target)) {
        seen.add(target);
        open.push(target);
      }
      ts.forEachChild(node, visit);
    };
    const text = own.map(node => {
      visit(node);
      return printer.printNode(ts.EmitHint.Unspecified, statementOf(node), node.getSourceFile());
    });
    const name = names.get(symbol) ?? `(${symbol.name}, in ${relative(root, own[0].getSourceFile().fileName)})`;
    texts.set(name, [...new Set(text)].join('\n'));
  }
  return texts;
}

/** The statement of a declaration: that of a constant has two nodes in between. */
const statementOf = node => (ts.isVariableDeclaration(node) ? node.parent.parent : node);

function report() {
  const version = /API_VERSION = '([^']+)'/.exec(
    readFileSync(join(root, 'core', 'api', 'plugin', 'version.ts'), 'utf8'),
  )[1];
  const texts = [...reportedSymbols()].sort(([a], [b]) => (a < b ? -1 : 1));
  const head = `capstan/api ${version}\nWritten by \`npm run api\`. Names in parentheses are not exported, but exported types refer to them.\n`;
  return `${head}\n${texts.map(([name, text]) => `## ${name}\n${text}\n`).join('\n')}`;
}

/** Differences between two reports, a line for each name. */
const differences = (before, after) => changesOf(before, after).map(({ is, name }) => `${is}: ${name}`);

const hashOf = text => createHash('sha256').update(text).digest('hex').slice(0, 12);

const read = path => (existsSync(path) ? readFileSync(path, 'utf8') : undefined);

/** The report of the last release; undefined if CHANGELOG.md has no released section. */
function releasedReport(changelog) {
  if (!/^## \d+\.\d+\.\d+/m.test(changelog)) return undefined;
  const text = read(RELEASED);
  if (text === undefined || !changelog.includes(`report ${hashOf(text)}`))
    throw new Error(`${relative(root, RELEASED)} must be the report of the last release in CHANGELOG.md`);
  return text;
}

function accept(fresh, before, words) {
  const changelog = readFileSync(CHANGELOG, 'utf8');
  if (!changelog.includes(HEADING)) throw new Error(`CHANGELOG.md has no heading "${HEADING.trim()}"`);
  writeFileSync(REPORT, fresh);
  const entry = `- ${words} (report ${hashOf(fresh)})\n`;
  writeFileSync(CHANGELOG, changelog.replace(HEADING, `${HEADING}${entry}`));
  console.log(differences(before, fresh).join('\n'));
}

/** Turns the unreleased section of CHANGELOG.md into that of a release, and saves the report of its interface. */
function release(version, fresh) {
  const changelog = readFileSync(CHANGELOG, 'utf8');
  const next = `${UNRELEASED}${HEADING}\n## ${version}\n`;
  if (!changelog.includes(UNRELEASED)) throw new Error(`CHANGELOG.md has no heading "${UNRELEASED.trim()}"`);
  writeFileSync(CHANGELOG, changelog.replace(UNRELEASED, next));
  writeFileSync(RELEASED, fresh);
}

/** The reason why the report, the changelog or the version does not match the interface; '' if all match. */
function errorOf(fresh, before) {
  const changelog = readFileSync(CHANGELOG, 'utf8');
  if (fresh !== before)
    return (
      `capstan/api differs from docs/reference/api.txt:\n${differences(before, fresh).join('\n')}\n` +
      'If that is right: npm run api -- --accept "what changed, for authors of plugins"'
    );
  if (!changelog.includes(`report ${hashOf(fresh)}`))
    return `CHANGELOG.md does not name this report: "(report ${hashOf(fresh)})" below "${HEADING.trim()}"`;
  return versionError(releasedReport(changelog), fresh);
}

const [flag, words] = process.argv.slice(2);
const fresh = report();
const before = read(REPORT) ?? '';
if (flag === '--accept') {
  if (!words)
    throw new Error('say what changed, for CHANGELOG.md: npm run api -- --accept "Host.now counts from the start"');
  accept(fresh, before, words);
}
const error = errorOf(fresh, read(REPORT) ?? '');
if (error) {
  console.error(error);
  process.exitCode = 1;
} else if (flag === '--release') {
  if (!/^\d+\.\d+\.\d+$/.test(words ?? '')) throw new Error('name the version: npm run api -- --release 0.2.0');
  release(words, fresh);
}
