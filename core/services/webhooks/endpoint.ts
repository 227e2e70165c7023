import type { Informer } from '../../api/host.js';
import { ConfigError } from '../../api/point.js';
import { numberAt, recordAt, recordsAt, stringAt, type UnknownRecord } from '../../model/record.js';
import type { Credentials, Endpoint } from './connections.js';
import { readCredentials } from './credentials.js';

/** The settings of plugins that call webhooks. */
export interface WebhookSettings {
  /** URLs of services by `namespace/name` or `namespace/name:port`, for services that nothing else resolves. */
  readonly services: Readonly<Record<string, string>>;
  /** A kubeconfig whose users are named after hosts, with the credentials for them. */
  readonly kubeConfigFile?: string;
}

/** The settings for resolving webhooks, and the credentials for them. */
export interface EndpointSettings {
  readonly services: WebhookSettings['services'];
  /** Credentials by host name, `host:port`, or a pattern with `*.` in front; `*` stands for all. */
  readonly credentials: ReadonlyMap<string, Credentials>;
}

/** Validates the settings of a plugin that calls webhooks. Throws ConfigError. */
export function parseEndpointSettings(config: unknown): WebhookSettings {
  const { services = {}, kubeConfigFile } = (config ?? {}) as Partial<WebhookSettings>;
  for (const [name, url] of Object.entries(services))
    if (!/^[^/]+\/[^/]+$/.test(name) || !URL.canParse(url) || !url.startsWith('https://'))
      throw new ConfigError('--webhook-resolve', `must be NAMESPACE/NAME=https://HOST:PORT, not ${name}=${url}`);
  return { services, ...(kubeConfigFile ? { kubeConfigFile } : {}) };
}

/**
 * The endpoints of webhooks with the credentials of a kubeconfig. Throws ConfigError if the kubeconfig cannot be read.
 */
export function endpointsOf({ services, kubeConfigFile }: WebhookSettings, informer: Informer): Endpoints {
  const credentials = kubeConfigFile ? readCredentials(kubeConfigFile) : new Map<string, Credentials>();
  return new Endpoints({ services, credentials }, informer);
}

/** A URL, the host with its port as credentials name it, and the name in the certificate of a service. */
interface Found {
  readonly url: string;
  readonly host: string;
  readonly serverName?: string;
}

/** Thrown for a service that cannot be resolved, with upstream's text. */
export class UnresolvedService extends Error {}

/** Finds the endpoints of webhooks. */
export class Endpoints {
  constructor(
    readonly settings: EndpointSettings,
    readonly services: Informer,
  ) {}

  /** The endpoint of a `clientConfig`, with `query` after its URL. Throws UnresolvedService. */
  of(clientConfig: UnknownRecord, query: string): Endpoint {
    const caBundle = stringAt(clientConfig, 'caBundle');
    const ca = caBundle ? Buffer.from(caBundle, 'base64').toString('utf8') : undefined;
    const service = recordAt(clientConfig, 'service');
    const found: { readonly url: string; readonly host: string; readonly serverName?: string } = service
      ? this.#ofService(service, query)
      : ofUrl(stringAt(clientConfig, 'url'), query);
    const credentials = this.#credentialsOf(found.host);
    return {
      url: found.url,
      ...(ca ? { ca } : {}),
      ...(found.serverName === undefined ? {} : { serverName: found.serverName }),
      ...(credentials ? { credentials } : {}),
    };
  }

  #ofService(service: UnknownRecord, query: string): Found {
    const namespace = stringAt(service, 'namespace');
    const name = stringAt(service, 'name');
    const port = numberAt(service, 'port') ?? 443;
    const serverName = `${name}.${namespace}.svc`;
    const path = joinedPath(stringAt(service, 'path'));
    const shown = `https://${serverName}:${port}${path}${query}`;
    const { services } = this.settings;
    const mapped = ownAt(services, `${namespace}/${name}:${port}`) ?? ownAt(services, `${namespace}/${name}`);
    if (mapped !== undefined) {
      const base = new URL(mapped);
      return { url: withQuery(new URL(path, base), query), serverName, host: `${serverName}:${port}` };
    }
    const found = this.services.get(namespace, name);
    if (!found) throw new UnresolvedService(`Post ${JSON.stringify(shown)}: service ${JSON.stringify(name)} not found`);
    return { url: this.#serviceUrl(found, port, shown, path + query), serverName, host: `${serverName}:${port}` };
  }

  /** The address of a service: its external name or cluster IP. Throws UnresolvedService if it has none. */
  #serviceUrl(service: object, port: number, shown: string, path: string): string {
    const fail = (why: string): never => {
      throw new UnresolvedService(`Post ${JSON.stringify(shown)}: ${why}`);
    };
    const spec = recordAt(service, 'spec');
    if (stringAt(spec, 'type') === 'ExternalName') return `https://${stringAt(spec, 'externalName')}:${port}${path}`;
    if (!recordsAt(spec, 'ports').some(one => one['port'] === port))
      fail(`no service port ${port} found for service ${JSON.stringify(stringAt(service, 'metadata', 'name'))}`);
    const address = stringAt(spec, 'clusterIP');
    if (address === '' || address === 'None') fail('no endpoints available for service');
    return `https://${address.includes(':') ? `[${address}]` : address}:${port}${path}`;
  }

  /** The credentials for a host with its port; more exact names win. */
  #credentialsOf(host: string): Credentials | undefined {
    const { credentials } = this.settings;
    const bare = host.replace(/:\d+$/, '');
    const labels = bare.split('.');
    const patterns = labels.map((_, i) => ['*', ...labels.slice(i + 1)].join('.'));
    return [host, bare, ...patterns].map(name => credentials.get(name)).find(one => one !== undefined);
  }
}

const ownAt = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

/** The endpoint at the `url` of a client configuration: an https URL without a query. */
function ofUrl(given: string, query: string): Found {
  const url = new URL(given);
  url.pathname = decodedPath(given.replace(/^[^/]*\/\/[^/]*/, ''));
  url.search = query;
  return { url: url.href, host: url.host };
}

/**
 * The path of a URL as upstream's client sends it: percent-encodings are decoded first, so that `%2F` separates
 * segments too; then the segments are joined as RFC 3986 section 5.2.4 resolves `.` and `..`; then the bytes that Go
 * encodes are encoded.
 */
function decodedPath(path: string): string {
  const bytes = Buffer.from(path, 'utf8')
    .toString('latin1')
    .replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  const segments: string[] = [];
  for (const segment of bytes.split('/'))
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  const encode = (byte: string) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
  return `/${segments.join('/').replace(/[^\w./~$&+,:;=@-]/g, encode)}`;
}

/** A path as upstream's client joins it: without empty segments and a slash at the end. */
const joinedPath = (path: string): string => `/${path.split('/').filter(Boolean).join('/')}`;

function withQuery(url: URL, query: string): string {
  const copy = new URL(url);
  copy.pathname = joinedPath(copy.pathname);
  copy.search = query;
  return copy.href;
}
