import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { Columns, TableReader } from '../../core/command/client/printed.js';
import { readMetrics } from '../../core/command/client/metrics.js';
import { applyCommand } from '../../core/command/subcommands/apply.js';
import { demoCommand } from '../../core/command/subcommands/demo.js';
import { getCommand, pagesOf } from '../../core/command/subcommands/get.js';
import { statusCommand } from '../../core/command/subcommands/status.js';
import { ratesBetween, topCommand } from '../../core/command/subcommands/top.js';
import { watchCommand } from '../../core/command/subcommands/watch.js';
import type { Io } from '../../core/command/serve.js';
import { Api } from '../api/support.js';
import { eventually } from '../support/eventually.js';
import { Captured, COMMAND } from './server.js';

/* The commands for servers without kubectl: get, apply, watch, status, top and demo, on one server. */

const directory = mkdtempSync(join(tmpdir(), 'capstan-client-'));
const kubeconfig = join(directory, 'kubeconfig');
const SERVER = `--kubeconfig=${kubeconfig}`;
let api: Api;
beforeAll(async () => {
  api = await Api.start();
  writeFileSync(kubeconfig, api.server.kubeconfig);
});
afterAll(async () => {
  await api.close();
  rmSync(directory, { recursive: true });
});

type Command = (args: readonly string[], io: Io) => Promise<number>;

/** Runs a command. Returns its output and its exit code. */
async function run(command: Command, ...args: string[]) {
  const io = new Captured();
  const code = await command([...args, SERVER], io);
  return { code, lines: io.lines.join('\n').split('\n'), errors: io.errors };
}

/** Writes a YAML file. Returns its path. */
function file(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

const MAPS = `
apiVersion: v1
kind: ConfigMap
metadata: { name: prices, namespace: shop, labels: { of: tea } }
data: { assam: '3' }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: hours, namespace: shop }
data: { monday: 9 to 5 }
`;
const SHOP = '{ apiVersion: v1, kind: Namespace, metadata: { name: shop, labels: { of: tea } } }';

describe('apply', () => {
  test('creates objects, changes those that differ, and leaves equal ones unchanged', async () => {
    const path = file('maps.yaml', `${SHOP}\n---${MAPS}`);
    const created = ['namespaces/shop created', 'configmaps/prices created', 'configmaps/hours created'];
    expect(await run(applyCommand, '-f', path)).toEqual({ code: 0, lines: created, errors: [] });
    expect((await run(applyCommand, '-f', path)).lines).toEqual(
      created.map(line => line.replace('created', 'unchanged')),
    );
    const changed = file('changed.yaml', MAPS.replace("'3'", "'4'"));
    expect((await run(applyCommand, '-f', changed)).lines[0]).toBe('configmaps/prices configured');
  });

  test('waits for a kind whose definition precedes its object in the file', async () => {
    const schema = '{ openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true } }';
    const path = file(
      'kind.yaml',
      `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: leaves.tea.example.com }
spec:
  group: tea.example.com
  scope: Namespaced
  names: { kind: Leaf, plural: leaves, singular: leaf }
  versions: [{ name: v1, served: true, storage: true, schema: ${schema} }]
---
{ apiVersion: tea.example.com/v1, kind: Leaf, metadata: { name: first } }`,
    );
    const { lines } = await run(applyCommand, '-f', path);
    expect(lines[1]).toBe('leaves.tea.example.com/first created');
  });

  test('applies valid objects, reports an error for each invalid one, and exits with 1', async () => {
    const bad = file(
      'bad.yaml',
      `{ apiVersion: v1, kind: Nothing, metadata: { name: a } }
---
{ apiVersion: v1, kind: ConfigMap, metadata: { name: UPPER } }
---
{ apiVersion: v1, kind: ConfigMap }
---
{ apiVersion: v1, kind: ConfigMap, metadata: { name: well } }`,
    );
    const { code, lines, errors } = await run(applyCommand, '-f', bad);
    expect([code, lines]).toEqual([1, ['configmaps/well created']]);
    expect(errors[0]).toContain('the server has no kind Nothing in v1: apply its definition first');
    expect(errors[1]).toContain('metadata.name: Invalid value: "UPPER"');
    expect(errors[2]).toBe('ConfigMap: has no metadata.name: add it');
  });

  test('takes over fields of other managers only if requested, and otherwise says how to request it', async () => {
    await api.made('/api/v1/namespaces/default/configmaps', { metadata: { name: 'owned' }, data: { a: '1' } });
    const path = file('owned.yaml', "{ apiVersion: v1, kind: ConfigMap, metadata: { name: owned }, data: { a: '2' } }");
    const { code, errors } = await run(applyCommand, '-f', path);
    expect([code, errors[0]]).toEqual([1, expect.stringContaining('--force-conflicts takes the fields over')]);
    expect((await run(applyCommand, '-f', path, '--force-conflicts')).lines).toEqual(['configmaps/owned configured']);
  });

  test.each([
    [[], '--filename: needs a value'],
    [['-f', '/nowhere'], '--filename: cannot read /nowhere: ENOENT'],
    [['-f', file('empty.yaml', '# nothing')], 'there are no objects in it'],
    [['-f', file('broken.yaml', 'a: [')], '--filename: '],
    [['maps.yaml'], 'takes no operand maps.yaml: name files with -f'],
  ])('%j is refused', async (args, message) => {
    await expect(run(applyCommand, ...args)).rejects.toThrow(message);
  });
});

const KIND = { group: '', version: 'v1', kind: 'ConfigMap', singular: '', shortNames: [], verbs: [] };

describe('get', () => {
  test("prints the server's table, of a namespace, of all, or of objects with labels", async () => {
    const { lines } = await run(getCommand, 'configmaps', '-n', 'shop');
    expect(lines[0]).toMatch(/^NAME +DATA +AGE$/);
    expect(lines.slice(1).map(line => line.split(' ')[0])).toEqual(expect.arrayContaining(['hours', 'prices']));
    expect((await run(getCommand, 'cm', '-n', 'shop', '-l', 'of=tea')).lines).toHaveLength(2);
    const all = (await run(getCommand, 'ConfigMap', '-A')).lines;
    expect(all[0]).toMatch(/^NAMESPACE +NAME/);
    expect(all.find(line => line.startsWith('shop '))).toMatch(/^shop +hours +1 +\d+s$/);
  });

  test('requests further pages of a long list', async () => {
    const asked: string[] = [];
    const ask = ({ path }: { path: string }) => {
      asked.push(path);
      const rest = asked.length < 3 ? { continue: `page ${asked.length}` } : {};
      return Promise.resolve({ status: 200, body: { metadata: rest, items: [] } });
    };
    const kind = { ...KIND, apiVersion: 'v1', plural: 'configmaps', namespaced: true };
    const selection = { kind, namespace: 'many', name: undefined, labelSelector: 'a=b', output: 'json' } as const;
    for await (const page of pagesOf({ ask }, selection)) expect(page).toHaveProperty('items');
    const first = '/api/v1/namespaces/many/configmaps?labelSelector=a%3Db&limit=500';
    expect(asked).toEqual([first, `${first}&continue=page+1`, `${first}&continue=page+2`]);
  });

  test('prints objects as YAML, JSON or names, without managed fields', async () => {
    const yaml = parse((await run(getCommand, 'cm', 'prices', '-n', 'shop', '-o', 'yaml')).lines.join('\n'));
    expect(yaml).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', data: { assam: '4' } });
    expect(yaml.metadata).not.toHaveProperty('managedFields');
    const json = JSON.parse((await run(getCommand, 'cm', '-n', 'shop', '-o', 'json')).lines.join('\n'));
    expect(json).toMatchObject({ kind: 'List', items: expect.arrayContaining([json.items[0]]) });
    expect(json.items.map(({ kind }: { kind: string }) => kind)).toContain('ConfigMap');
    expect((await run(getCommand, 'cm/prices', '-n', 'shop', '-o', 'name')).lines).toEqual(['configmaps/prices']);
  });

  test('prints no line on standard output if there are no objects, and a message on standard error', async () => {
    const io = new Captured();
    await getCommand(['pods', '-o', 'name', SERVER], io);
    expect([io.lines, io.errors]).toEqual([[], ['there are no pods in the namespace default']]);
  });

  test('prints no control characters of cells, and tables of any length', () => {
    const reader = new TableReader(false, false);
    const cells = ['a\u001b[2Jb\u009bc\r\n\td'];
    expect(reader.rows({ columnDefinitions: [{ name: 'Text' }], rows: [{ cells }] })).toEqual([['a [2Jb c d']]);
    expect(new Columns(Array(200_000).fill(['cell', 'x'])).line(['a', 'b'])).toBe('a      b');
  });

  test('ends without an error when its output is closed', async () => {
    const child = spawn(process.execPath, [COMMAND, 'get', SERVER], { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.destroy();
    const errors: string[] = [];
    child.stderr.on('data', (text: Buffer) => errors.push(text.toString()));
    expect(await once(child, 'close')).toEqual([141, null]);
    expect(errors).toEqual([]);
  });

  test('without a kind lists the kinds of the server', async () => {
    const { lines } = await run(getCommand);
    expect(lines[0]).toMatch(/^NAME +SHORT +KIND +PLACE$/);
    expect(lines.filter(line => /^deployments\.apps +deploy +Deployment +in a namespace$/.test(line))).toHaveLength(1);
  });

  test('says in which namespace there are no objects', async () => {
    const { code, errors } = await run(getCommand, 'pods');
    expect([code, errors]).toEqual([0, ['there are no pods in the namespace default']]);
  });

  test.each([
    [['deploymets'], 'did you mean deployments?'],
    [['zzzzzzzz'], 'capstan get lists the kinds of the server'],
    [['pods', 'web', '-n', 'shop'], 'capstan get pods -n shop lists those that are there'],
    [['pods', 'web', 'more'], 'expects KIND [NAME]'],
    [['pods', '-o', 'xml'], '--output: must be table, wide, yaml, json, name'],
    [['pods', '-A', '-n', 'shop'], '--all-namespaces: cannot be used with --namespace'],
    [['pods', 'web', '-A'], '--all-namespaces: cannot be used with a name'],
    [['pods', 'web', '-l', 'a=b'], '--selector: cannot be used with a name'],
  ])('%j is refused with a hint', async (args, message) => {
    await expect(run(getCommand, ...args)).rejects.toThrow(message);
  });
});

describe('the server of a command', () => {
  test('is that of the environment if no server was started in the folder', async () => {
    const [before, folder] = [process.env['KUBECONFIG'], process.cwd()];
    const io = new Captured();
    try {
      // A folder without the data directory of a server.
      process.chdir(directory);
      delete process.env['KUBECONFIG'];
      await expect(getCommand(['pods', '--data-dir=/nowhere'], io)).rejects.toThrow(
        '--data-dir: there is no file /nowhere/admin.kubeconfig: start a server with capstan serve',
      );
      await expect(statusCommand([], io)).rejects.toThrow('--kubeconfig: there is no file .capstan/admin.kubeconfig');
      process.env['KUBECONFIG'] = `${kubeconfig}:/another`;
      await expect(statusCommand([], io)).rejects.toThrow('KUBECONFIG names several files');
      process.env['KUBECONFIG'] = kubeconfig;
      expect(await getCommand(['namespaces', 'default'], io)).toBe(0);
    } finally {
      process.chdir(folder);
      if (before === undefined) delete process.env['KUBECONFIG'];
      else process.env['KUBECONFIG'] = before;
    }
  });

  test('is named with a hint if it refuses the credentials or does not answer', async () => {
    const text = api.server.kubeconfig;
    const user = '"user": { "token": "unknown" }';
    const stranger = file('stranger', text.replace(/"user": \{[^}]*\}/, user));
    await expect(getCommand(['pods', `--kubeconfig=${stranger}`], new Captured())).rejects.toThrow(
      'name the kubeconfig of this server with --kubeconfig',
    );
    const away = file('away', text.replace(/https:\/\/127\.0\.0\.1:\d+/, 'https://127.0.0.1:1'));
    await expect(getCommand(['pods', `--kubeconfig=${away}`], new Captured())).rejects.toThrow(
      'is the server running? capstan serve starts one',
    );
    const io = new Captured();
    const maps = ['-f', file('unreachable.yaml', MAPS)];
    await expect(applyCommand([...maps, `--kubeconfig=${away}`], io)).rejects.toThrow('is the server running?');
    // The error is not repeated for each object.
    expect(io.errors).toEqual([]);
  });
});

describe('watch', () => {
  test('prints the objects and then each change, in a table or as names', async () => {
    await api.made('/api/v1/namespaces', { metadata: { name: 'watched' } });
    const maps = '/api/v1/namespaces/watched/secrets';
    await api.made(maps, { metadata: { name: 'first' } });
    const io = new Captured();
    const names = new Captured();
    // The watches end with the server.
    const watches = [
      watchCommand(['secrets', '-n', 'watched', SERVER], io),
      watchCommand(['secrets', '-n', 'watched', '-o', 'name', SERVER], names),
    ].map(watch => watch.catch(() => undefined));
    await eventually(() => io.lines.length === 2 && names.lines.length === 1);
    expect(io.lines[0]).toMatch(/^CHANGE +NAME +TYPE +DATA +AGE$/);
    expect(io.lines[1]).toMatch(/^CURRENT +first +Opaque +0/);
    expect(await watched(api)).toBe(2);
    await api.made(maps, { metadata: { name: 'second' }, data: { a: 'MQ==' } });
    await api.call('DELETE', `${maps}/first`);
    await eventually(() => io.lines.length === 4 && names.lines.length === 3);
    expect(io.lines[2]).toMatch(/^ADDED +second +Opaque +1/);
    expect(io.lines[3]).toMatch(/^DELETED +first +Opaque +0/);
    expect(names.lines).toEqual(['CURRENT secrets/first', 'ADDED secrets/second', 'DELETED secrets/first']);
    expect(watches).toHaveLength(2);
  });
});

describe('watch of one object', () => {
  test('continues from the version of the store, also before the object is created', async () => {
    const io = new Captured();
    const before = await watched(api);
    // The watch ends with the server.
    void watchCommand(['secrets/later', '-o', 'name', SERVER], io).catch(() => undefined);
    await eventually(async () => (await watched(api)) > before);
    await api.made('/api/v1/namespaces/default/secrets', { metadata: { name: 'other' } });
    await api.made('/api/v1/namespaces/default/secrets', { metadata: { name: 'later' } });
    await eventually(() => io.lines.length > 0);
    expect([io.lines, io.errors]).toEqual([['ADDED secrets/later'], []]);
  });
});

const watched = async (server: Api): Promise<number> => readMetrics((await server.get('/metrics')).text).watches;

describe('status', () => {
  test('prints whether the server is ready, and the number of its objects', async () => {
    const { code, lines } = await run(statusCommand);
    expect(code).toBe(0);
    expect(lines[0]).toContain(`server    ${api.server.url}, release v1.32`);
    expect(lines[1]).toBe('ready     yes');
    expect(lines.find(line => line.startsWith('objects'))).toMatch(/^objects +\d+ of \d+ kinds; \d+ kinds are served$/);
  });
});

describe('top', () => {
  const text = (requests: number, errors: number, seconds: number, quick: number): string => {
    const labels = 'verb="GET",group="apps",resource="deployments"';
    return `process_cpu_seconds_total ${seconds}
apiserver_longrunning_requests{verb="WATCH"} 3
apiserver_request_total{${labels},code="200"} ${requests - errors}
apiserver_request_total{${labels},code="404"} ${errors}
apiserver_request_duration_seconds_bucket{${labels},le="0.005"} ${quick}
apiserver_request_duration_seconds_bucket{${labels},le="0.1"} ${requests}
apiserver_request_duration_seconds_bucket{${labels},le="+Inf"} ${requests}
apiserver_request_duration_seconds_sum{${labels}} ${seconds}
apiserver_request_duration_seconds_count{${labels}} ${requests}
`;
  };

  test('computes the rates, the mean and the slowest requests between two samples', () => {
    const before = readMetrics(text(100, 10, 1, 0));
    const after = readMetrics(text(300, 30, 1.5, 190));
    expect(after.watches).toBe(3);
    const row = ['GET', 'deployments.apps', '100.0', '10.0', '2.50 ms', '≤ 100 ms'];
    expect(ratesBetween(before, after, 2)).toEqual({ cpus: 0.25, perSecond: 100, errorsPerSecond: 10, rows: [row] });
    expect(ratesBetween(after, after, 2).rows).toEqual([]);
    expect(ratesBetween(before, readMetrics(text(300, 30, 1.5, 199)), 2).rows[0]!.at(-1)).toBe('≤ 5 ms');
  });

  test('prints once if there is no terminal', async () => {
    const { code, lines } = await run(topCommand);
    expect([code, lines[0]]).toEqual([0, `capstan ${api.server.url}`]);
    expect(lines[1]).toMatch(/^up .* · CPU \d+ % · memory [\d.]+ MB · watches \d+ · in flight 1$/);
    expect(lines[4]).toMatch(/^VERB +RESOURCE +PER SECOND +ERRORS +MEAN +99 %/);
  });
});

describe('demo', () => {
  test('creates a kind, its controller, a policy and traffic, creates nothing twice, and removes everything', async () => {
    const { code, lines } = await run(demoCommand, '--once');
    expect(code).toBe(0);
    expect(lines.find(line => line.includes('refused, as it should be'))).toContain('each image needs a version');
    expect(lines).toContain('✓ website demo-storefront/shop: the controller made its Deployment and its Service');
    expect(lines).toContain('✓ traffic: 14 requests of both teams, 4 of them refused');
    const { body } = await api.get('/apis/demo.example.com/v1/namespaces/demo-payments/websites/status');
    expect(body).toMatchObject({ status: { phase: 'Serving' } });
    const again = await run(demoCommand, '--once');
    expect(again.lines.filter(line => line.includes('the controller made'))).toEqual([]);

    const removed = await run(demoCommand, '--remove');
    expect(removed.lines).toContain('✓ removed namespaces/demo-storefront');
    expect((await api.get('/api/v1/namespaces/demo-storefront')).status).toBe(404);
    expect((await run(demoCommand, '--remove')).lines).toEqual([
      'there is nothing of the demonstration on this server',
    ]);
  });

  test('runs until it is interrupted, and prints all events before it ends', async () => {
    const child = spawn(process.execPath, [COMMAND, 'demo', SERVER], { stdio: ['ignore', 'pipe', 'inherit'] });
    const closed = once(child, 'close');
    let output = '';
    child.stdout.on('data', text => (output += String(text)));
    await eventually(() => output.includes('until Ctrl-C'));
    child.kill('SIGINT');
    expect(await closed).toEqual([0, null]);
    expect(output).toMatch(/✓ traffic: \d+ requests of both teams, \d+ of them refused\n$/);
    await run(demoCommand, '--remove');
  });

  test('does not change objects of other users that have its names', async () => {
    await api.made('/api/v1/namespaces', { metadata: { name: 'demo-storefront' } });
    await expect(run(demoCommand, '--once')).rejects.toThrow('is there already, and is not of the demonstration');
    expect((await run(demoCommand, '--remove')).lines).not.toContain('✓ removed namespaces/demo-storefront');
    expect((await api.get('/api/v1/namespaces/demo-storefront')).status).toBe(200);
  });
});
