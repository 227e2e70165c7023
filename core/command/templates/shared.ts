/** The template of one extension point. */
export interface PointTemplate {
  /** The settings, as JSON, with which README and tests use the plugin. */
  readonly config: string;
  readonly source: (name: string) => string;
  readonly test: string;
}

/** The imports of a test. `names` are those of `capstan/testing`. */
export const testHead = (point: string, names: string): string => `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ${point} } from 'capstan/api';
import { ${names} } from 'capstan/testing';
import plugin from '../src/index.js';
`;

/** The test of `parse`, and the constant `use` for the test with a server. */
export const commonTests = (badConfig: string, message: string): string => `
test('refuses bad settings with the field and the fix', () => {
  assert.throws(() => plugin.parse(${badConfig}), /^ConfigError: ${message}$/);
});

const use = fileURLToPath(new URL('../src/index.js', import.meta.url));
`;

const indent = (text: string, by: string): string => text.replaceAll(/^(?=.)/gm, by);

/** A test with a server that runs the plugin; `body` are its statements. */
export const serverTest = (title: string, body: string): string => `test('${title}', async () => {
  const server = await startTestServer({ plugins: [{ use, config }] });
  try {
${indent(body, '    ')}
  } finally {
    await server.close();
  }
});
`;

/**
 * For a plugin whose settings are all non-empty texts: their interface, with `doc` as its comment, and the function
 * `parse`. `members` has the message for a bad value of each one, by name.
 */
export function textSettings(doc: string, members: Readonly<Record<string, string>>): string {
  const names = Object.keys(members);
  const lines = (lineOf: (name: string) => string): string => names.map(name => `  ${lineOf(name)}\n`).join('');
  const check = (name: string): string =>
    `if (typeof ${name} !== 'string' || ${name} === '') throw new ConfigError('${name}', '${members[name]}');`;
  return `/** Settings: ${doc}. */
interface Config {
${lines(name => `readonly ${name}: string;`)}}

function parse(config: unknown): Config {
  const { ${names.join(', ')} } = (config ?? {}) as Partial<Config>;
${lines(check)}  return { ${names.join(', ')} };
}`;
}

/** The ConfigMaps of the namespace `default`. */
export const MAPS = '/api/v1/namespaces/default/configmaps';
