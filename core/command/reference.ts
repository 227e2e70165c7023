import { fileKeyOf } from '../settings/given.js';
import { dashed, describeOption, OPTIONS } from './options.js';

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
