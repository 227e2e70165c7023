/**
 * `npm run api`: compares the types of `capstan/api` with the report in docs/reference/api.txt, and ends with 1 if they
 * differ or CHANGELOG.md does not name the report. `npm run api -- --accept "what changed"` writes both.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';
import { root } from './project.mjs';

const REPORT = join(root, 'docs', 'reference', 'api.txt');
const CHANGELOG = join(root, 'CHANGELOG.md');
/** Entries are added below this heading. */
const HEADING = '### Plugin interface\n';
const ENTRY = join(root, 'core', 'api', 'index.ts');

/** The declaration files of `capstan/api`, by path, as they are published. */
function declarations() {
  const { options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile).config,
    ts.sys,
    root,
  );
  const only = { ...options, emitDeclarationOnly: true, incremental: false, tsBuildInfoFile: undefined, outDir: root };
  const program = ts.createProgram([ENTRY], { ...only, sourceMap: false });
  const files = new Map();
  program.emit(undefined, (path, text) => files.set(path, text));
  return files;
}

/** A program of declaration files that are in memory. */
function programOf(files) {
  const options = {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    types: ['node'],
    skipLibCheck: true,
  };
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = path =>
    files.has(path) || (!path.endsWith('.ts') || path.includes('node_modules') ? fileExists(path) : false);
  host.readFile = path => files.get(path) ?? readFile(path);
  host.getSourceFile = (path, language) =>
    files.has(path) ? ts.createSourceFile(path, files.get(path), language, true) : getSourceFile(path, language);
  return ts.createProgram([ENTRY.replace(/\.ts$/, '.d.ts')], options, host);
}

/** Every exported declaration, and those that they refer to, as text by name. */
function reportedSymbols() {
  const files = declarations();
  const program = programOf(files);
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
    const own = (symbol.declarations ?? []).filter(node => files.has(node.getSourceFile().fileName));
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
  const version = /API_VERSION = '([^']+)'/.exec(readFileSync(join(root, 'core', 'api', 'version.ts'), 'utf8'))[1];
  const texts = [...reportedSymbols()].sort(([a], [b]) => (a < b ? -1 : 1));
  const head = `capstan/api ${version}\nWritten by \`npm run api\`. Names in parentheses are not exported, but exported types refer to them.\n`;
  return `${head}\n${texts.map(([name, text]) => `## ${name}\n${text}\n`).join('\n')}`;
}

/** The report's sections by name. */
const sectionsOf = text =>
  new Map(
    text
      .split('\n## ')
      .slice(1)
      .map(section => [section.slice(0, section.indexOf('\n')), section.trim()]),
  );

/** What differs between two reports, a line for each name. */
function differences(before, after) {
  const [old, fresh] = [sectionsOf(before), sectionsOf(after)];
  return [
    ...[...old.keys()].filter(name => !fresh.has(name)).map(name => `removed: ${name}`),
    ...[...fresh].filter(([name, text]) => old.has(name) && old.get(name) !== text).map(([name]) => `changed: ${name}`),
    ...[...fresh.keys()].filter(name => !old.has(name)).map(name => `added: ${name}`),
  ];
}

const hashOf = text => createHash('sha256').update(text).digest('hex').slice(0, 12);

function accept(fresh, before, words) {
  const changelog = readFileSync(CHANGELOG, 'utf8');
  if (!changelog.includes(HEADING)) throw new Error(`CHANGELOG.md has no heading "${HEADING.trim()}"`);
  writeFileSync(REPORT, fresh);
  const entry = `- ${words} (report ${hashOf(fresh)})\n`;
  writeFileSync(CHANGELOG, changelog.replace(HEADING, `${HEADING}${entry}`));
  console.log(differences(before, fresh).join('\n'));
  console.log(
    'Removed or changed: raise the major number of API_VERSION (core/api/version.ts). Added: the minor number.',
  );
}

const [flag, words] = process.argv.slice(2);
const fresh = report();
const before = existsSync(REPORT) ? readFileSync(REPORT, 'utf8') : '';
if (flag === '--accept') {
  if (!words)
    throw new Error('say what changed, for CHANGELOG.md: npm run api -- --accept "Host.now counts from the start"');
  accept(fresh, before, words);
} else if (fresh !== before) {
  console.error(`capstan/api differs from docs/reference/api.txt:\n${differences(before, fresh).join('\n')}`);
  console.error('If that is right: npm run api -- --accept "what changed, for authors of plugins"');
  process.exitCode = 1;
} else if (!readFileSync(CHANGELOG, 'utf8').includes(`report ${hashOf(fresh)}`)) {
  console.error(`CHANGELOG.md does not name this report: "(report ${hashOf(fresh)})" below "${HEADING.trim()}"`);
  process.exitCode = 1;
}
