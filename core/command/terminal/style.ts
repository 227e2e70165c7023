import { styleText } from 'node:util';

/** Marks parts of a text for people. On a terminal with colours, it adds colours; elsewhere, it changes nothing. */
export interface Style {
  readonly strong: (text: string) => string;
  readonly faint: (text: string) => string;
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  /** Marks commands that the user can type. */
  readonly command: (text: string) => string;
}

type Format = Parameters<typeof styleText>[0];

/** The style of an output: of standard output by default. `NO_COLOR` and `NODE_DISABLE_COLORS` turn colours off. */
export function styleOf(stream: Pick<NodeJS.WriteStream, 'isTTY' | 'hasColors'> = process.stdout): Style {
  const isColoured = stream.isTTY === true && stream.hasColors();
  const as =
    (format: Format) =>
    (text: string): string =>
      isColoured ? styleText(format, text, { validateStream: false }) : text;
  return { strong: as('bold'), faint: as('dim'), good: as('green'), bad: as('red'), command: as('cyan') };
}
