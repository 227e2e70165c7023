/**
 * `npm run record`: runs the first commands of a new user in a separate terminal, and writes their output as
 * docs/images/session.svg. The file is not changed if only figures that change with every run differ. Needs `script` of
 * util-linux.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, install, root } from '../project.mjs';
import { screenText, sessionImage } from './sessionImage.mjs';

const IMAGE = join(root, 'docs', 'images', 'session.svg');
/** The folder and the port that the recorded session shows instead of the real ones. */
const [PLACE, PORT] = ['/home/you/shop', '6443'];
const COMMANDS = ['npx capstan demo --once', 'npx capstan get websites -A', 'npx capstan status'];

/**
 * Runs a command line of the session in a terminal. `until`: the text after which the command is ready, and continues
 * to run.
 */
async function inTerminal(folder, line, until) {
  const program = `${process.execPath} ${join(root, 'dist', 'core', 'command', 'main.js')}`;
  const command = line.replace('npx capstan', program) + (until ? ' --secure-port=0' : '');
  const { NO_COLOR: _, KUBECONFIG: __, ...env } = process.env;
  const terminal = spawn('script', ['-qfec', command, '/dev/null'], {
    cwd: folder,
    env: { ...env, TERM: 'xterm-256color' },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  let shown = '';
  const ended = once(terminal, 'close').then(() => false);
  const ready = new Promise(resolve => {
    terminal.stdout.on('data', bytes => {
      shown += bytes;
      if (until && shown.includes(until)) resolve(true);
    });
  });
  if (!(await Promise.race([ended, ready])) && (until || terminal.exitCode !== 0))
    throw new Error(`${line} ended with ${terminal.exitCode}:\n${shown}`);
  const end = async () => {
    process.kill(-terminal.pid, 'SIGTERM');
    await ended;
  };
  return { shown, end };
}

/** A line whose figure depends more on the machine and its load than on the program; README.md has it in a table. */
const isLeftOut = line => /ready in \d+ ms/.test(line);

/** A session without its figures. */
const shapeOf = image => image.replaceAll(/\d+(\.\d+)?/g, '0');

await install();
await build();
const folder = mkdtempSync(join(tmpdir(), 'capstan-record-'));
let server;
try {
  server = await inTerminal(folder, 'npx capstan', 'a small world to look at');
  const parts = [`$ npx capstan\n${server.shown}`];
  for (const line of COMMANDS) parts.push(`$ ${line}\n${(await inTerminal(folder, line)).shown}`);
  const [, port] = /listening on \S*?:(\d+)/.exec(screenText(server.shown).join('\n'));
  const session = parts.join('\n').replaceAll(folder, PLACE).replaceAll(`127.0.0.1:${port}`, `127.0.0.1:${PORT}`);
  const image = sessionImage(screenText(session).filter(line => !isLeftOut(line)));
  const before = existsSync(IMAGE) ? readFileSync(IMAGE, 'utf8') : '';
  if (shapeOf(before) !== shapeOf(image)) writeFileSync(IMAGE, image);
} finally {
  await server?.end();
  rmSync(folder, { recursive: true, force: true });
}
