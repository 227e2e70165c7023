import { readFileSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { freePort, installCapstan, newFolder, run, StartedCommand, write } from './project.js';
import { stepsOf } from './steps.js';

/*
 * The pages Start and Tutorials, followed word by word, except that Capstan and its tools are installed before, and
 * that the port may be another. The plugin tutorial is followed in guide.test.ts, with its installs.
 */

const folders: { remove(): void }[] = [];
const started: StartedCommand[] = [];
afterAll(async () => {
  await Promise.all(started.map(command => command.end()));
  for (const folder of folders) folder.remove();
}, 120_000);

/** A command that runs until Ctrl-C: a server, or a watch. */
const RUNS_ON = /^npx capstan( serve .*| watch .*)?$/;
/** A server that takes a free port. */
const onFreePort = (command: string): string => (command === 'npx capstan' ? 'npx capstan --secure-port=0' : command);
/** Lines in which times and the widths of columns are left out. */
const shapeOf = (text: string): string[] =>
  text
    .trimEnd()
    .split('\n')
    .map(line => line.replaceAll(/\b\d+m?s\b/g, '…').replaceAll(/ {2,}/g, '  '));

/** Follows a page in a folder. Each text block is what the commands before it, or a watch, must have printed. */
async function follow(page: string, start: string): Promise<void> {
  let directory = start;
  let printed = '';
  let watch: StartedCommand | undefined;
  const lines = (): string[] => [...shapeOf(printed), ...shapeOf(watch?.output ?? '')];
  for (const step of stepsOf(page)) {
    if (step.is === 'file') {
      expect(step.path, step.text).not.toBe('');
      write(directory, step.path, step.text);
    } else if (step.is === 'output') {
      for (const line of shapeOf(step.text)) {
        await watch?.until(() => lines().includes(line));
        expect(lines()).toContain(line);
      }
    } else if (RUNS_ON.test(step.text.trim())) {
      const command = new StartedCommand(directory, onFreePort(step.text.trim()));
      started.push(command);
      if (step.text.includes(' watch ')) watch = command;
      await command.until(watch === command ? 'CURRENT' : 'ready in');
    } else {
      const commands = step.text.replace(/^npm install( \.\/capstan-.*)?$/gm, 'true');
      printed = await run(directory, 'bash', '-ec', `{ ${commands}\n} 2>&1\necho\npwd`);
      directory = printed.trim().split('\n').at(-1)!;
    }
  }
}

/** A folder in which Capstan and its tools are installed. */
async function installedFolder(): Promise<string> {
  const folder = newFolder();
  folders.push(folder);
  await installCapstan(folder.path);
  return folder.path;
}

test('Start leads from an empty folder to a server, and the tutorials go on to a kind and a policy there', {
  timeout: 300_000,
}, async () => {
  const folder = await installedFolder();
  for (const page of ['docs/start.md', 'docs/tutorials/kind.md', 'docs/tutorials/policy.md'])
    await follow(readFileSync(page, 'utf8'), folder);
});

test('the tutorial leads from an empty folder to a kind with a controller and a client', {
  timeout: 300_000,
}, async () => {
  const port = String(await freePort());
  await follow(readFileSync('docs/tutorials/controller.md', 'utf8').replaceAll('6443', port), await installedFolder());
});
