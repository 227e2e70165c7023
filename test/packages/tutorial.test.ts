import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import {
  COMMANDS_MS,
  copyCapstan,
  freePort,
  installCapstan,
  installPnpm,
  newFolder,
  runWith,
  StartedCommand,
  write,
} from './project.js';
import { stepsOf, toPnpm } from './steps.js';

/*
 * The pages Start and Tutorials, followed literally, except that Capstan and its tools are already installed, and
 * that the port may be different. The plugin tutorial is followed in guide.test.ts, with its installs.
 */

const folders: { remove(): void }[] = [];
const started: StartedCommand[] = [];
/** The last server that was started in each folder. */
const servers = new Map<string, StartedCommand>();
afterAll(async () => {
  await Promise.all(started.map(command => command.end()));
  for (const folder of folders) folder.remove();
}, COMMANDS_MS);

/** A command that runs until Ctrl-C: a server, or a watch. */
const RUNS_ON = /^npx capstan( serve .*| watch .*)?$/;
/** A server that takes a free port, unless the command says which. */
const onFreePort = (command: string): string =>
  / watch |--secure-port=/.test(command) ? command : `${command} --secure-port=0`;
/** The lines without times, ids and column widths. */
const shapeOf = (text: string): string[] =>
  text
    .trimEnd()
    .split('\n')
    .map(line =>
      line
        .replaceAll(/\b\d+m?s\b/g, '…')
        .replaceAll(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, 'ID')
        .replaceAll(/ {2,}/g, '  '),
    );

/** The environment of the commands of a page: by default a folder in which npm has installed Capstan and its tools. */
interface Tool {
  readonly variables: NodeJS.ProcessEnv;
  readonly translate: (commands: string) => string;
}
const NPM: Tool = {
  variables: {},
  // npx takes longer than most commands, and is tested in guide.test.ts.
  translate: commands =>
    commands.replace(/^npm install( \.\/capstan-.*)?$/gm, 'true').replaceAll('npx capstan', 'capstan'),
};

/** Follows a page in a folder. Each text block must have been printed by the commands before it, or a watch. */
async function follow(page: string, start: string, { variables: own, translate }: Tool = NPM): Promise<void> {
  const variables = { PATH: `${join(start, 'node_modules/.bin')}:${process.env['PATH']}`, ...own };
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
      const isWatch = step.text.includes(' watch ');
      // A page that starts a second server has told the reader to stop the first.
      if (!isWatch) await servers.get(start)?.end();
      const command = new StartedCommand(directory, translate(onFreePort(step.text.trim())), variables);
      started.push(command);
      if (isWatch) watch = command;
      else servers.set(start, command);
      await command.until(isWatch ? 'CURRENT' : 'ready in');
    } else {
      printed = await runWith(variables, directory, 'bash', '-ec', `{ ${translate(step.text)}\n} 2>&1\necho\npwd`);
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

test('Start leads from an empty folder to a server, and the tutorials from there to a kind and a policy', {
  timeout: COMMANDS_MS,
}, async () => {
  const folder = await installedFolder();
  for (const page of ['docs/start.md', 'docs/tutorials/kind.md', 'docs/tutorials/policy.md'])
    await follow(readFileSync(page, 'utf8'), folder);
});

const controllerTutorial = async (): Promise<string> =>
  readFileSync('docs/tutorials/controller.md', 'utf8').replaceAll('6443', String(await freePort()));

test('the tutorial leads from an empty folder to a kind with a controller and a client', {
  timeout: COMMANDS_MS,
}, async () => {
  await follow(await controllerTutorial(), await installedFolder());
});

test('the package of the tutorial is also compiled and tested with pnpm, whose installs are strict', {
  timeout: COMMANDS_MS,
}, async () => {
  const [variables, folder] = [await installPnpm(), newFolder()];
  folders.push(folder);
  await copyCapstan(folder.path);
  // guide.test.ts packs, installs and serves a package with pnpm.
  const [page, rest] = (await controllerTutorial()).split('npm pack\n');
  expect([page, rest]).toEqual([expect.stringMatching(/\nnpm test\n$/), expect.stringContaining('## The server')]);
  await follow(`${page}\`\`\`\n`, folder.path, { variables, translate: toPnpm });
});
