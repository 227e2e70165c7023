import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort, installCapstan, newFolder, run, StartedCommand, write } from './project.js';
import { stepsOf } from './steps.js';

/*
 * docs/guides/tutorial.md, followed word by word, except that Capstan and its tools are installed before, and that the
 * port may be another. The installs are those of the guide to plugin packages, which has a test too.
 */

const work = newFolder();
let server: StartedCommand | undefined;
beforeAll(async () => {
  await installCapstan(work.path);
}, 120_000);
afterAll(async () => {
  await server?.end();
  work.remove();
}, 120_000);

test('the tutorial leads from an empty folder to a kind with a controller and a client', {
  timeout: 300_000,
}, async () => {
  const guide = readFileSync('docs/guides/tutorial.md', 'utf8').replaceAll('6443', String(await freePort()));
  let installs = 0;
  let directory = work.path;
  let printed = '';
  for (const step of stepsOf(guide)) {
    if (step.is === 'file') {
      expect(step.path, step.text).not.toBe('');
      write(directory, step.path, step.text);
    } else if (step.text.includes('capstan serve')) {
      server = new StartedCommand(directory, step.text.trim());
      await server.until('ready in');
    } else {
      const commands = step.text.replace(/^npm install( \.\/capstan-.*)?\n/gm, () => `true ${installs++}\n`);
      printed = await run(directory, 'bash', '-ec', `${commands}\necho\npwd`);
      directory = printed.trim().split('\n').at(-1)!;
    }
  }
  // Of Capstan, and of what the new package is developed with.
  expect(installs).toBe(2);
  const [, promised] = /```text\n(.*?)```/s.exec(guide)!;
  expect(printed.startsWith(promised!), printed).toBe(true);
});
