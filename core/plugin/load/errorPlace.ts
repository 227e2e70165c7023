import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { PLUGIN_CALL_MS } from '../../limits.js';
import { stackOf } from '../calls/stack.js';

/** The program that imports a module in a separate process, whose uncaught error is printed with its place. */
const IMPORTER = new URL('./importAlone.js', import.meta.url);

/** A file with a line, as Node.js prints it before the source of a syntax error. */
const PLACE = /^(?:file:\/\/)?\/.*:\d+$/;

const placeIn = (line: string | undefined): string | undefined =>
  line !== undefined && PLACE.test(line) ? toPath(line) : undefined;
const toPath = (place: string): string =>
  place.startsWith('file:') ? decodeURI(place.slice('file://'.length)) : place;

/**
 * The place of a syntax error in a module. For an ECMAScript module, Node.js prints it only when the error ends a
 * process. Neither the code of a module with such an error runs, nor that of modules that import it.
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
 * The file and line (`/srv/labels.js:3`) of the error with which the import of a module has failed: of the syntax
 * error, or of the code that threw it. Undefined if they are not known.
 */
export async function errorPlace(error: unknown, url: string): Promise<string | undefined> {
  const lines = stackOf(error).split('\n');
  const given = placeIn(lines[0]);
  if (given !== undefined) return given;
  if (error instanceof SyntaxError) return await syntaxErrorPlace(url);
  // Errors of Node.js already name the modules.
  if ((error as Partial<NodeJS.ErrnoException> | null)?.code !== undefined) return undefined;
  const frame = lines.find(line => /^\s+at /.test(line) && line.includes('file://'));
  return frame && toPath(frame.slice(frame.indexOf('file://')).replace(/\)$/, ''));
}
