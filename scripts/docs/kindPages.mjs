/**
 * The pages of docs/reference/kinds: every field of the built-in kinds with its type and description, from the table.
 */

const nameOf = id => id.slice(id.lastIndexOf('.') + 1);
const packageOf = id => id.slice(0, id.lastIndexOf('.'));

/** The name of a page: `core-v1.md`. */
const pageOf = packageName => `${packageName.replace('.', '-')}.md`;

/** A text as a cell of a table. */
const cell = text => text.replace(/[|<>]/g, sign => (sign === '|' ? '\\|' : `\\${sign}`));

/** A type as a link to its section. */
const link = (id, packageName) => {
  const page = packageOf(id) === packageName ? '' : pageOf(packageOf(id));
  return `[${nameOf(id)}](${page}#${nameOf(id).toLowerCase()})`;
};

function typeText(type, packageName) {
  if (type.is === 'list') return `list of ${typeText(type.of, packageName)}`;
  if (type.is === 'map') return `map of ${typeText(type.of, packageName)}`;
  return type.is === 'struct' ? link(type.id, packageName) : type.name;
}

function section(struct, packageName, { describeField, describeType }) {
  const rows = struct.fields.map(field => {
    const type = typeText(field.type, packageName);
    return `| \`${field.name}\` | ${type}${field.required ? ', required' : ''} | ${cell(describeField(struct, field))} |`;
  });
  const table = rows.length > 0 ? `\n\n| field | type | description |\n| --- | --- | --- |\n${rows.join('\n')}` : '';
  return `## ${nameOf(struct.id)}\n${cell(describeType(struct))}${table}\n`;
}

/**
 * The pages by file name, from the functions of the table. List kinds are omitted, since they differ only in their
 * kind.
 */
export function kindPages(table) {
  const pages = new Map();
  for (const packageName of Object.keys(table.PACKAGES)) {
    const ids = table.typesOfPackage(packageName);
    const types = ids.filter(id => !(id.endsWith('List') && ids.includes(id.slice(0, -4)))).map(table.typeOf);
    if (types.length === 0) continue;
    const sections = types.map(struct => section(struct, packageName, table));
    const [group, version] = packageName.split('.');
    const title = `# Kinds and types: ${group === 'core' ? version : `${group}/${version}`}`;
    pages.set(pageOf(packageName), `${title}\nWritten by \`npm run reference\`.\n\n${sections.join('\n')}`);
  }
  return pages;
}
