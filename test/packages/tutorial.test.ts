import { copyFileSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { freePort, installPnpm, newFolder, packCapstan, runWith, StartedCommand, write } from './project.js';
import { stepsOf, toPnpm } from './steps.js';

/*
 * docs/guides/tutorial.md, followed word by word in an empty folder, with npm and with pnpm; only the port may be another.
 */

let tarball: string;
let variables: NodeJS.ProcessEnv;
let server: StartedCommand | undefined;
const folders: ReturnType<typeof newFolder>[] = [];
beforeAll(async () => {
  tarball = await packCapstan();
  variables = await installPnpm();
}, 120_000);
afterEach(async () => {
  await server?.end();
  for (const folder of folders.splice(0)) folder.remove();
}, 120_000);

test.each(['npm', 'pnpm'])(
  'the tutorial leads from an empty folder to a kind with a controller and a client, with %s',
  {
    timeout: 300_000,
  },
  async tool => {
    const work = newFolder();
    folders.push(work);
    const guide = readFileSync('docs/guides/tutorial.md', 'utf8').replaceAll('6443', String(await freePort()));
    copyFileSync(tarball, join(work.path, basename(tarball)));
    let directory = work.path;
    let printed = '';
    for (const step of stepsOf(guide)) {
      const text = tool === 'pnpm' && step.is === 'commands' ? toPnpm(step.text) : step.text;
      if (tool === 'pnpm') expect(text).not.toMatch(/^(npm|npx) /m);
      if (step.is === 'file') {
        expect(step.path, text).not.toBe('');
        write(directory, step.path, text);
      } else if (text.includes('capstan serve')) {
        server = new StartedCommand(directory, text.trim(), variables);
        await server.until('ready in');
      } else {
        printed = await runWith(variables, directory, 'bash', '-ec', `${text}\necho\npwd`);
        directory = printed.trim().split('\n').at(-1)!;
      }
    }
    const [, promised] = /```text\n(.*?)```/s.exec(guide)!;
    expect(printed.startsWith(promised!), printed).toBe(true);
  },
);
