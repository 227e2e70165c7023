import { ConfigError } from '../../api/point.js';
import { isRecord, recordsAt, stringAt, type UnknownRecord } from '../../model/record.js';
import type { NamingName } from '../../naming.js';
import { SETTINGS } from '../../settings/settingsTable.js';
import { parseArguments } from '../arguments.js';
import { flagsOf } from '../commands.js';
import type { Io } from '../serve.js';
import { parseManifest } from './documentText.js';
import { formOf, isList, readSources, type SourceFile } from './files.js';
import { Unconvertible } from './removed/index.js';
import { Versions } from './versions.js';

/** The naming of the groups of the files: neutral if one of them names a group of that domain. */
function namingIn(given: unknown, files: readonly SourceFile[]): NamingName {
  if (given !== undefined) return SETTINGS.naming.read(given, '--naming');
  const domain = '.orchestrator.io/';
  const naming: NamingName = 'kubernetes';
  return files.some(({ text }) => text.includes(domain)) ? 'neutral' : naming;
}

/** The conversion of some manifests, with the problems found so far. */
class Conversion {
  readonly problems: string[] = [];

  constructor(
    readonly versions: Versions,
    readonly version: string | undefined,
  ) {}

  /** The object in its new version. Objects of lists are converted one by one. */
  async convert(object: UnknownRecord, where: string): Promise<UnknownRecord> {
    if (isList(object)) {
      const items: UnknownRecord[] = [];
      for (const [i, item] of recordsAt(object, 'items').entries())
        items.push(await this.convert(item, `${where}: items[${i}]`));
      return { ...object, items };
    }
    const apiVersion = stringAt(object, 'apiVersion');
    try {
      if (apiVersion === '' || stringAt(object, 'kind') === '')
        throw new Unconvertible('apiVersion', 'is required, as is kind: add them');
      if (this.versions.isKnown(apiVersion)) return await this.versions.convert(object, this.version);
      if (this.version === undefined) return object;
      throw new Unconvertible('apiVersion', `${apiVersion} is not built in: get the object from its server instead`);
    } catch (error) {
      if (!(error instanceof Unconvertible)) throw error;
      this.problems.push(`${where}: ${error.message}`);
      return object;
    }
  }
}

/**
 * `capstan convert -f FILE`: prints manifests with removed and deprecated versions replaced by current ones, or all in
 * the given version. Returns 1, and prints nothing else, if an object cannot be converted. Throws ConfigError.
 */
export async function convertCommand(args: readonly string[], io: Io): Promise<number> {
  const parsed = parseArguments(args, flagsOf('convert'));
  const form = formOf(parsed, ['yaml', 'json']);
  const files = readSources(parsed);
  const { 'output-version': version, naming } = parsed.values;
  if (version === '') throw new ConfigError('--output-version', 'needs a value: --output-version=apps/v1');
  const versions = new Versions(namingIn(naming, files));
  const conversion = new Conversion(versions, typeof version === 'string' ? version : undefined);
  const texts: string[] = [];
  for (const file of files) {
    const manifest = parseManifest(file);
    for (const { place, content, update } of manifest.documents)
      if (isRecord(content)) update(await conversion.convert(content, place));
      else if (content !== undefined && content !== null)
        conversion.problems.push(`${place}: must be an object: remove it`);
    texts.push(manifest.text(form));
  }
  for (const problem of conversion.problems) io.err(problem);
  if (conversion.problems.length > 0) return 1;
  const separator = form === 'json' ? '\n' : '\n---\n';
  io.out(texts.filter(text => text !== '').join(separator));
  return 0;
}
