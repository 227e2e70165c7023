import { copyFileSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort, newFolder, packCapstan, run, StartedCommand, write } from './project.js';
import { stepsOf } from './steps.js';

/* docs/guides/tutorial.md, followed word by word in an empty folder; only the port may be another. */

const work = newFolder();
let tarball: string;
let server: StartedCommand | undefined;
beforeAll(async () => {
  tarball = await packCapstan();
}, 120_000);
afterAll(async () => {
  await server?.end();
  work.remove();
}, 120_000);

test('the tutorial leads from an empty folder to a kind with a controller and a client', {
  timeout: 300_000,
}, async () => {
  const guide = readFileSync('docs/guides/tutorial.md', 'utf8').replaceAll('6443', String(await freePort()));
  copyFileSync(tarball, join(work.path, basename(tarball)));
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
      printed = await run(directory, 'bash', '-ec', `${step.text}\necho\npwd`);
      directory = printed.trim().split('\n').at(-1)!;
    }
  }
  const [, promised] = /```text\n(.*?)```/s.exec(guide)!;
  expect(printed.startsWith(promised!), printed).toBe(true);
});
