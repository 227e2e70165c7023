/** Splits a chunk of the bundle, a module, into a script, which can use V8's code cache, and a module that runs it. */
import { parseAst } from 'rolldown/parseAst';

/** All nodes of a syntax tree that `matches` accepts, without nodes inside of these. */
function nodesIn(node, matches) {
  if (node === null || typeof node !== 'object') return [];
  if (matches(node)) return [node];
  return Object.values(node).flatMap(child => nodesIn(child, matches));
}

/** The nodes `import.meta.url` of the code. */
export const urlsIn = tree =>
  nodesIn(
    tree,
    ({ type, object, property }) =>
      type === 'MemberExpression' && object.type === 'MetaProperty' && property.name === 'url',
  );

/** The code with nodes replaced by other texts: `edits` are pairs of a node and a text. */
export function edited(code, edits) {
  const put = (text, [{ start, end }, instead]) => text.slice(0, start) + instead + text.slice(end);
  return edits.toSorted(([a], [b]) => b.start - a.start).reduce(put, code);
}

/** The name of an import or export, which may be a string. */
const nameOf = node => node.name ?? JSON.stringify(node.value);

/** A statement that declares the imports of a module, from the namespace of the module that it imports. */
function declaration(specifiers, namespace) {
  const whole = specifiers.filter(({ type }) => type === 'ImportNamespaceSpecifier');
  const parts = specifiers
    .filter(({ type }) => type !== 'ImportNamespaceSpecifier')
    .map(({ imported, local }) => `${imported ? nameOf(imported) : 'default'}: ${local.name}`);
  return [
    ...whole.map(({ local }) => `const ${local.name} = ${namespace};`),
    ...(parts.length > 0 ? [`const { ${parts.join(', ')} } = ${namespace};`] : []),
  ].join(' ');
}

/** Throws if an exported variable is assigned later: modules that import it would not see the new value. */
function checkConstant(body, exported) {
  const variables = body.filter(({ type, kind }) => type === 'VariableDeclaration' && kind !== 'const');
  const declared = new Set(variables.flatMap(({ declarations }) => declarations.map(({ id }) => id.name)));
  const changes = nodesIn(body, ({ type }) => type === 'AssignmentExpression' || type === 'UpdateExpression');
  const changed = new Set(changes.map(({ left, argument }) => (left ?? argument).name));
  for (const { local } of exported)
    if (declared.has(local.name) && changed.has(local.name))
      throw new Error(`the variable ${local.name} is exported and assigned to: export a function that returns it`);
}

/**
 * The same code in ASCII, which V8 stores in half the memory. Strings and patterns may have escapes. Where these would
 * have another meaning, after a backslash and in the text of a tagged template, the code must be in ASCII.
 */
function inAscii(code, tree) {
  const tagged = nodesIn(tree, ({ type }) => type === 'TaggedTemplateExpression');
  const other = /[^\0-\x7f]/g;
  const [escaped] = code.match(/\\[^\0-\x7f]/) ?? [];
  const [text = escaped] = tagged
    .map(({ start, end }) => code.slice(start, end))
    .filter(part => part.search(other) >= 0);
  if (text !== undefined) throw new Error(`must be in ASCII: ${text}`);
  return code.replace(other, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/**
 * The two files of a chunk: the code of the script is that of the chunk, on the same lines, in a function that gets
 * its imports and returns its exports. Returns undefined for a chunk that has a default export.
 */
export function splitChunk(code) {
  const text = inAscii(code, parseAst(code));
  const tree = parseAst(text);
  const imports = tree.body.filter(({ type }) => type === 'ImportDeclaration');
  const exports = tree.body.filter(({ type }) => type.startsWith('Export'));
  if (exports.some(({ type }) => type === 'ExportDefaultDeclaration')) return undefined;
  const exported = exports.flatMap(({ specifiers }) => specifiers);
  checkConstant(tree.body, exported);
  const script = edited(text, [
    ...imports.map((node, i) => [node, declaration(node.specifiers, `$imports[${i}]`)]),
    ...exports.map(node => [node, '']),
    ...urlsIn(tree).map(node => [node, '$url']),
    ...nodesIn(tree, ({ type }) => type === 'ImportExpression').map(({ start }) => [
      { start, end: start + 'import'.length },
      '$import',
    ]),
  ]);
  const returned = exported.map(({ exported: to, local }) => `${nameOf(to)}: ${local.name}`);
  const module = [
    ...imports.map(({ source }, i) => `import * as $${i} from ${JSON.stringify(source.value)};`),
    'import { runChunk } from "./run.js";',
    `const $ = runChunk(import.meta.url, [${imports.map((_, i) => `$${i}`).join(', ')}], name => import(name));`,
    `const { ${exported.map(({ exported: to }, i) => `${nameOf(to)}: _${i}`).join(', ')} } = $;`,
    `export { ${exported.map(({ exported: to }, i) => `_${i} as ${nameOf(to)}`).join(', ')} };`,
  ];
  return {
    script: `(function ($url, $imports, $import) {"use strict";${script}return { ${returned.join(', ')} };\n})`,
    module: `${module.join('\n')}\n`,
  };
}
