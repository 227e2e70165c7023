/** URLs as Go's `url.ParseRequestURI` reads them: absolute, or an absolute path. */
import { declare, declareGlobal } from '../declarations.js';
import type { Library } from '../environment.js';
import { ArrayList, fail, MapDict, Opaque, type Value } from '../values.js';

const NAME = 'kubernetes.URL';

/** A URL in its parts. */
export class Url extends Opaque {
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

/** Reads a URL; `undefined` when malformed or relative. A fragment belongs to what precedes it in the check, and to nothing after. */
export function parseUrl(text: string): Url | undefined {
  const whole = parseRequest(text);
  const mark = text.indexOf('#');
  if (!whole || mark < 0) return whole;
  const base = parseRequest(text.slice(0, mark));
  return base && new Url(text, base.scheme, base.host, base.path, base.query);
}

/** The form a request line may hold: no fragment, no control characters. */
function parseRequest(text: string): Url | undefined {
  if (text === '' || /[\x00-\x1f\x7f]/.test(text)) return undefined;
  const colon = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(text);
  const scheme = colon ? colon[1]!.toLowerCase() : '';
  let rest = colon ? text.slice(colon[0].length) : text;
  const mark = rest.indexOf('?');
  const query = mark < 0 ? '' : rest.slice(mark + 1);
  if (mark >= 0) rest = rest.slice(0, mark);
  if (!rest.startsWith('/')) return scheme ? new Url(text, scheme, '', '', query) : undefined;
  let host = '';
  if (rest.startsWith('//') && (scheme !== '' || !rest.startsWith('///'))) {
    const slash = rest.indexOf('/', 2);
    const authority = slash < 0 ? rest.slice(2) : rest.slice(2, slash);
    rest = slash < 0 ? '' : rest.slice(slash);
    const at = authority.lastIndexOf('@');
    if (at >= 0 && (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(authority.slice(0, at)) || BAD_ESCAPE.test(authority.slice(0, at))))
      return undefined;
    host = authority.slice(at + 1);
    if (!validHost(host)) return undefined;
    host = unescapeOr(host, host);
  }
  if (BAD_ESCAPE.test(rest)) return undefined;
  return new Url(text, scheme, host, escapePath(rest), query);
}

function validHost(host: string): boolean {
  if (host.startsWith('[')) return /^\[[^\]]*\](:\d*)?$/.test(host) && !/\s/.test(host);
  if (!/^[^:]*(:\d*)?$/.test(host) && host.includes(':')) {
    const last = host.slice(host.lastIndexOf(':') + 1);
    if (!/^\d*$/.test(last)) return false;
  }
  return !/[ \\^`{}|#]/.test(host) && !/%(?![89a-fA-F][0-9a-fA-F])/.test(host);
}

function unescapeOr(text: string, otherwise: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return otherwise;
  }
}

/** Escapes what a path may not hold, keeping valid escapes. */
const escapePath = (path: string): string =>
  [...path].map(c => (/[A-Za-z0-9\-._~$&+,/:;=@%!'()*[\]]/.test(c) ? c : escapeByte(c))).join('');
const escapeByte = (c: string): string =>
  [...new TextEncoder().encode(c)].map(b => `%${b.toString(16).toUpperCase().padStart(2, '0')}`).join('');

const hostname = (host: string): string => (host.startsWith('[') ? host.slice(1, host.indexOf(']')) : host.replace(/:\d*$/, ''));
const port = (host: string): string => /:(\d*)$/.exec(host.startsWith('[') ? host.slice(host.indexOf(']')) : host)?.[1] ?? '';

function query(u: Url): Value {
  const out = new Map<string, string[]>();
  for (const pair of u.query.split('&')) {
    if (pair === '' || pair.includes(';')) continue;
    const eq = pair.indexOf('=');
    const raw = eq < 0 ? [pair, ''] : [pair.slice(0, eq), pair.slice(eq + 1)];
    if (raw.some(r => BAD_ESCAPE.test(r))) continue;
    const [key, value] = raw.map(r => unescapeOr(r.replaceAll('+', ' '), r)) as [string, string];
    out.set(key, [...(out.get(key) ?? []), value]);
  }
  return MapDict.of(Array.from(out, ([k, v]) => [k, new ArrayList(v)] as const));
}

/** The URL library. */
export const URLS: Library = {
  name: 'url',
  types: [NAME],
  functions: [
    declareGlobal(
      'isURL(string): bool',
      (v, _b, _c, m) => {
        m.traverse((v as string).length);
        return parseUrl(v as string) !== undefined;
      },
      'traverse',
    ),
    declareGlobal(
      `url(string): ${NAME}`,
      (v, _b, _c, m) => {
        m.traverse((v as string).length);
        return parseUrl(v as string) ?? fail('URL parse error during conversion from string');
      },
      'traverse',
    ),
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
