import { readFileSync } from 'node:fs';
import type {
  AuthenticationObjectsConfig,
  PublishedProxies,
} from '../../../plugins/controllers/accounts/authenticationObjects.js';
import { unreadableError } from '../../files/unreadable.js';
import { FRONT_PROXY } from '../../services/pki/index.js';
import type { Settings } from '../../settings/settings.js';

/** The headers in which the server names users if the settings name none. */
const HEADERS = {
  'requestheader-username-headers': ['X-Remote-User'],
  'requestheader-group-headers': ['X-Remote-Group'],
  'requestheader-extra-headers-prefix': ['X-Remote-Extra-'],
};

/** The CAs, in PEM, of clients and of the certificate with which this server passes requests on. */
interface PublishedCas {
  readonly clientCa: string;
  readonly frontProxyCa: string;
}

/** How other servers should authenticate clients of this one. Throws ConfigError for a file that cannot be read. */
export function publishedAuthentication(settings: Settings, cas: PublishedCas): AuthenticationObjectsConfig {
  const { clientCaFile, requestheaderClientCaFile } = settings;
  return {
    clientCa: cas.clientCa,
    proxies: proxiesOf(settings, cas),
    files: {
      ...(clientCaFile === undefined ? {} : { 'client-ca-file': clientCaFile }),
      ...(requestheaderClientCaFile === undefined ? {} : { 'requestheader-client-ca-file': requestheaderClientCaFile }),
    },
  };
}

/**
 * The authenticating proxies that other servers should trust: those of the settings, or this server, which passes
 * requests on with a certificate of `frontProxyCa`.
 */
function proxiesOf(settings: Settings, { frontProxyCa }: PublishedCas): PublishedProxies {
  const { requestheaderClientCaFile: file } = settings;
  if (file === undefined) {
    // The CA of a certificate in the settings is not known here.
    if (settings.proxyClientCertFile !== undefined) return {};
    return {
      'requestheader-client-ca-file': frontProxyCa,
      'requestheader-allowed-names': JSON.stringify([FRONT_PROXY]),
      ...listsOf(HEADERS),
    };
  }
  return {
    'requestheader-client-ca-file': textOf(file),
    ...listsOf({
      'requestheader-allowed-names': settings.requestheaderAllowedNames ?? [],
      'requestheader-username-headers': settings.requestheaderUsernameHeaders ?? [],
      'requestheader-group-headers': settings.requestheaderGroupHeaders ?? [],
      'requestheader-extra-headers-prefix': settings.requestheaderExtraHeadersPrefix ?? [],
    }),
  };
}

const listsOf = (lists: Readonly<Record<string, readonly string[]>>): Record<string, string> =>
  Object.fromEntries(Object.entries(lists).map(([key, values]) => [key, JSON.stringify(values)]));

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw unreadableError('--requestheader-client-ca-file', file, error);
  }
}
