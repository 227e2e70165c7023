import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, expect, test } from 'vitest';
import { ServerProcess } from '../server/processes.js';
import { eventually } from '../support/eventually.js';
import { Inspector } from './inspector.js';

/* A debugger stops a pool thread in a plugin for longer than a call may take. */

const MAPS = '/api/v1/namespaces/default/configmaps';
const PLUGIN = resolve('dist/test/debugging/fixtures/debugged.js');
const use = pathToFileURL(PLUGIN).href;
/** The line that copies the label, counted from zero. */
const LINE = readFileSync(PLUGIN, 'utf8')
  .split('\n')
  .findIndex(line => line.includes("['copied']"));
/**
 * The time limit of the plugin in both programs, and the time at a breakpoint after which its thread would be ended.
 */
const LIMIT_MS = 500;
const STALL_MS = LIMIT_MS + 1000;

const directory = mkdtempSync(join(tmpdir(), 'capstan-debugging-'));
const config = join(directory, 'config.yaml');
writeFileSync(config, `plugins: [{ use: ${JSON.stringify(use)}, timeout: ${LIMIT_MS}ms }]\n`);
afterAll(() => rmSync(directory, { recursive: true }));

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** Starts a server, and attaches a debugger that stops in its plugin. */
async function debug(server: ServerProcess) {
  ends.push(() => server.dispose());
  await server.start();
  const create = (labels: object) => server.call('POST', MAPS, { metadata: { generateName: 'map-', labels } });
  // The namespace does not exist at first.
  await eventually(async () => (await create({})).status === 201);
  const inspector = await Inspector.attach(server.output);
  ends.unshift(() => inspector.close());
  await inspector.breakAt(use, LINE);
  return { server, create, inspector };
}

const commandLine = (): ServerProcess =>
  new ServerProcess(['--storage-backend=memory', `--config=${config}`, '--inspect=127.0.0.1:0']);
const program = (): ServerProcess =>
  new ServerProcess([], ['--inspect=127.0.0.1:0'], resolve('dist/test/debugging/fixtures/program.js'));

test.each([
  ['capstan serve --inspect', commandLine],
  ['node --inspect program.js', program],
])(
  'with %s, a plugin may stay at a breakpoint while others are served, and its request is answered afterwards',
  async (_, processOf) => {
    const debugging = await debug(processOf());
    const { create, inspector } = debugging;
    let isAnswered = false;
    const debugged = create({ debugged: 'yes' }).finally(() => (isAnswered = true));
    await eventually(() => inspector.paused.length > 0);
    const began = performance.now();
    expect(await inspector.evaluate(inspector.paused[0]!, 'debugged')).toBe('yes');
    const others: number[] = [];
    while (performance.now() < began + 2 * STALL_MS) others.push((await create({})).status);
    expect(new Set(others)).toEqual(new Set([201]));
    // Other calls have no time limit either.
    expect((await create({ slow: String(2 * LIMIT_MS) })).status).toBe(201);
    expect(isAnswered).toBe(false);

    await inspector.sendTo(inspector.paused[0]!.session, 'Debugger.resume');
    const { status, body } = await debugged;
    expect(status).toBe(201);
    expect(body).toMatchObject({ metadata: { labels: { debugged: 'yes', copied: 'yes' } } });
    expect(inspector.paused).toHaveLength(1);
    expect((await create({})).status).toBe(201);
    expect(debugging.server.output).toContain('the inspector is open');
    expect(debugging.server.output).not.toContain('is ended');
  },
);

test('at SIGTERM, capstan serve --inspect ends, although a debugger is connected', async () => {
  const { server, inspector } = await debug(commandLine());
  expect(await server.end('SIGTERM')).toBe(0);
  inspector.close();
});
