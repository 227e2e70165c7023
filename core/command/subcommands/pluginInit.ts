import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { ConfigError } from '../../api/point.js';
import { parseArguments } from '../arguments.js';
import { flagsOf } from '../commands.js';
import type { Io } from '../serve.js';
import { packageFiles } from '../templates/package.js';
import { POINT_TEMPLATES } from '../templates/points.js';
import { ownVersion } from '../version.js';

/** Names of packages in the npm registry, with or without scope. */
const PACKAGE_NAME = /^(@[a-z0-9-][a-z0-9._-]*\/)?[a-z0-9-][a-z0-9._-]*$/;
/** The limit of the npm registry, in characters. */
const LONGEST_NAME = 214;

interface Manifest {
  readonly dependencies?: { readonly [name: string]: string };
  readonly devDependencies?: { readonly [name: string]: string };
}

/**
 * The version or path of Capstan that the nearest package.json in `directory` or above it names, and where that file
 * is.
 */
function installedFrom(directory: string): { readonly spec: string; readonly directory: string } | undefined {
  const file = join(directory, 'package.json');
  if (existsSync(file)) {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(file, 'utf8')) as Manifest;
    const spec = dependencies?.['capstan'] ?? devDependencies?.['capstan'];
    if (spec !== undefined) return { spec, directory };
  }
  const parent = dirname(directory);
  return parent === directory ? undefined : installedFrom(parent);
}

/** Where a package in `directory` installs Capstan from: as a package.json above it does, or from the registry. */
function capstanSource(directory: string, version: string): string {
  const found = installedFrom(dirname(directory));
  const file = found && /^(file|link):(.*)$/.exec(found.spec);
  if (!file) return found?.spec ?? version;
  return `file:${relative(directory, resolve(found.directory, file[2]!))}`;
}

/** `plugin init NAME [--point=POINT]`: writes a package into a new folder. Returns 0; throws ConfigError. */
export async function initCommand(args: readonly string[], io: Io): Promise<number> {
  const { positionals, values } = parseArguments(args, flagsOf('plugin'));
  const [name, ...others] = positionals;
  if (name === undefined || others.length > 0) throw new ConfigError('NAME', 'use: capstan plugin init NAME');
  if (!PACKAGE_NAME.test(name) || name.length > LONGEST_NAME)
    throw new ConfigError(name, 'must be the name of a package: lower case letters, digits, dashes; @scope/ before it');
  const pointName = String(values['point'] ?? 'validator');
  const point = POINT_TEMPLATES.get(pointName);
  if (!point) throw new ConfigError('--point', `must be ${[...POINT_TEMPLATES.keys()].join(', ')}, not ${pointName}`);
  const folder = name.replace(/^@.*\//, '');
  const directory = resolve(folder);
  if (existsSync(directory) && readdirSync(directory).length > 0)
    throw new ConfigError(name, `the folder ${directory} is not empty`);
  const capstan = `^${ownVersion()}`;
  const files = packageFiles({ name, capstan, source: capstanSource(directory, capstan) }, point);
  for (const [path, text] of files) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
  }
  io.out(`created ${folder}: a package with ${/^[aeiou]/.test(pointName) ? 'an' : 'a'} ${pointName}`);
  io.out(`next: cd ${folder} && npm install && npm test`);
  return 0;
}
