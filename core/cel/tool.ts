/** `capstan cel`: evaluates one expression, or a file of tables. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { createEnvironment } from './environment.js';
import { schemaType, type Schema } from './schema/schema.js';
import { runTable, type Table } from './tables.js';
import { display } from './evaluate/text.js';
import { DYN, formatType, type Type } from './check/types.js';
import { fromPlain, type Value } from './evaluate/values.js';
import { type CompatibilityVersion, DEFAULT_VERSION, librariesOf, validationOf } from './versions.js';

/** The tool's output streams. */
export interface ToolOutput {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
}

const USAGE = `usage: capstan cel EXPRESSION [--data FILE] [--schema FILE] [--compatibility-version 1.32]
         checks and evaluates an expression: self and oldSelf are the data, typed by the schema (or by the schema of
         a CustomResourceDefinition's first version)
       capstan cel --tables FILE
         evaluates every expression of a JSON file of tables
`;

/** Runs the tool and returns its exit code: 0 success, 1 the expression failed, 2 bad usage. */
export async function runCelTool(argv: string[], io: ToolOutput): Promise<number> {
  const options = new Map<string, string>();
  const rest: string[] = [];
  for (let i = 0; i < argv.length; i++) {
    const m = /^--([a-z-]+)(?:=(.*))?$/s.exec(argv[i]!);
    if (m && ['data', 'schema', 'tables', 'compatibility-version'].includes(m[1]!))
      options.set(m[1]!, m[2] ?? argv[++i] ?? '');
    else rest.push(argv[i]!);
  }
  if (rest.includes('--help')) {
    io.stdout.write(USAGE);
    return 0;
  }
  try {
    const tables = options.get('tables');
    if (tables !== undefined) return printTables(tables, io);
    if (rest.length !== 1 || !/^1\.\d{1,3}$/.test(options.get('compatibility-version') ?? DEFAULT_VERSION)) {
      io.stderr.write(USAGE);
      return 2;
    }
    return evaluate(rest[0]!, options, io);
  } catch (error) {
    io.stderr.write(`${error instanceof Error ? error.message : display(error as Value)}\n`);
    return 2;
  }
}

/** Parses YAML or JSON; integers become bigints, so that 64 bits are kept. */
const parseData = (text: string): unknown => parse(text, { intAsBigInt: true, maxAliasCount: 100 });

function printTables(file: string, io: ToolOutput): number {
  for (const table of JSON.parse(readFileSync(file, 'utf8')) as Table[]) {
    const results = runTable(table, parseData);
    table.cases.forEach((c, i) => {
      io.stdout.write(`${JSON.stringify({ expr: c.expr, result: results[i] })}\n`);
    });
  }
  return 0;
}

interface Definition extends Schema {
  readonly spec?: { readonly versions?: readonly { readonly schema?: { readonly openAPIV3Schema?: Schema } }[] };
}

/** Reads a schema, or the schema of a CustomResourceDefinition's first version. */
function readSchema(file: string): { schema: Schema; root: boolean } {
  const document = parse(readFileSync(file, 'utf8')) as Definition;
  const inner = document.spec?.versions?.[0]?.schema?.openAPIV3Schema;
  return inner ? { schema: inner, root: true } : { schema: document, root: false };
}

function evaluate(expression: string, options: ReadonlyMap<string, string>, io: ToolOutput): number {
  const version = (options.get('compatibility-version') ?? DEFAULT_VERSION) as CompatibilityVersion;
  const data = options.has('data') ? parseData(readFileSync(options.get('data')!, 'utf8')) : {};
  const given = options.has('schema') ? readSchema(options.get('schema')!) : undefined;
  const schema = given && schemaType(given.schema, { name: 'selfType', root: given.root });
  const type: Type = schema?.type ?? DYN;
  const env = createEnvironment({
    libraries: librariesOf(version),
    validation: validationOf(version),
    variables: { self: type, oldSelf: type },
    sizes: schema ? { self: schema, oldSelf: schema } : {},
  });
  const compiled = env.compile(expression);
  if (!compiled.program) {
    io.stderr.write(`${compiled.errors}\n`);
    return 1;
  }
  const self = schema ? schema.view(data) : fromPlain(data);
  const outcome = compiled.program.evaluate({ self, oldSelf: self });
  const { min, max } = compiled.cost!;
  io.stdout.write(`type: ${formatType(compiled.type!)}\n`);
  if (outcome.error !== undefined) io.stderr.write(`error: ${outcome.error}\n`);
  else io.stdout.write(`value: ${printable(outcome.value!)}\n`);
  io.stdout.write(`estimated cost: ${min === max ? min : `${min} to ${max}`}\nactual cost: ${outcome.cost}\n`);
  return outcome.error === undefined ? 0 : 1;
}

function printable(v: Value): string {
  try {
    return display(v);
  } catch {
    return '(a value without a text form)';
  }
}
