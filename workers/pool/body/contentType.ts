const TOKEN = /[!#$%&'*+.^_`|~0-9A-Za-z-]+/.source;
const VALUE = `(?:${TOKEN}|"(?:[^"\\\\\\r\\n]|\\\\.)*")`;
const PARAMETERS = new RegExp(`^(?:\\s*;\\s*${TOKEN}\\s*=\\s*${VALUE})*\\s*(?:;\\s*)?$`);
const NAMES = new RegExp(`;\\s*(${TOKEN})\\s*=\\s*${VALUE}`, 'g');

/** The media type of a Content-Type in lower case, without its parameters. */
export const mediaTypeOf = (contentType: string): string => contentType.split(';')[0]!.trim().toLowerCase();

/** Whether a Content-Type is absent, or names a media type with parameters (RFC 9110, 8.3.1), each once. */
export function isWellFormed(contentType: string): boolean {
  const at = contentType.indexOf(';');
  if (at < 0) return true;
  const parameters = contentType.slice(at);
  if (at === 0 || !PARAMETERS.test(parameters)) return false;
  const names = Array.from(parameters.matchAll(NAMES), ([, name]) => name!.toLowerCase());
  return new Set(names).size === names.length;
}
