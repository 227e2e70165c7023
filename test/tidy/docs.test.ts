import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../core/command/commands.js';
import { helpText } from '../../core/command/help.js';
import { dashed } from '../../core/command/options.js';
import { OTHER_FLAGS } from '../../core/command/upstream/otherFlags.js';

const root = normalize(join(dirname(fileURLToPath(import.meta.url)), '..', '..'));
const PAGES = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'core/cel/README.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.md'))
    .map(name => join('docs', name)),
];
const textOf = (page: string): string => readFileSync(join(root, page), 'utf8');
const flagsIn = (text: string): string[] => [...text.matchAll(/(?<![\w-])--[a-z][a-z0-9-]+/g)].map(match => match[0]);

/** Flags of other programs in pages: kubectl, curl, git. */
const FOREIGN = new Set([
  '--always-sparkplug',
  '--cacert',
  '--data-binary',
  '--duration',
  '--force-conflicts',
  '--from-literal',
  '--ignore-scripts',
  '--inspect-brk',
  '--max-txn-ops',
  '--min-semi-space-size',
  '--no-deprecation',
  '--no-file-parallelism',
  '--no-flush-bytecode',
  '--no-lazy-feedback-allocation',
  '--oidc-client-secret',
  '--omit',
  '--raw',
  '--retain-maps-for-n-gc',
  '--server-side',
  '--show-managed-fields',
  '--single-threaded-gc',
  '--test',
  '--trace-deopt',
  '--trace-opt',
  '--watch',
]);
/** Programs with their own flags. */
const PROGRAMS = [
  'test/robustness/main.ts',
  'bench/run.ts',
  'core/cel/tool.ts',
  'scripts/check/api.mjs',
  'scripts/differential/differential.mjs',
];

/** The help of all commands. */
const HELP = COMMANDS.map(({ name }) => helpText(name.split(' '))).join('\n');

describe('docs', () => {
  it('have every flag of every command', () => {
    const documented = new Set(PAGES.flatMap(page => flagsIn(textOf(page))));
    expect(flagsIn(HELP).filter(flag => !documented.has(flag))).toEqual([]);
  });

  it('contain only existing flags', () => {
    const ours = new Set([...flagsIn(HELP), ...Array.from(OTHER_FLAGS.keys(), dashed), '--help']);
    const own = PROGRAMS.map(textOf).join();
    const exists = (flag: string): boolean => ours.has(flag) || FOREIGN.has(flag) || own.includes(`${flag.slice(2)}`);
    expect(PAGES.flatMap(page => flagsIn(textOf(page)).filter(flag => !exists(flag)))).toEqual([]);
  });

  it('link to existing files', () => {
    const broken = PAGES.flatMap(page => {
      const text = textOf(page).replace(/^```.*?^```/gms, '');
      const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(match => join(dirname(page), match[1]!));
      // Paths in these guides are those of the reader's package.
      const named = /\/tutorials\//.test(page)
        ? []
        : [...text.matchAll(/`((?:core|plugins|workers|test|bench|examples|docs|scripts)\/[\w./-]+\.\w+)`/g)].map(
            match => match[1]!,
          );
      return [...links, ...named].filter(path => !existsSync(join(root, path))).map(path => `${page}: ${path}`);
    });
    expect(broken).toEqual([]);
  });
});
