import { copyFileSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { freePort, newFolder, packCapstan, run, StartedCommand, write } from './project.js';

/* docs/guides/plugin-package.md, followed word by word in an empty folder; only the port may be another. */

/** A command of the guide, or a file that it has the reader write. */
type Step = { readonly is: 'commands' | 'file'; readonly text: string; readonly path: string };

/** The steps in order. A file is named by the last code in the text before it. */
function stepsOf(guide: string): Step[] {
  return [...guide.matchAll(/((?:(?!```).)*?)```(sh|ts|yaml)\n(.*?)```/gs)].map(([, before, language, text]) => ({
    is: language === 'sh' ? 'commands' : 'file',
    text: text!,
    path: [...before!.matchAll(/`([^`\n]+)`:\n$/g)].at(-1)?.[1] ?? '',
  }));
}

const folder = newFolder();
const work = newFolder();
let server: StartedCommand | undefined;
afterAll(async () => {
  await server?.end();
  for (const one of [folder, work]) one.remove();
});

test('the guide leads from an empty folder to a plugin in a running server', { timeout: 180_000 }, async () => {
  const port = await freePort();
  const guide = readFileSync('docs/guides/plugin-package.md', 'utf8').replaceAll('6443', String(port));
  const tarball = await packCapstan(work.path);
  copyFileSync(tarball, join(folder.path, basename(tarball)));
  let directory = folder.path;
  let output = '';
  for (const { is, text, path } of stepsOf(guide)) {
    if (is === 'file') {
      expect(path, text).not.toBe('');
      write(directory, path, text);
    } else if (text.includes('capstan serve')) {
      server = new StartedCommand(directory, text.trim());
      await server.until('ready in');
    } else {
      output = await run(directory, 'bash', '-ec', `${text}\necho\npwd`);
      directory = output.trim().split('\n').at(-1)!;
    }
    if (text.includes('plugins list')) expect(output).toMatch(/^no-latest +validate +10000ms +Fail +\/.*no-latest/m);
  }
  expect(directory.endsWith(basename(folder.path))).toBe(true);
  const { code, message } = JSON.parse(output.slice(0, output.lastIndexOf('}') + 1)) as {
    code: number;
    message: string;
  };
  expect(code).toBe(422);
  expect(guide.replaceAll('\n', ' ')).toContain(`\`${message}\``);
  const [create] = stepsOf(guide).filter(step => step.text.includes('curl'));
  const fixed = create!.text.replace('"image":"nginx"', '"image":"nginx:1.25"');
  expect(await run(directory, 'bash', '-ec', fixed)).toMatch(/"kind": ?"Pod"/);
});
