import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { ConfigError } from '../../api/point.js';
import { isRecord } from '../../model/record.js';
import { parseArguments } from '../arguments.js';
import { flagsOf } from '../commands.js';
import type { Io } from '../serve.js';
import { PACKAGE_MANAGERS, packageFiles } from '../templates/package.js';
import { POINT_TEMPLATES } from '../templates/points.js';
import type { PointTemplate } from '../templates/shared.js';
import { ownVersion } from '../version.js';

/** Names of packages in the npm registry, with or without scope. */
const PACKAGE_NAME = /^(@[a-z0-9-][a-z0-9._-]*\/)?[a-z0-9-][a-z0-9._-]*$/;
/** The limit of the npm registry, in characters. */
const LONGEST_NAME = 214;

interface Manifest {
  readonly dependencies?: { readonly [name: string]: string };
  readonly devDependencies?: { readonly [name: string]: string };
}

/** Reads a package.json. Throws ConfigError if the file has another form. */
function readManifest(file: string): Manifest {
  const fault = (message: string): ConfigError =>
    new ConfigError(file, `${message}; the version of Capstan is taken from it: correct it, or use another folder`);
  let manifest: unknown;
  try {
    manifest = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw fault(`cannot be read as JSON: ${(error as Error).message}`);
  }
  if (!isRecord(manifest)) throw fault('must be an object');
  for (const name of ['dependencies', 'devDependencies']) {
    const all = manifest[name];
    if (all === undefined) continue;
    if (!isRecord(all) || !['string', 'undefined'].includes(typeof all['capstan']))
      throw fault(`${name} must have texts by name`);
  }
  return manifest;
}

/**
 * The version or path of Capstan in the nearest package.json in `directory` or above it, and the directory of that
 * file.
 */
function installedFrom(directory: string): { readonly spec: string; readonly directory: string } | undefined {
  const file = join(directory, 'package.json');
  if (existsSync(file)) {
    const { dependencies, devDependencies } = readManifest(file);
    const spec = dependencies?.['capstan'] ?? devDependencies?.['capstan'];
    if (spec !== undefined) return { spec, directory };
  }
  const parent = dirname(directory);
  return parent === directory ? undefined : installedFrom(parent);
}

/**
 * The source from which a package in `directory` installs Capstan: that of a package.json above it, or else the
 * registry.
 */
function capstanSource(directory: string, version: string): string {
  const found = installedFrom(dirname(directory));
  const file = found && /^(file|link):(.*)$/.exec(found.spec);
  if (!file) return found?.spec ?? version;
  return `file:${relative(directory, resolve(found.directory, file[2]!))}`;
}

type ManagerName = keyof typeof PACKAGE_MANAGERS;

/** The lock files that identify package managers other than npm. */
const LOCK_FILES: readonly (readonly [file: string, name: ManagerName])[] = [
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['package-lock.json', 'npm'],
];

/**
 * The package manager of the user: the one that runs this command, unless that is npm (as always with `npx`); then the
 * one with the nearest lock file in `directory` or above it.
 */
function packageManager(directory: string, userAgent = ''): ManagerName {
  const running = LOCK_FILES.find(([, name]) => name !== 'npm' && userAgent.startsWith(`${name}/`));
  const found = running ?? LOCK_FILES.find(([file]) => existsSync(join(directory, file)));
  if (found) return found[1];
  const parent = dirname(directory);
  return parent === directory ? 'npm' : packageManager(parent);
}

/** The template of a point. `resource` is short for `resourceType`. Throws ConfigError with the names of all. */
function templateOf(point: string): PointTemplate {
  const found = POINT_TEMPLATES.get(point === 'resource' ? 'resourceType' : point);
  if (found) return found;
  throw new ConfigError('--point', `must be ${[...POINT_TEMPLATES.keys()].sort().join(', ')}, not ${point}`);
}

/** `plugin init NAME [--point=POINT]`: writes a package into a new folder. Returns 0; throws ConfigError. */
export async function initCommand(args: readonly string[], io: Io): Promise<number> {
  const { positionals, values } = parseArguments(args, flagsOf('plugin'));
  const [name, ...others] = positionals;
  if (name === undefined || others.length > 0) throw new ConfigError('NAME', 'use: capstan plugin init NAME');
  if (!PACKAGE_NAME.test(name) || name.length > LONGEST_NAME)
    throw new ConfigError(name, 'must be the name of a package: lower case letters, digits, dashes; @scope/ before it');
  const pointName = String(values['point'] ?? 'validator');
  const point = templateOf(pointName);
  const folder = name.replace(/^@.*\//, '');
  const directory = resolve(folder);
  if (existsSync(directory) && readdirSync(directory).length > 0)
    throw new ConfigError(name, `the folder ${directory} is not empty`);
  const version = ownVersion();
  const manager = PACKAGE_MANAGERS[packageManager(dirname(directory), process.env['npm_config_user_agent'])];
  const source = capstanSource(directory, `^${version}`);
  const files = packageFiles({ name, capstan: `>=${version}`, source, manager }, point);
  for (const [path, text] of files) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
  }
  io.out(`created ${folder}: a package with ${/^[aeiou]/.test(pointName) ? 'an' : 'a'} ${pointName}`);
  io.out(`next: cd ${folder} && ${manager.install} && ${manager.test}`);
  return 0;
}
