import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  COMMANDS_MS,
  copyCapstan,
  freePort,
  installCapstan,
  installPnpm,
  newFolder,
  runWith,
  StartedCommand,
  withPackages,
  write,
} from './project.js';
import { stepsOf, toPnpm } from './steps.js';

/*
 * docs/tutorials/plugin.md, followed literally in an empty folder, with npm and with pnpm; only the port may be
 * different. The folder is a copy of one in which npm has run the first command, and npm finds the packages of that
 * folder when it installs those of the plugin.
 */

const work = newFolder();
let variables: NodeJS.ProcessEnv;
beforeAll(async () => {
  variables = await installPnpm();
}, COMMANDS_MS);
afterAll(() => work.remove());

test.each(['npm', 'pnpm'])(
  'the guide leads from an empty folder to a plugin in a running server, with %s',
  { timeout: COMMANDS_MS },
  async tool => {
    const port = await freePort();
    const guide = readFileSync('docs/tutorials/plugin.md', 'utf8').replaceAll('6443', String(port));
    const folder = newFolder();
    let server: StartedCommand | undefined;
    try {
      const isInstalled = tool === 'npm';
      if (isInstalled) await installCapstan(folder.path);
      else await copyCapstan(folder.path);
      let directory = folder.path;
      const created: string[] = [];
      for (const step of stepsOf(guide)) {
        const given = tool === 'pnpm' && step.is === 'commands' ? toPnpm(step.text) : step.text;
        const text = isInstalled ? await withPackages(given.replace(/^npm install \.\/capstan-.*\n/m, '')) : given;
        if (tool === 'pnpm') expect(text).not.toMatch(/^(npm|npx) /m);
        if (step.is === 'file') {
          expect(step.path, text).not.toBe('');
          write(directory, step.path, text);
        } else if (text.includes('capstan serve')) {
          server = new StartedCommand(directory, text.trim(), variables);
          await server.until('ready in');
        } else {
          const output = await runWith(variables, directory, 'bash', '-ec', `${text}\necho\npwd`);
          directory = output.trim().split('\n').at(-1)!;
          if (text.includes('plugins list')) expect(output).toMatch(/^no-latest +validator +10s +Fail +\/.*no-latest/m);
          if (text.includes('create.mjs')) created.push(output.slice(0, output.lastIndexOf('}') + 1));
        }
      }
      expect(directory.endsWith(basename(folder.path))).toBe(true);
      const [refused, pod] = created.map(text => JSON.parse(text) as { code?: number; message?: string; kind: string });
      expect([refused?.code, pod?.kind]).toEqual([422, 'Pod']);
      expect(guide.replaceAll('\n', ' ')).toContain(`\`${refused?.message}\``);
      await expectRefusal(guide, directory, tool === 'pnpm' ? 'pnpm exec capstan' : 'npx capstan');
    } finally {
      await server?.end();
      folder.remove();
    }
  },
);

/** Expects that `plugins list` fails for a wrong setting with the message in the guide. */
async function expectRefusal(guide: string, directory: string, capstan: string): Promise<void> {
  const config = join(directory, 'config.yaml');
  write(directory, 'config.yaml', readFileSync(config, 'utf8').replace('[latest, edge]', 'latest'));
  const message = /`(plugins\[0\][^`]+)`/.exec(guide)![1]!;
  await expect(
    runWith(variables, directory, 'bash', '-c', `${capstan} plugins list --config=config.yaml`),
  ).rejects.toThrow(`capstan: ${message}`);
}

test('every block of the guide is followed', () => {
  const guide = readFileSync('docs/tutorials/plugin.md', 'utf8');
  expect(guide.match(/^```\w+$/gm)?.length).toBe(stepsOf(guide).length);
});
