/** URLs as Go's `net/url` parses them: absolute, or an absolute path. */
import { declare, declareGlobal } from '../check/declarations.js';
import { goQuote } from '../../model/text/quote.js';
import type { Library } from '../library.js';
import { ArrayList, fail, MapDict, Opaque, type Value } from '../evaluate/values.js';

const NAME = 'kubernetes.URL';

/** A URL in its parts. `path` is escaped. */
class Url extends Opaque {
  readonly typeName = NAME;
  constructor(
    readonly text: string,
    readonly scheme: string,
    readonly host: string,
    readonly path: string,
    readonly query: string,
  ) {
    super();
  }
  equals(other: Opaque): boolean {
    return other instanceof Url && other.text === this.text;
  }
}

const BAD_ESCAPE = /%(?![0-9a-fA-F]{2})/;
const USER_INFO = /^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/;
/** A path that needs no escaping, and the characters that `escapePath` keeps in any other path. */
const VALID_PATH = /^[A-Za-z0-9\-._~$&+,/:;=@%!'()*[\]]*$/;
const PATH_CHARACTER = /[A-Za-z0-9\-._~$&+,/:;=@]/;

/** Thrown inside the parser for a malformed URL. */
class Malformed {
  constructor(readonly reason: string) {}
}
const failMalformed = (reason: string): never => {
  throw new Malformed(reason);
};

/**
 * Parses the URL of a request line (Go's `ParseRequestURI`): `#` starts no fragment. Returns the error as text. `whole`
 * is the text that the error shows.
 */
export function parseRequestUri(text: string, whole = text): Url | string {
  try {
    return parse(text, whole);
  } catch (error) {
    if (error instanceof Malformed) return error.reason;
    throw error;
  }
}

/**
 * Parses a URL. Returns the error as text if it is malformed or relative. The text with its fragment must be valid as
 * well.
 */
function parseUrl(text: string): Url | string {
  const whole = parseRequestUri(text);
  const mark = text.indexOf('#');
  if (typeof whole === 'string' || mark < 0) return whole;
  const fragment = text.slice(mark);
  const bad = BAD_ESCAPE.exec(fragment);
  if (bad) return `invalid URL escape ${goQuote(fragment.slice(bad.index, bad.index + 3))}`;
  return parseRequestUri(text.slice(0, mark), text);
}

function parse(source: string, text: string): Url {
  if (/[\x00-\x1f\x7f]/.test(source)) failMalformed('net/url: invalid control character in URL');
  if (source === '') failMalformed('empty url');
  if (source === '*') return new Url(text, '', '', '*', '');
  const { scheme, rest: afterScheme } = splitScheme(source);
  const mark = afterScheme.indexOf('?');
  const query = mark < 0 ? '' : afterScheme.slice(mark + 1);
  let rest = mark < 0 ? afterScheme : afterScheme.slice(0, mark);
  if (!rest.startsWith('/'))
    return scheme ? new Url(text, scheme, '', '', query) : failMalformed('invalid URI for request');
  let host = '';
  if (rest.startsWith('//') && (scheme !== '' || !rest.startsWith('///'))) {
    const slash = rest.indexOf('/', 2);
    host = readAuthority(slash < 0 ? rest.slice(2) : rest.slice(2, slash));
    rest = slash < 0 ? '' : rest.slice(slash);
  }
  const bad = BAD_ESCAPE.exec(rest);
  if (bad) failMalformed(`invalid URL escape ${goQuote(rest.slice(bad.index, bad.index + 3))}`);
  return new Url(text, scheme, host, escapePath(rest), query);
}

function splitScheme(source: string): { scheme: string; rest: string } {
  if (source.startsWith(':')) failMalformed('missing protocol scheme');
  const m = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(source);
  return m ? { scheme: m[1]!.toLowerCase(), rest: source.slice(m[0].length) } : { scheme: '', rest: source };
}

/** The host of `user:password@host:port`, unescaped. */
function readAuthority(authority: string): string {
  const at = authority.lastIndexOf('@');
  const host = readHost(authority.slice(at + 1));
  const user = at < 0 ? '' : authority.slice(0, at);
  if (!USER_INFO.test(user)) failMalformed('net/url: invalid userinfo');
  const bad = BAD_ESCAPE.exec(user);
  if (bad) failMalformed(`invalid URL escape ${goQuote(user.slice(bad.index, bad.index + 3))}`);
  return host;
}

function readHost(host: string): string {
  if (host.startsWith('[')) {
    const end = host.lastIndexOf(']');
    if (end < 0) failMalformed("missing ']' in host");
    checkPort(host.slice(end + 1));
  } else if (host.includes(':')) checkPort(host.slice(host.lastIndexOf(':')));
  // A host may only escape characters outside ASCII and the percent sign of a zone.
  const bad = /[ \\^`{}|#]|%(?![89a-fA-F][0-9a-fA-F]|25)/.exec(host);
  if (bad?.[0] === '%') failMalformed(`invalid URL escape ${goQuote(host.slice(bad.index, bad.index + 3))}`);
  if (bad) failMalformed(`invalid character ${goQuote(bad[0])} in host name`);
  return unescapeOr(host, host);
}

function checkPort(port: string): void {
  if (port !== '' && !/^:\d*$/.test(port)) failMalformed(`invalid port ${goQuote(port)} after host`);
}

function unescapeOr(text: string, fallback: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return fallback;
  }
}

/** Returns a valid path unchanged; any other is unescaped and escaped again, octet by octet. */
function escapePath(path: string): string {
  if (VALID_PATH.test(path)) return path;
  const octets = Buffer.from(path.replace(/%([0-9a-fA-F]{2})/g, (_, hex: string) => `\0${hex}`));
  let out = '';
  for (let i = 0; i < octets.length; i++) {
    const escaped = octets[i] === 0;
    const octet = escaped ? Number.parseInt(octets.toString('latin1', i + 1, i + 3), 16) : octets[i]!;
    if (escaped) i += 2;
    const c = String.fromCharCode(octet);
    out += PATH_CHARACTER.test(c) ? c : `%${octet.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return out;
}

const hostname = (host: string): string =>
  host.startsWith('[') ? host.slice(1, host.indexOf(']')) : host.replace(/:\d*$/, '');
const port = (host: string): string =>
  /:(\d*)$/.exec(host.startsWith('[') ? host.slice(host.indexOf(']')) : host)?.[1] ?? '';

function query(u: Url): Value {
  const out = new Map<string, string[]>();
  for (const pair of u.query.split('&')) {
    if (pair === '' || pair.includes(';')) continue;
    const eq = pair.indexOf('=');
    const raw = eq < 0 ? [pair, ''] : [pair.slice(0, eq), pair.slice(eq + 1)];
    if (raw.some(r => BAD_ESCAPE.test(r))) continue;
    const [key, value] = raw.map(r => unescapeOr(r.replaceAll('+', ' '), r)) as [string, string];
    const values = out.get(key);
    if (values) values.push(value);
    else out.set(key, [value]);
  }
  return MapDict.of(Array.from(out, ([k, v]) => [k, new ArrayList(v)] as const));
}

/** The URL library. */
export const URLS: Library = {
  name: 'url',
  types: [NAME],
  functions: [
    declareGlobal('isURL(string): bool', (v, _b, _c, m) => {
      m.traverse((v as string).length);
      return typeof parseRequestUri(v as string) !== 'string';
    }),
    declareGlobal(`url(string): ${NAME}`, (v, _b, _c, m) => {
      m.traverse((v as string).length);
      const url = parseUrl(v as string);
      if (typeof url !== 'string') return url;
      return fail(`URL parse error during conversion from string: parse ${goQuote(v as string)}: ${url}`);
    }),
    declare(`${NAME}.getScheme(): string`, v => (v as Url).scheme),
    declare(`${NAME}.getHost(): string`, v => (v as Url).host),
    declare(`${NAME}.getHostname(): string`, v => hostname((v as Url).host)),
    declare(`${NAME}.getPort(): string`, v => port((v as Url).host)),
    declare(`${NAME}.getEscapedPath(): string`, v => (v as Url).path),
    declare(`${NAME}.getQuery(): map(string, list(string))`, (v, _b, _c, m) => {
      m.traverse((v as Url).query.length);
      return query(v as Url);
    }),
  ],
};
