import { Command as LayoutCommand, Help, Option as LayoutOption } from 'commander';
import { type Command, COMMANDS, wordsAfter } from './commands.js';
import { GATES } from '../features/table.js';
import type { Settings } from '../settings/settings.js';
import { dashed, describeOption, isValueOptional, OPTIONS } from './options.js';

/** Columns of a line of the help. */
const WIDTH = 100;
/** Width of a term next to its description. The description of a longer term is below it. */
const TERM_WIDTH = 34;
const INDENT = '  ';

class Layout extends Help {
  override helpWidth = WIDTH;
  override sortOptions = false;

  override padWidth(command: LayoutCommand, helper: Help): number {
    return Math.min(super.padWidth(command, helper), TERM_WIDTH);
  }

  override formatItem(term: string, width: number, description: string, helper: Help): string {
    if (term.length <= width) return super.formatItem(term, width, description, helper);
    const indent = ' '.repeat(width + 2 * INDENT.length);
    const below = helper.boxWrap(description, WIDTH - indent.length).replace(/^/gm, indent);
    return `${INDENT}${term}\n${below}`;
  }
}

/** A command of the library, used only to lay out its help, not to parse. */
export class Described extends LayoutCommand {
  constructor(name: string, usage: string, summary: string) {
    super(name);
    this.usage(usage).description(summary).helpOption(false).helpCommand(false).optionsGroup('Flags:');
    this.configureOutput({ getOutHelpWidth: () => WIDTH });
  }

  override createHelp(): Help {
    return new Layout();
  }
}

/** Defaults of settings that differ from those of `capstan serve`. */
export type Defaults = Partial<Settings>;

/** Adds the flags of all settings, with these defaults. */
export function addSettings(target: Described, defaults: Defaults = {}): void {
  const add = (flags: string, help: string) => target.addOption(new LayoutOption(flags, help));
  add('--config <FILE>', 'the same settings in YAML, and the list of plugins; flags override it');
  for (const [name, option] of OPTIONS) {
    const value = isValueOptional(option) ? `[${option.placeholder}]` : `<${option.placeholder}>`;
    add(`${dashed(name)} ${value}`, describeOption({ ...option, default: defaults[option.setting] ?? option.default }));
  }
}

function describeCommand({ name, operands, summary, flags = {}, takesSettings }: Command): Described {
  const target = new Described(`capstan ${name}`, operands ? `${operands} [flags]` : '[flags]', summary);
  for (const [flag, { short, placeholder, isOptional, help }] of Object.entries(flags)) {
    const value = isOptional ? `[${placeholder}]` : `<${placeholder}>`;
    const terms = `${short === undefined ? '' : `-${short}, `}--${flag}${placeholder ? ` ${value}` : ''}`;
    target.addOption(new LayoutOption(terms, help));
  }
  if (takesSettings) addSettings(target);
  target.option(name === 'cel' ? '--help' : '-h, --help', 'print this');
  return target;
}

/** The commands whose names begin with `words`. */
function describeCommands(words: readonly string[], commands: readonly Command[]): Described {
  const target = new Described(['capstan', ...words].join(' '), 'COMMAND [flags]', '');
  for (const { name, operands = '', summary } of commands)
    target.addCommand(new Described(name.split(' ').slice(words.length).join(' '), operands, summary));
  return target;
}

const MORE = `
capstan COMMAND --help prints the flags of a command, capstan completion a script for your shell.
Without a command, capstan does what capstan serve does:

`;

/** Wraps words to the width of the help. */
const wrapWords = (words: readonly string[]): string =>
  new Help()
    .boxWrap(words.join(' '), WIDTH - INDENT.length)
    .split('\n')
    .map(line => INDENT + line)
    .join('\n');

/** Ends the help of a command that takes the flags of a server. */
export const others = (): string => `
All other flags of the upstream server are known: docs/reference/flags.md says what they do here.

Feature gates that are non-operational: they are deprecated, and keep their value.
${wrapWords([...GATES].filter(([, { isLocked }]) => isLocked).map(([name]) => name))}
`;

/** The help of a command. */
const helpOf = (command: Command): string =>
  describeCommand(command).helpInformation() + (command.takesSettings ? others() : '');

/** The output of `capstan WORDS --help`: the help of a command, of several, or without words of all and of `serve`. */
export function helpText(words: readonly string[] = []): string {
  const [first = '', second = ''] = words;
  const exact = COMMANDS.find(({ name }) => name === first || name === `${first} ${second}`);
  if (exact) return helpOf(exact);
  if (first !== '' && wordsAfter([first]).length > 0)
    return describeCommands(
      [first],
      COMMANDS.filter(({ name }) => name.startsWith(`${first} `)),
    ).helpInformation();
  return describeCommands([], COMMANDS).helpInformation() + MORE + helpOf(COMMANDS[0]!);
}
