import { spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { COMMANDS_MS, installCapstan, newFolder, packCapstan, run, StartedCommand, write } from './project.js';

/*
 * The systemd unit and the container file of docs/guides/operations.md, as far as they can be tested without root.
 * Capstan is installed as by the command of the container file, but without the network: see `installCapstan`.
 */

const guide = readFileSync('docs/guides/operations.md', 'utf8');

/** The first block of the guide in this language. */
const blockOf = (language: string): string => new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 's').exec(guide)?.[1] ?? '';

const folder = newFolder();
let server: StartedCommand | undefined;
afterAll(async () => {
  await server?.end();
  folder.remove();
});

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

test.skipIf(!hasSystemd)('the unit is valid', () => {
  const unit = blockOf('ini').replace('/opt/capstan/node_modules/.bin/capstan', process.execPath);
  write(folder.path, 'capstan.service', unit);
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', './capstan.service'], {
    cwd: folder.path,
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([0, '']);
});

test('the container file installs and starts a server', { timeout: COMMANDS_MS }, async () => {
  const app = join(folder.path, 'app');
  await run(folder.path, 'mkdir', 'app');
  const tarball = await packCapstan();
  const lines = blockOf('dockerfile').trim().split('\n');
  for (const line of lines) {
    const [instruction, ...rest] = line.split(' ');
    const argument = rest.join(' ');
    if (instruction === 'COPY') {
      expect(argument).toBe(`${basename(tarball)} ./`);
      copyFileSync(tarball, join(app, basename(tarball)));
    } else if (instruction === 'RUN') {
      expect(argument).toBe(`npm install --omit=dev ./${basename(tarball)}`);
      await installCapstan(app);
    } else if (instruction === 'ENTRYPOINT') {
      const command = (JSON.parse(argument) as string[]).join(' ').replace('/data', join(folder.path, 'data'));
      server = new StartedCommand(app, `${command} --secure-port=0`);
      await server.until('ready in');
    } else expect(['FROM', 'WORKDIR', 'USER', 'VOLUME', 'EXPOSE']).toContain(instruction);
  }
  expect(server?.output).toMatch(/listening on https:/);
});
