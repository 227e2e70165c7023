import { readFileSync } from 'node:fs';

/** A command of a guide, or a file that it has the reader write. */
export type Step = { readonly is: 'commands' | 'file'; readonly text: string; readonly path: string };

/** The steps of a guide in order. A file is named by the last code in the text before it. */
export function stepsOf(guide: string): Step[] {
  return [...guide.matchAll(/((?:(?!```).)*?)```(sh|ts|js|yaml)\n(.*?)```/gs)].map(([, before, language, text]) => ({
    is: language === 'sh' ? 'commands' : 'file',
    text: text!,
    path: [...before!.matchAll(/`([^`\n]+)`:\n$/g)].at(-1)?.[1] ?? '',
  }));
}

/** The commands for pnpm instead of npm: the rows of the table in docs/guides/plugin-package.md, in their order. */
const pnpmCommands = (): (readonly [npm: string, pnpm: string])[] =>
  [...readFileSync('docs/guides/plugin-package.md', 'utf8').matchAll(/^\| `([^`]+)` \| `(pnpm [^`]+)` \|$/gm)].map(
    ([, npm, pnpm]) => [npm!, pnpm!],
  );

/** Commands of a guide as its readers with pnpm give them. */
export const toPnpm = (commands: string): string =>
  commands
    .split('\n')
    .map(line => {
      const found = pnpmCommands().find(([npm]) => line.startsWith(npm));
      return found ? found[1] + line.slice(found[0].length) : line;
    })
    .join('\n');
