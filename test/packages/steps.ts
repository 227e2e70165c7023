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
