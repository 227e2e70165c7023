import { X509Certificate } from 'node:crypto';
import {
  type Authenticator,
  authenticator,
  ConfigError,
  definePlugin,
  type Host,
  type Plugin,
  type User,
} from '../../core/api/index.js';
import { Malformed, readCertificateNames } from '../../core/services/pki/certificateNames.js';
import { isIssuedBy, WatchedAuthorities } from './authorities.js';
import { unauthorized } from '../../core/model/wellKnown/senders.js';

/** The settings of the plugin. Names of headers and their prefixes are in lower case. */
export interface RequestHeaderConfig {
  /** The CAs of proxies, in PEM. */
  readonly clientCaFile: string;
  /** Common names of the certificates of proxies; empty: any. */
  readonly allowedNames: readonly string[];
  /** The first one with a value has the user name. */
  readonly usernameHeaders: readonly string[];
  /** The first one with a value has the uid. */
  readonly uidHeaders: readonly string[];
  /** Each value of each of these headers is a group. */
  readonly groupHeaders: readonly string[];
  /** The rest of the name of a header that begins with one of them is the key of extra. */
  readonly extraHeaderPrefixes: readonly string[];
}

type Headers = readonly (readonly [string, string])[];

/** Number of certificates for which it is remembered whether they are of a proxy. */
const REMEMBERED = 1024;

/** The key of extra in the name of a header: percent-decoded where that is possible (spec, "Authenticating proxy"). */
function extraKey(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}

/**
 * Throws 401 for bytes that are not ASCII: their meaning is not defined (RFC 9110, 5.5), so that two names could
 * become one.
 */
function checkValue(value: string): string {
  if (/[^\t\u0020-\u007e]/.test(value)) throw unauthorized();
  return value;
}

/** A certificate of a client. */
interface Presented {
  /** Whether a CA of proxies has issued it. */
  readonly isProxy: boolean;
  readonly commonName: string;
  readonly from: number;
  readonly until: number;
}

/**
 * Authenticates users that a proxy has authenticated and names in headers. The proxy identifies itself by a certificate
 * of a CA that is used for nothing else: without a certificate the headers are ignored, and a certificate of another CA
 * is refused unless another authenticator knows it. The headers are never shown to other authenticators.
 */
export function requestHeaders(config: RequestHeaderConfig, host: Pick<Host, 'now' | 'onClose'>): Authenticator {
  const { allowedNames, usernameHeaders, uidHeaders, groupHeaders, extraHeaderPrefixes } = config;
  const exact = new Set([...usernameHeaders, ...uidHeaders, ...groupHeaders]);
  const known = new Map<string, Presented>();
  const authorities = new WatchedAuthorities(config.clientCaFile, host, () => known.clear());

  function read(pem: string): Presented {
    const certificate = new X509Certificate(pem);
    const period = { from: Date.parse(certificate.validFrom), until: Date.parse(certificate.validTo) };
    if (!isIssuedBy(certificate, authorities.current)) return { isProxy: false, commonName: '', ...period };
    try {
      return { isProxy: true, commonName: readCertificateNames(certificate.raw).commonName ?? '', ...period };
    } catch (error) {
      if (error instanceof Malformed) return { isProxy: false, commonName: '', ...period };
      throw error;
    }
  }

  function presented(pem: string): Presented {
    const found = known.get(pem) ?? read(pem);
    if (!known.has(pem) && known.size >= REMEMBERED) known.delete(known.keys().next().value as string);
    known.set(pem, found);
    return found;
  }

  /** If a header occurs several times, only the first one counts: the others may be those of the client. */
  const firstOf = (headers: Headers, names: readonly string[]): string => {
    for (const name of names) {
      const value = headers.find(([given]) => given === name)?.[1] ?? '';
      if (value !== '') return checkValue(value);
    }
    return '';
  };

  function userIn(headers: Headers): User | null {
    const name = firstOf(headers, usernameHeaders);
    // An empty user name is not the same as no header.
    if (name === '' && headers.some(([given]) => usernameHeaders.includes(given))) throw unauthorized();
    if (name === '') return null;
    const groups = groupHeaders.flatMap(header =>
      headers.flatMap(([given, value]) => (given === header && value !== '' ? [checkValue(value)] : [])),
    );
    const extra = new Map<string, string[]>();
    for (const [header, value] of headers) {
      const prefix = extraHeaderPrefixes.find(one => header.startsWith(one));
      if (prefix === undefined) continue;
      const key = extraKey(header.slice(prefix.length));
      extra.set(key, [...(extra.get(key) ?? []), checkValue(value)]);
    }
    return { name, uid: firstOf(headers, uidHeaders), groups, extra };
  }

  return {
    // Without a proxy, its answer depends on the certificate alone.
    cacheFor: 'forever',
    owns: header => exact.has(header) || extraHeaderPrefixes.some(prefix => header.startsWith(prefix)),
    authenticate(request) {
      if (!request.certificate) return null;
      const { isProxy, commonName, from, until } = presented(request.certificate);
      // A certificate of another CA is refused, unless another authenticator finds out whose it is.
      if (!isProxy) throw unauthorized();
      const time = host.now();
      const isAllowed = allowedNames.length === 0 || allowedNames.includes(commonName);
      if (!isAllowed || time < from || time > until) throw unauthorized();
      const user = userIn(request.headers());
      return user && { user, cacheFor: 'never' };
    },
  };
}

const LISTS = ['allowedNames', 'usernameHeaders', 'uidHeaders', 'groupHeaders', 'extraHeaderPrefixes'] as const;

function parse(config: unknown): RequestHeaderConfig {
  const given = (config ?? {}) as RequestHeaderConfig;
  if (typeof given.clientCaFile !== 'string') throw new ConfigError('clientCaFile', 'must be the path of a CA bundle');
  for (const name of LISTS) if (!Array.isArray(given[name])) throw new ConfigError(name, 'must be a list of strings');
  return given;
}

/** `--requestheader-*`: users that an authenticating proxy names. */
export default definePlugin({
  name: 'request-header',
  parse,
  contribute: config => [authenticator.of(host => requestHeaders(config, host))],
}) satisfies Plugin<RequestHeaderConfig>;
