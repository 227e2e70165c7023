import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { PLUGIN_CALL_MS } from '../../limits.js';
import { stackOf } from '../calls/stack.js';

/** Imports a module in a process of its own, whose uncaught error is printed with its place. */
const IMPORTER = new URL('./importAlone.js', import.meta.url);

/** A file with a line, as Node.js prints it before the source of a syntax error. */
const PLACE = /^(?:file:\/\/)?\/.*:\d+$/;

const placeIn = (line: string | undefined): string | undefined =>
  line !== undefined && PLACE.test(line) ? toPath(line) : undefined;
const toPath = (place: string): string =>
  place.startsWith('file:') ? decodeURI(place.slice('file://'.length)) : place;

/**
 * Where a module has a syntax error: Node.js tells that of an ECMAScript module only when it ends a process. No code of
 * a module with such an error runs, and none of those that import it.
 */
async function syntaxErrorPlace(url: string): Promise<string | undefined> {
  if (!existsSync(IMPORTER)) return undefined;
  try {
    await promisify(execFile)(process.execPath, [fileURLToPath(IMPORTER), url], { timeout: PLUGIN_CALL_MS });
    return undefined;
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string };
    return placeIn(stderr.split('\n')[0]);
  }
}

/**
 * The file and line of the error with which the import of a module has failed, `/srv/labels.js:3`: that of the syntax
 * error, or where the module has thrown it. Undefined if that is not known.
 */
export async function errorPlace(error: unknown, url: string): Promise<string | undefined> {
  const lines = stackOf(error).split('\n');
  const given = placeIn(lines[0]);
  if (given !== undefined) return given;
  if (error instanceof SyntaxError) return await syntaxErrorPlace(url);
  // Errors of Node.js name the modules that they are about.
  if ((error as Partial<NodeJS.ErrnoException> | null)?.code !== undefined) return undefined;
  const frame = lines.find(line => /^\s+at /.test(line) && line.includes('file://'));
  return frame && toPath(frame.slice(frame.indexOf('file://')).replace(/\)$/, ''));
}
