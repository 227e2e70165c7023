/**
 * `npm run differential -- --reference URL [--url URL] [--token TOKEN] [--only TEXT] [--record]`: changes one thing in
 * each object of test/kinds/rules/bases.json and sends creates and updates, as dry runs, to a reference server and to
 * the server at --url, and prints the differences of their answers. --record saves the refusals of the reference in
 * test/kinds/rules/recorded.json, which tests replay without a reference; with --only, for the paths with that text.
 * Without --reference, prints the fields that no base has, and writes docs/reference/kinds.md.
 *
 * With --coverage, the objects are those of test/kinds/rules/coverage.json, whose answers are not recorded: between
 * them and the bases, every field of every kind is in at least one.
 *
 * With --definitions COUNT, generates that many definitions from --seed, with objects, policies and webhook
 * configurations.
 *
 * With --admission COUNT, generates that many policies with bindings and params, or webhook configurations, which are
 * then called for writes, and objects of a kind that a webhook converts. The servers must reach 127.0.0.1.
 *
 * With --writes COUNT, sends that many updates of the status, patches and applies for each base instead, generated from
 * --seed.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { compareDefinitions } from './definitions.mjs';
import { masked, randomNumbers } from './common.mjs';
import { compareWrites } from './writes.mjs';
import { root } from '../project.mjs';

const FOLDER = join(root, 'test', 'kinds', 'rules');
const read = name => JSON.parse(readFileSync(join(FOLDER, name), 'utf8'));

const { values: options } = parseArgs({
  options: {
    reference: { type: 'string' },
    url: { type: 'string' },
    token: { type: 'string', default: 'admin-token' },
    only: { type: 'string', default: '' },
    record: { type: 'boolean', default: false },
    coverage: { type: 'boolean', default: false },
    writes: { type: 'string' },
    definitions: { type: 'string' },
    admission: { type: 'string' },
    seed: { type: 'string', default: '1' },
  },
});

const TEXTS = ['', 'x', 'a b', 'A_', '-1', '101%', '/x', 'a/b', '::1', '*', 'y'.repeat(300)];
const NUMBERS = [-1, 0, 1, 70000, 2147483647];

/** Every path below the metadata of an object, with its value. */
function* places(value, at = []) {
  if (at.length > 0 && (at.length > 1 || !['apiVersion', 'kind', 'metadata'].includes(at[0]))) yield { at, value };
  if (at[0] === 'metadata' || typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value))
    yield* places(inner, [...at, Array.isArray(value) ? Number(key) : key]);
}

/** Values to set at a path; undefined removes the member. */
function changesOf(value) {
  if (typeof value === 'string') return [undefined, ...TEXTS];
  if (typeof value === 'number') return [undefined, ...NUMBERS];
  if (typeof value === 'boolean') return [undefined, !value];
  if (Array.isArray(value)) return [undefined, [], [...value, value[0]]];
  return [undefined, {}];
}

function put(object, at, value) {
  const copy = structuredClone(object);
  const owner = at.slice(0, -1).reduce((inner, key) => inner[key], copy);
  if (value !== undefined) owner[at.at(-1)] = value;
  else if (Array.isArray(owner)) owner.splice(at.at(-1), 1);
  else delete owner[at.at(-1)];
  return copy;
}

/** Values in Go's own format, and memory addresses, differ between servers. */
const GO_VALUE = /value: (?:map\[|\[\]|[a-zA-Z0-9.]+\{|\{|&)[\s\S]*?(?=: [a-z`"]|$)/;

/** A message without values in Go's own format, and without the diff that follows some messages. */
const comparable = message => message.replace(GO_VALUE, 'value: <value>').replace(/\n[\s\S]*$/, '');

async function ask(server, method, path, body) {
  const answer = await fetch(`${server}${path}`, {
    method,
    headers: { authorization: `Bearer ${options.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const status = await answer.json();
  const causes = status.details?.causes ?? [];
  return {
    code: answer.status,
    lines: causes.map(({ field, message }) => `${field}: ${comparable(message)}`),
  };
}

async function compareBase({ path, object }, index, found) {
  const servers = [options.reference, ...(options.url ? [options.url] : [])];
  const of = `${path}/${object.metadata.name}`;
  const versions = [];
  for (const server of servers) {
    await fetch(`${server}${of}`, { method: 'DELETE', headers: { authorization: `Bearer ${options.token}` } });
    const { code, lines } = await ask(server, 'POST', path, object);
    if (code !== 201) throw new Error(`${server} refuses base ${index}, ${path}: ${code} ${lines}`);
    const made = await fetch(`${server}${of}`, { headers: { authorization: `Bearer ${options.token}` } });
    versions.push((await made.json()).metadata.resourceVersion);
  }
  for (const { at, value } of places(object)) {
    for (const change of changesOf(value)) {
      for (const operation of ['create', 'update']) {
        const changed = put(object, at, change);
        const answers = await Promise.all(
          servers.map((server, i) => {
            const metadata = {
              ...object.metadata,
              ...(operation === 'update' ? { resourceVersion: versions[i] } : { name: 'other' }),
            };
            const body = {
              ...changed,
              metadata: object.kind === 'APIService' ? { ...metadata, name: object.metadata.name } : metadata,
            };
            return operation === 'update'
              ? ask(server, 'PUT', `${of}?dryRun=All`, body)
              : ask(server, 'POST', `${path}?dryRun=All`, body);
          }),
        );
        const shown = JSON.stringify(answers[0]);
        if (answers[1] && JSON.stringify(answers[1]) !== shown)
          console.log(
            `${operation} ${path} ${at.join('/')} = ${JSON.stringify(change)}\n  ${shown}\n  ${JSON.stringify(answers[1])}`,
          );
        if (answers[0].code === 422) found.push({ base: index, operation, at, value: change, lines: answers[0].lines });
      }
    }
  }
  for (const server of servers)
    await fetch(`${server}${of}`, { method: 'DELETE', headers: { authorization: `Bearer ${options.token}` } });
}

/** One record for each operation, path and list of messages, ignoring indexes of items and values. */
function distinct(records) {
  const general = text => text.replace(/\d+/g, '#').replace(/value: .*?: /g, 'value: ');
  const seen = new Map();
  for (const record of records) {
    const place = record.at.join('/').replace(/\/\d+/g, '/*');
    const key = `${record.base} ${record.operation} ${place} ${record.lines.map(general).join()}`;
    if (!seen.has(key)) seen.set(key, record);
  }
  return [...seen.values()];
}

/** The lines of a value that the other one does not have. */
function differences(a, b) {
  const [x, y] = [a, b].map(value => JSON.stringify(masked(value), null, 1).split('\n'));
  const only = (mine, other, sign) =>
    mine.filter(line => !other.includes(line)).map(line => `    ${sign} ${line.trim().slice(0, 300)}`);
  return [...only(x, y, '-').slice(0, 8), ...only(y, x, '+').slice(0, 8)];
}

/** Kinds to which controllers write at once, so that the answers to a sequence of writes are not deterministic. */
const CONTROLLED = ['APIService', 'ClusterRole', 'FlowSchema', 'ValidatingAdmissionPolicy', 'ResourceQuota'];

/** Prints a request that the servers answer differently. `of`: the objects for which it was generated. */
const report = ({ method, path, query = '', type = '', body, of = [] }, [a, b]) =>
  console.log(
    [`${method} ${path}${query} ${type} ${JSON.stringify(body)?.slice(0, 600)}`, `    ${a.code} ${b.code}`]
      .concat(of.map(object => `    of ${JSON.stringify(object).slice(0, 900)}`))
      .concat(a.warning === b.warning ? [] : [`    - ${a.warning}`, `    + ${b.warning}`])
      .concat(differences(a.body, b.body))
      .join('\n'),
  );

async function compareAllWrites(bases) {
  const servers = [options.reference, options.url];
  const count = Number(options.writes);
  let alike = 0;
  for (const base of bases) {
    const random = randomNumbers(Number(options.seed));
    alike += await compareWrites({ servers, token: options.token, base, count, random, report });
  }
  console.log(`${alike} of ${bases.length * count} answers are alike`);
}

const bases = read(options.coverage ? 'coverage.json' : 'bases.json');
if (options.reference && options.definitions) {
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  const { reference, url, token, definitions, seed } = options;
  const random = randomNumbers(Number(seed));
  const servers = [reference, url];
  const { sent, alike } = await compareDefinitions({ servers, token, count: Number(definitions), random, report });
  console.log(`${alike} of ${sent} answers are alike`);
} else if (options.reference && options.admission) {
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  const { compareAdmission } = await import('./admission.mjs');
  const { reference, url, token, admission, seed } = options;
  const servers = [reference, url];
  const random = randomNumbers(Number(seed));
  const { sent, alike } = await compareAdmission({ servers, token, count: Number(admission), random, report });
  console.log(`${alike} of ${sent} answers are alike`);
} else if (options.reference && options.writes) {
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  const written = [...bases, ...read('writeBases.json')].filter(base => !CONTROLLED.includes(base.object.kind));
  await compareAllWrites(written.filter(base => base.path.includes(options.only)));
} else if (options.reference) {
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  const found = [];
  for (const [index, base] of bases.entries())
    if (base.path.includes(options.only)) await compareBase(base, index, found);
  console.log(`${found.length} changes are refused by the reference`);
  if (options.record && !options.coverage) {
    const others = read('recorded.json').filter(({ base }) => !bases[base].path.includes(options.only));
    const lines = [...others, ...distinct(found)].map(record => `  ${JSON.stringify(record)}`);
    writeFileSync(join(FOLDER, 'recorded.json'), `[\n${lines.join(',\n')}\n]\n`);
  }
} else {
  const { kindsPage, uncoveredFields } = await import('../../dist/test/kinds/rules/page.js');
  for (const field of uncoveredFields([...bases, ...read('coverage.json')])) console.log(`no base has ${field}`);
  writeFileSync(
    join(root, 'docs', 'reference', 'kinds.md'),
    kindsPage(bases, read('recorded.json'), read('differences.json')),
  );
}
