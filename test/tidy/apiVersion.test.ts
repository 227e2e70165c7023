import { describe, expect, test } from 'vitest';

/* The version of capstan/api that a change of the interface needs after a release. */

interface Versions {
  versionError(released: string | undefined, current: string): string;
}
const script = new URL('../../scripts/check/apiVersion.mjs', import.meta.url).href;
const { versionError } = (await import(script)) as Versions;

const part = (name: string, ...members: string[]): string =>
  `## ${name}\nexport interface ${name} {\n${members.map(member => `    ${member};\n`).join('')}}\n`;
const report = (version: string, ...sections: string[]): string =>
  `capstan/api ${version}\nWritten by the script.\n\n## API_VERSION\nAPI_VERSION = '${version}';\n\n${sections.join('\n')}`;

const PART = part('Mutator', 'readonly on: Match', 'mutate(): void');
const LOG = part('Log', 'info(text: string): void');
const released = report('1.4', PART, LOG);

describe('the version of the interface', () => {
  test('is 1.0 before the first release, whatever changes', () => {
    expect(versionError(undefined, report('1.0', PART))).toBe('');
    expect(versionError(undefined, report('1.1', PART))).toMatch('must be 1.0 until the first release');
  });

  test.each([
    ['nothing', '1.4', [PART, LOG]],
    ['a further part', '1.5', [PART, LOG, part('Other', 'a: string')]],
    ['an optional member', '1.5', [part('Mutator', 'readonly on: Match', 'order?: number', 'mutate(): void'), LOG]],
    ['a member that only the server has', '1.5', [PART, part('Log', 'info(text: string): void', 'warn(): void')]],
    [
      'a member that plugins must have',
      '2.0',
      [part('Mutator', 'readonly on: Match', 'a: string', 'mutate(): void'), LOG],
    ],
    ['another type', '2.0', [part('Mutator', 'readonly on: string', 'mutate(): void'), LOG]],
    ['a member less', '2.0', [part('Mutator', 'readonly on: Match'), LOG]],
    ['a part less', '2.0', [PART]],
    ['one part less and one more', '2.0', [PART, part('Other', 'a: string')]],
  ])('after %s since the release is %s', (_what, needed, sections) => {
    for (const version of ['1.4', '1.5', '1.6', '2.0', '2.1', '3.0']) {
      const error = versionError(released, report(version, ...sections));
      if (version === needed) expect(error).toBe('');
      else expect(error).toContain(`API_VERSION must be ${needed}, as the last release has 1.4`);
    }
  });
});
