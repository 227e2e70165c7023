import { ConfigError } from '../api/point.js';
import { type Command, COMMANDS, wordsAfter } from './commands.js';
import { dashed, OPTIONS } from './options.js';

/** The flags of a command, with dashes, and the text that explains each. */
function flagsWithHelp({ flags = {}, takesSettings }: Command): readonly (readonly [flag: string, help: string])[] {
  const own = Object.entries(flags).map(([name, { help }]) => [dashed(name), help] as const);
  if (!takesSettings) return [...own, ['--help', 'print the help']];
  const settings = Array.from(OPTIONS, ([name, { help }]) => [dashed(name), help] as const);
  return [...own, ['--config', 'settings in YAML'], ...settings, ['--help', 'print the help']];
}

/** The possible continuations of a command line: the next word of a command, or the flags of a complete one. */
function followers(): ReadonlyMap<string, readonly string[]> {
  const families = COMMANDS.map(({ name }) => name.split(' ')).filter(words => words.length > 1);
  const shells = [...SHELLS.keys()];
  return new Map([
    ['', [...wordsAfter([]), '--help']],
    ...families.map(([first = '']) => [first, [...wordsAfter([first]), '--help']] as const),
    ...COMMANDS.map(
      command =>
        [
          command.name,
          [...flagsWithHelp(command).map(([flag]) => flag), ...(command.name === 'completion' ? shells : [])],
        ] as const,
    ),
  ]);
}

/** The cases of a `case` statement of bash or zsh that set the array `found`. */
const casesOf = (): string =>
  Array.from(followers(), ([words, found]) => `    '${words}') found=(${found.join(' ')}) ;;`).join('\n');

/** The words of the command before the cursor, at most two, in the variable `name`. Bash and zsh. */
const NAME = (words: string): string => `  local name='' word found=()
  for word in ${words}; do
    case "$word" in -*) break ;; esac
    case " ${[...new Set(COMMANDS.flatMap(({ name }) => name.split(' ')))].join(' ')} " in
      *" $word "*) name="\${name:+$name }$word" ;;
      *) break ;;
    esac
  done`;

const bash = (): string => `# For bash: source <(capstan completion bash)
_capstan() {
${NAME(`"\${COMP_WORDS[@]:1:COMP_CWORD-1}"`)}
  case "$name" in
${casesOf()}
  esac
  COMPREPLY=($(compgen -W "\${found[*]}" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o bashdefault -o default -F _capstan capstan
`;

const zsh = (): string => `#compdef capstan
# For zsh: source <(capstan completion zsh)
_capstan() {
${NAME(`"\${words[@]:1:$((CURRENT - 2))}"`)}
  case "$name" in
${casesOf()}
  esac
  compadd -a found || _files
}
compdef _capstan capstan
`;

/** A text in single quotes, as fish reads it. */
const quote = (text: string): string => `'${text.replace(/[\\']/g, found => `\\${found}`)}'`;

function fish(): string {
  const first = wordsAfter([]).map(word => `complete -c capstan -n __fish_use_subcommand -a ${word}`);
  const rest = COMMANDS.flatMap(command => {
    const [family = '', action] = command.name.split(' ');
    const seen = `__fish_seen_subcommand_from ${family}`;
    const when = action === undefined ? seen : `${seen}; and __fish_seen_subcommand_from ${action}`;
    const names =
      action === undefined ? [] : [`complete -c capstan -n ${quote(seen)} -a ${action} -d ${quote(command.summary)}`];
    const flags = flagsWithHelp(command).map(([flag, help]) => {
      const option = flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`;
      return `complete -c capstan -n ${quote(when)} ${option} -d ${quote(help)}`;
    });
    return [...names, ...flags];
  });
  const shells = `complete -c capstan -n '__fish_seen_subcommand_from completion' -a '${[...SHELLS.keys()].join(' ')}'`;
  return ['# For fish: capstan completion fish | source', ...first, ...rest, shells, ''].join('\n');
}

const SHELLS: ReadonlyMap<string, () => string> = new Map([
  ['bash', bash],
  ['zsh', zsh],
  ['fish', fish],
]);

/** The script that completes commands and flags in a shell. Throws ConfigError for other arguments. */
export function completionScript([shell = '', ...more]: readonly string[]): string {
  const script = SHELLS.get(shell);
  if (!script || more.length > 0) throw new ConfigError('capstan completion', 'expects bash, zsh or fish');
  return script();
}
