/**
 * Writes the TypeScript types of all built-in kinds to `kinds`, a module for each version of a group, from the table in
 * core/schema/table. They state the guarantees of the decoder (core/schema/decode/decode.ts): which members always
 * exist, which may be null, and the types of all values.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { rolldown } from 'rolldown';
import { root } from '../project.mjs';

const FOLDER = join(root, 'kinds');
const HEAD = '// Written by scripts/build/kindTypes.mjs from the table in core/schema/table.';
const INDEX = `${HEAD}
/** Values and metadata that the types of all kinds have in common. */
export type { ManagedFieldsEntry, ObjectMeta, OwnerReference } from '../core/model/object.js';
export type * from '../core/model/scalars.js';
export type { BuiltInResources } from './resources.js';
`;

/** Types of the table that the object model already has. */
const MODEL = new Map(['ManagedFieldsEntry', 'ObjectMeta', 'OwnerReference'].map(name => [`meta.v1.${name}`, name]));

/** The types of scalars; those with their own name are in core/model/scalars.ts. */
const SCALARS = {
  string: 'string',
  bool: 'boolean',
  int32: 'number',
  uint32: 'number',
  double: 'number',
  int64: 'Int64',
  bytes: 'Bytes',
  any: 'Untyped',
  FieldsV1: 'Untyped',
  RawExtension: 'Untyped',
  JSON: 'Untyped',
};

/** The module of a package, without extension: `v1`, `apps/v1`. */
const moduleOf = packageName => packageName.replace(/^core\./, '').replace('.', '/');
const packageOf = id => id.slice(0, id.lastIndexOf('.'));
const nameOf = id => id.slice(id.lastIndexOf('.') + 1);

const TABLE = `
export { absenceOf } from './core/schema/decode/absence.ts';
export { namingOf } from './core/naming.ts';
export { describeField, describeType } from './core/schema/table/descriptions.ts';
export { PACKAGES } from './core/schema/table/packages.ts';
export { groupRows } from './core/schema/table/resources.ts';
export { storagePlace } from './core/schema/table/storageNames.ts';
export { typeOf, typesOfPackage } from './core/schema/table/types.ts';
`;

/** The modules that read the table, compiled. */
async function readTable() {
  const entry = join(root, 'table.ts');
  const bundled = await rolldown({
    input: entry,
    platform: 'node',
    resolve: { extensionAlias: { '.js': ['.ts'] } },
    plugins: [
      { name: 'entry', load: id => (id === entry ? TABLE : null), resolveId: id => (id === entry ? id : null) },
    ],
  });
  const { output } = await bundled.generate({ format: 'esm' });
  await bundled.close();
  return import(`data:text/javascript,${encodeURIComponent(output[0].code)}`);
}

/** The text of one module. */
class ModuleText {
  /** Imports of the module: names by path. */
  #imports = new Map();

  constructor(packageName, table) {
    this.package = packageName;
    this.table = table;
  }

  /** The whole text. */
  write() {
    const types = this.table.typesOfPackage(this.package).map(id => this.table.typeOf(id));
    const declared = types.filter(({ id }) => !MODEL.has(id)).map(type => this.#declaration(type));
    const imports = [...this.#imports]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([path, names]) => `import type { ${[...names].sort().join(', ')} } from '${path}';`);
    return `${[HEAD, ...imports, '', ...declared].join('\n')}\n`;
  }

  #declaration(struct) {
    const doc = comment(this.table.describeType(struct));
    const type = struct.alternatives ? this.#alternatives(struct) : this.#members(struct);
    return `${doc}\nexport type ${nameOf(struct.id)} = ${type};`;
  }

  /** The types that the decoder accepts for a type with several JSON forms. */
  #alternatives({ fields, alternatives }) {
    const forms = fields.filter(({ type }) => type.is !== 'scalar').map(({ type }) => this.#typeOf(type));
    return [...forms, ...(alternatives === 'bool' ? ['boolean'] : [])].join(' | ');
  }

  #members(struct) {
    const head = struct.typeMeta ? ['  apiVersion: string;', '  kind: string;'] : [];
    const members = struct.fields.map(field => {
      // Creates remove the status of an object before its rules are called.
      const isRemoved = struct.typeMeta && field.name === 'status';
      const absence = this.table.absenceOf(field);
      const mark = isRemoved || absence === 'omitted' ? '?' : '';
      const type = `${this.#typeOf(field.type)}${absence === 'null' ? ' | null' : ''}`;
      return `  ${comment(this.table.describeField(struct, field))}\n  ${memberName(field.name)}${mark}: ${type};`;
    });
    return `{\n${[...head, ...members].join('\n')}\n}`;
  }

  #typeOf(type) {
    if (type.is === 'list') return `${this.#itemOf(type.of)}[]`;
    if (type.is === 'map') return `{ [key: string]: ${this.#typeOf(type.of)} }`;
    if (type.is === 'struct') return this.#reference(type.id);
    if (type.enum) return `${this.#import('core/model/scalars', 'OneOf')}<${type.enum.map(quoted).join(' | ')}>`;
    return SCALARS[type.name] && /^[a-z]/.test(SCALARS[type.name])
      ? SCALARS[type.name]
      : this.#import('core/model/scalars', SCALARS[type.name] ?? type.name);
  }

  #itemOf(type) {
    const text = this.#typeOf(type);
    return text.includes('|') ? `(${text})` : text;
  }

  #reference(id) {
    if (MODEL.has(id)) return this.#import('core/model/object', MODEL.get(id));
    if (packageOf(id) === this.package) return nameOf(id);
    return this.#import(`kinds/${moduleOf(packageOf(id))}`, nameOf(id));
  }

  /** The name of a type of another module; a type of this one may have the same. */
  #import(path, name) {
    const here = `kinds/${dirname(moduleOf(this.package))}`;
    const from = posix.relative(posix.normalize(here), path);
    const module = `${from.startsWith('.') ? from : `./${from}`}.js`;
    const names = this.#imports.get(module) ?? new Set();
    this.#imports.set(module, names);
    const taken = this.table.typesOfPackage(this.package).some(id => nameOf(id) === name);
    const local = taken ? `${name}_` : name;
    names.add(taken ? `${name} as ${local}` : name);
    return local;
  }
}

/** Every stored resource: its storage name, and the module and name of the type that its objects are stored with. */
function storedResources({ groupRows, storagePlace }) {
  const groups = groupRows();
  const stored = new Map();
  for (const group of groups)
    for (const { resources } of group.versions)
      for (const { plural, kind, verbs } of resources) {
        if (!verbs.includes('create') || !verbs.includes('get')) continue;
        const { storageName, apiVersion } = storagePlace(group, plural);
        const [version, name = ''] = apiVersion.split('/').reverse();
        const row = groups.find(one => one.name === name).versions.find(one => one.version === version);
        stored.set(storageName, { module: moduleOf(row.package), kind });
      }
  return [...stored].map(([storageName, type]) => ({ storageName, ...type }));
}

/**
 * The names by which programs know a stored resource: with its group in either naming, or without one if the group is
 * empty.
 */
function namesOf(storageName, { namingOf }) {
  const [group, plural] = storageName.split('/');
  const names = [storageName, `${namingOf('kubernetes').group(group)}/${plural}`];
  return [...new Set(group === 'core' ? [plural, ...names] : names)];
}

/** The module with the types of the objects of all stored resources, by the names of the resources. */
function resourcesModule(table) {
  const resources = storedResources(table);
  const modules = [...new Set(resources.map(({ module }) => module))].sort();
  const local = module => module.replace('/', '_');
  const members = resources.flatMap(({ storageName, module, kind }) =>
    namesOf(storageName, table).map(name => `  ${quoted(name)}: ${local(module)}.${kind};`),
  );
  return `${[
    HEAD,
    ...modules.map(module => `import type * as ${local(module)} from './${module}.js';`),
    '',
    '/** The types of the objects of built-in resources as they are stored, by the names of the resources. */',
    'export interface BuiltInResources {',
    ...members.sort(),
    '}',
  ].join('\n')}\n`;
}

/** A description as a doc comment. */
const comment = text => `/** ${text.replaceAll('*/', '*\\/')} */`;

const memberName = name => (/^\w+$/.test(name) ? name : quoted(name));
const quoted = text => `'${text.replace(/['\\]/g, '\\$&')}'`;

/** Writes a file unless it already has this text, so that the files compiled from it remain current. */
function writeIfChanged(path, text) {
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** Writes all modules, and removes those of removed packages. */
export async function writeKindTypes() {
  const table = await readTable();
  const texts = new Map(
    Object.keys(table.PACKAGES).map(name => [`${moduleOf(name)}.ts`, new ModuleText(name, table).write()]),
  );
  texts.set('index.ts', INDEX);
  texts.set('resources.ts', resourcesModule(table));
  for (const [path, text] of texts) writeIfChanged(join(FOLDER, path), text);
  for (const path of readdirSync(FOLDER, { recursive: true }))
    if (path.endsWith('.ts') && !texts.has(path)) rmSync(join(FOLDER, path));
}

if (process.argv[1] === import.meta.filename) await writeKindTypes();
