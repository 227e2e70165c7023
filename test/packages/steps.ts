import { readFileSync } from 'node:fs';

/** A command of a guide, a file that the reader writes, or the output of the previous commands. */
export type Step = { readonly is: 'commands' | 'file' | 'output'; readonly text: string; readonly path: string };

const KINDS: { readonly [language: string]: Step['is'] } = { sh: 'commands', text: 'output' };

/** The steps of a guide in order. A file is named by the last code in the text before it. */
export function stepsOf(guide: string): Step[] {
  const blocks = guide.matchAll(/((?:(?!```).)*?)```(sh|ts|js|yaml|text)\n(.*?)```/gs);
  return [...blocks].map(([, before, language, text]) => ({
    is: KINDS[language!] ?? 'file',
    text: text!,
    path: [...before!.matchAll(/`([^`\n]+)`:\n$/g)].at(-1)?.[1] ?? '',
  }));
}

/** The commands for pnpm instead of npm: the rows of the table in docs/tutorials/plugin.md, in order. */
const pnpmCommands = (): (readonly [npm: string, pnpm: string])[] =>
  [...readFileSync('docs/tutorials/plugin.md', 'utf8').matchAll(/^\| `([^`]+)` \| `(pnpm [^`]+)` \|$/gm)].map(
    ([, npm, pnpm]) => [npm!, pnpm!],
  );

/** The commands of a page as readers with pnpm type them. */
export const toPnpm = (commands: string): string =>
  commands
    .split('\n')
    .map(line => {
      const found = pnpmCommands().find(([npm]) => line.startsWith(npm));
      return found ? found[1] + line.slice(found[0].length) : line;
    })
    .join('\n');
