import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, describe, it } from 'vitest';
import { parseArguments } from '../../core/command/arguments.js';
import { checkCommand, COMMANDS, flagsOf } from '../../core/command/commands.js';
import { completionScript } from '../../core/command/completion.js';
import { parseFlags } from '../../core/command/flags.js';
import { helpText } from '../../core/command/help.js';
import { dashed, OPTIONS } from '../../core/command/options.js';
import { GATES } from '../../core/features/table.js';
import { fileKeyOf } from '../../core/settings/given.js';
import { SETTINGS } from '../../core/settings/settingsTable.js';

const PAGES = [[], ['store'], ['snapshot'], ...COMMANDS.map(({ name }) => name.split(' '))];
const SERVER_FLAGS = ['--config', ...Array.from(OPTIONS.keys(), dashed)];
const flagsIn = ({ flags = {}, takesSettings }: (typeof COMMANDS)[number]): string[] => [
  ...Object.keys(flags).map(dashed),
  ...(takesSettings ? SERVER_FLAGS : []),
];
const messageOf = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('accepted');
};

describe('the help', () => {
  it.each(PAGES.map(words => [words.join(' '), words]))(
    'of %j fits in 100 columns, with a gap after each flag',
    (_, words) => {
      const lines = helpText(words).split('\n');
      expect(lines.filter(line => line.length > 100)).toEqual([]);
      const terms = lines.filter(line => /^ {2}-/.test(line));
      const form = /^ {2}(-\w, )?--?[\w-]+( [<[][A-Z=]+[>\]])?( {2,}\S|$)/;
      expect(terms.filter(line => !form.test(line))).toEqual([]);
    },
  );

  it.each(COMMANDS.map(command => [command.name, command] as const))('of %s has all of its flags', (name, command) => {
    const text = helpText(name.split(' '));
    expect(text).toContain(`Usage: capstan ${name}`);
    expect(flagsIn(command).filter(flag => !new RegExp(`(^|[ ,])${flag}( |$)`, 'm').test(text))).toEqual([]);
  });

  it('of capstan has all commands', () => {
    for (const { name, summary } of COMMANDS)
      expect(helpText()).toMatch(new RegExp(`^ {2}${name} +${summary.slice(0, 20).replace('(', '\\(')}`, 'm'));
  });

  it('is loaded only when it is requested', () => {
    for (const file of ['main', 'serve', 'config', 'flags', 'options', 'commands'])
      expect(readFileSync(`core/command/${file}.ts`, 'utf8')).not.toMatch(/^import [^;]*'(commander|\.\/help\.js)'/m);
  });
});

it('the help of a server names the gates that are non-operational [R406]', () => {
  const text = helpText(['serve']).replace(/\s+/g, ' ');
  const [, listed = ''] = text.split('non-operational: they are deprecated, and keep their value. ');
  expect(listed.trim().split(' ')).toEqual([...GATES].filter(([, gate]) => gate.isLocked).map(([name]) => name));
});

it('no flag or command is marked as alpha or beta, and the guide says how long each would be supported [R373] [R390] [R391] [R393] [R394] [R399]', () => {
  const texts = [
    ...Object.values<{ help: string }>(SETTINGS).map(({ help }) => help),
    ...COMMANDS.map(one => one.summary),
  ];
  expect(texts.filter(text => /\[?(alpha|beta)\]/i.test(text))).toEqual([]);
  const guide = readFileSync('docs/guides/versions.md', 'utf8');
  for (const row of [
    '| a command, or a flag that users give | 12 months or 2 releases | 3 months or 1 release | may end at once |',
    '| a flag of a server | 6 months or 1 release | 3 months or 1 release | may end at once |',
    '| a behaviour | 1 year |',
    'Details of a beta version may change: the changelog says how to migrate.',
  ])
    expect(guide).toContain(row);
});

describe('a misspelled word', () => {
  it.each([
    ['--secur-port', 'secure-port'],
    ['--enable-bootstrap-tokn-auth', 'enable-bootstrap-token-auth'],
    ['--confg', 'config'],
  ])('%s of serve is answered with the suggestion --%s', (given, meant) => {
    expect(messageOf(() => parseFlags([`${given}=1`]))).toBe(`${given}: unknown flag; did you mean --${meant}?`);
  });

  it('in a flag of another command is answered with the correct flag', () => {
    expect(messageOf(() => parseArguments(['check', '--dta-dir=x'], flagsOf('store')))).toMatch(
      /did you mean --data-dir\?$/,
    );
    expect(messageOf(() => parseArguments(['--zzzzzz'], flagsOf('store')))).toBe(
      '--zzzzzz: unknown flag; --help lists those of the command',
    );
  });

  it.each([
    [['--data-dir'], '--data-dir: needs a value'],
    [['--data-dir', '--accept-loss'], '--data-dir: needs a value'],
    [['--accept-loss=x'], '--accept-loss: takes no value'],
  ])('%j: a missing value, or a surplus one, is named', (args, message) => {
    expect(messageOf(() => parseArguments(args, flagsOf('store')))).toBe(message);
  });

  it('in a command is answered with the correct command, or with all commands', () => {
    expect(messageOf(() => checkCommand(['stroe']))).toBe('stroe: unknown command; did you mean capstan store?');
    expect(messageOf(() => checkCommand(['snapshot', 'sve']))).toContain('did you mean capstan snapshot save?');
    expect(messageOf(() => checkCommand(['zzzzzzzzz']))).toContain(
      'the commands are serve, demo, status, top, get, apply, watch, why, convert, lint-api, store, snapshot',
    );
    for (const { name } of COMMANDS) expect(() => checkCommand(name.split(' '))).not.toThrow();
  });
});

describe('completion', () => {
  it.each(['bash', 'zsh', 'fish'])('for %s has every command and flag', shell => {
    const script = completionScript([shell]);
    const isThere = (flag: string): boolean => {
      const fish = flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`;
      return new RegExp(`[( ]${shell === 'fish' ? fish : flag}[ )]`).test(script);
    };
    expect(COMMANDS.flatMap(flagsIn).filter(flag => !isThere(flag))).toEqual([]);
    for (const word of COMMANDS.flatMap(({ name }) => name.split(' '))) expect(script).toContain(word);
  });

  it('for bash is valid and completes commands, their actions and their flags', () => {
    expect(spawnSync('bash', ['-n'], { input: completionScript(['bash']), encoding: 'utf8' })).toMatchObject({
      status: 0,
      stderr: '',
    });
    const complete = (...words: string[]): string[] => {
      const line = words.map(word => `'${word}'`).join(' ');
      const call = `COMP_WORDS=(capstan ${line}); COMP_CWORD=${words.length}; _capstan; printf '%s\\n' "\${COMPREPLY[@]}"`;
      const input = `${completionScript(['bash'])}\n${call}`;
      return spawnSync('bash', ['--norc'], { input, encoding: 'utf8' }).stdout.trim().split('\n');
    };
    expect(complete('s')).toEqual(['serve', 'status', 'store', 'snapshot']);
    expect(complete('snapshot', 're')).toEqual(['restore']);
    expect(complete('store', 'recover', '--acc')).toEqual(['--accept-loss']);
    expect(complete('serve', '--naming=neutral', '--secure')).toEqual(['--secure-port']);
    expect(complete('completion', 'z')).toEqual(['zsh']);
  });

  it('is refused for other shells', () => {
    expect(messageOf(() => completionScript(['csh']))).toBe('capstan completion: expects bash, zsh or fish');
  });
});

it('every setting has its own flag and its own key in the configuration file', () => {
  expect(OPTIONS.size).toBe(new Set(Array.from(OPTIONS.values(), fileKeyOf)).size);
});
