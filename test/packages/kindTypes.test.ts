import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { COMMANDS_MS, newFolder, packCapstan, run, write } from './project.js';

/* The types of the kinds, as a plugin finds them in the published package. */

const work = newFolder();
const tsc = resolve('node_modules/typescript/bin/tsc');

const PLUGIN = `
import type { Quantity } from 'capstan/kinds';
import type { Deployment } from 'capstan/kinds/apps/v1';
import type { Pod } from 'capstan/kinds/v1';

export const imagesOf = (pod: Pod): string[] => (pod.spec.containers ?? []).map(({ image }) => image ?? '');
export const cpuOf = (pod: Pod): Quantity | undefined => pod.spec.containers?.[0]?.resources.limits?.['cpu'];
export const imagesIn = ({ spec }: Deployment): string[] =>
  (spec.template.spec.containers ?? []).map(({ image }) => image ?? '');
`;
const MISSPELT = `
import type { Pod } from 'capstan/kinds/v1';
export const names = (pod: Pod) => pod.spec.contaners;
`;

beforeAll(async () => {
  const tarball = await packCapstan();
  const capstan = join(work.path, 'node_modules/capstan');
  mkdirSync(capstan, { recursive: true });
  await run(work.path, 'tar', '-xzf', tarball, '-C', capstan, '--strip-components=1');
  write(work.path, 'package.json', JSON.stringify({ type: 'module' }));
  write(work.path, 'plugin.ts', PLUGIN);
  write(work.path, 'misspelt.ts', MISSPELT);
}, COMMANDS_MS);
afterAll(() => work.remove());

test.each([
  ['nodenext', 'nodenext', 'es2022'],
  ['esnext', 'bundler', 'es2022,dom'],
])(
  'are found with the module setting %s, the resolution %s and the libraries %s',
  async (module, resolution, lib) => {
    const settings = ['--noEmit', '--strict', '--target', 'es2022', '--lib', lib, '--module', module];
    const files = ['plugin.ts', 'misspelt.ts'];
    const { message } = await run(
      work.path,
      process.execPath,
      ...[tsc, ...settings, '--moduleResolution', resolution, ...files],
    ).then(expect.fail, (error: Error) => error);
    const errors = message.split('\n').filter(line => line.includes('error TS'));
    expect(errors).toEqual([expect.stringMatching(/^misspelt\.ts.*'contaners' does not exist.*'containers'/)]);
  },
  COMMANDS_MS,
);
