import type { Exchange } from '../../../core/api/listener.js';
import type { User } from '../../../core/model/user.js';
import { type Headers, NO_CACHE } from '../answers/reply.js';

/** Headers of one connection, which are not passed on (RFC 9110, 7.6.1). */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Further headers of a request that are not passed on. */
const REPLACED: ReadonlySet<string> = new Set([
  'host',
  'authorization',
  'audit-id',
  'x-remote-user',
  'x-remote-uid',
  'x-remote-group',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-forwarded-uri',
  // It may contain a token.
  'sec-websocket-protocol',
]);

/** Prefixes of the names of such headers. */
const REPLACED_PREFIXES = ['x-remote-extra-', 'impersonate-'];

/** The headers that the `connection` header names, which concern that connection only. */
const namedByConnection = (headers: Headers): ReadonlySet<string> =>
  new Set(
    headers
      .filter(([name]) => name === 'connection')
      .flatMap(([, value]) => value.split(','))
      .map(name => name.trim().toLowerCase()),
  );

/** The headers that are passed on, without those of the connection. */
function withoutHops(headers: Headers, isKept: (name: string) => boolean): [string, string][] {
  const named = namedByConnection(headers);
  return headers.filter(([name]) => !HOP_BY_HOP.has(name) && !named.has(name) && isKept(name)).map(([...pair]) => pair);
}

/** The address of the sender of a request that this process has made. */
const LOCAL = '127.0.0.1';

/** Bytes that the name of a header cannot have (RFC 9110, 5.6.2), and `%`. */
const NOT_IN_NAMES = /[^!#$&'*+.^_`|~0-9A-Za-z-]/gu;

const escaped = (name: string): string =>
  name.replace(NOT_IN_NAMES, char =>
    [...Buffer.from(char)].map(byte => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  );

/** A text as the value of a header: each byte of its UTF-8 is one character, because Node.js sends only Latin-1. */
const headerText = (text: string): string => Buffer.from(text).toString('latin1');

/** The headers that tell an aggregated server who the user is, as its request-header authentication reads them. */
const identityHeaders = ({ name, groups, extra }: User): [string, string][] => [
  ['x-remote-user', headerText(name)],
  ...groups.map((group): [string, string] => ['x-remote-group', headerText(group)]),
  ...[...extra].flatMap(([key, values]) =>
    values.map((value): [string, string] => [`x-remote-extra-${escaped(key).toLowerCase()}`, headerText(value)]),
  ),
];

/** A request as it is passed on. */
interface Forwarded {
  readonly user: User;
  /** Host and port of the aggregated server. */
  readonly host: string;
  readonly path: string;
  readonly auditId: string;
}

/** The headers of a request as an aggregated server gets them: the user instead of the user's credentials. */
export function requestHeaders(exchange: Exchange, { user, host, path, auditId }: Forwarded): [string, string][] {
  const headers = exchange.headers();
  const isChunked = headers.some(([name]) => name === 'transfer-encoding');
  const kept = withoutHops(
    headers,
    name =>
      !REPLACED.has(name) &&
      !REPLACED_PREFIXES.some(prefix => name.startsWith(prefix)) &&
      // Only one of the two may be sent (RFC 9112, 6.2).
      !(isChunked && name === 'content-length'),
  );
  const via = headers.filter(([name]) => name === 'x-forwarded-for').map(([, value]) => value);
  return [
    ['host', host],
    ...kept,
    ...(isChunked ? ([['transfer-encoding', 'chunked']] as [string, string][]) : []),
    ['audit-id', auditId],
    ['x-forwarded-for', [...via, exchange.remoteAddress || LOCAL].join(', ')],
    ['x-forwarded-host', host],
    ['x-forwarded-proto', 'https'],
    ['x-forwarded-uri', path],
    ...identityHeaders(user),
  ];
}

/**
 * The headers of an answer as its client gets them. `raw` alternates names and values, like `rawHeaders` of Node.js.
 */
export function answerHeaders(raw: readonly string[], auditId: string): [string, string][] {
  const headers = Array.from({ length: raw.length / 2 }, (_, i): [string, string] => [
    raw[2 * i]!.toLowerCase(),
    raw[2 * i + 1]!,
  ]);
  const kept = withoutHops(
    headers,
    name =>
      !['date', 'content-length', 'cache-control', 'audit-id'].includes(name) && !name.startsWith('access-control-'),
  );
  return [...kept, NO_CACHE.slice() as [string, string], ['audit-id', auditId]];
}
