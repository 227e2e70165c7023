/** A command of a guide, a file that it has the reader write, or what the commands before print. */
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
