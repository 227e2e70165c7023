import { fileKeyOf } from '../settings/given.js';
import { dashed, describeOption, OPTIONS } from './options.js';
import { OTHER_FLAGS } from './upstream/otherFlags.js';

/** The table of all settings in docs/reference/configuration.md, which `npm run reference` writes. */
export function settingsTable(): string {
  const rows = Array.from(OPTIONS.values(), option => [
    `\`${dashed(option.flag)}=${option.placeholder}\``,
    `\`${fileKeyOf(option)}\``,
    `\`${option.setting}\``,
    describeOption(option),
  ]);
  const heading = ['flag', 'in the file', 'in the library', 'meaning, with the default'];
  return [heading, heading.map(() => '---'), ...rows]
    .map((cells, i) => (i === 1 ? `|${cells.join('|')}|` : `| ${cells.join(' | ')} |`))
    .join('\n');
}

/** The page docs/reference/flags.md: every flag of this server and of upstream's release 1.32. */
export function flagsPage(): string {
  const settings = Array.from(OPTIONS.values(), option => [option.flag, describeOption(option)] as const);
  const others = Array.from(OTHER_FLAGS, ([name, { note, isRefused }]) => {
    const effect = isRefused ? 'refused' : 'accepted without effect';
    return [name, `${effect}: ${note}`] as const;
  });
  const rows = [...settings, ...others]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, text]) => `| \`${dashed(name)}\` | ${text.replaceAll('|', '\\|')} |`);
  return `# Flags
Written by \`npm run reference\`. \`capstan serve\` and \`kube-apiserver\` know all flags of upstream's release 1.32.
Settings that have an effect are also in [configuration.md](configuration.md), with their names in the file and in the
library.

| flag | meaning |
| --- | --- |
${rows.join('\n')}
`;
}
