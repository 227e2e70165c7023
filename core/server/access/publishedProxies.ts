import type { PublishedProxies } from '../../../plugins/controllers/accounts/authenticationObjects.js';
import { readFileSync } from 'node:fs';
import { unreadableError } from '../../files/unreadable.js';
import { FRONT_PROXY } from '../../services/pki/index.js';
import type { Settings } from '../../settings/settings.js';

/** The headers in which the server names users if the settings name none. */
const HEADERS = {
  'requestheader-username-headers': ['X-Remote-User'],
  'requestheader-group-headers': ['X-Remote-Group'],
  'requestheader-extra-headers-prefix': ['X-Remote-Extra-'],
};

/**
 * The authenticating proxies that other servers should trust: those of the settings, or this server, which passes
 * requests on with a certificate of `frontProxyCa`. Throws ConfigError for a file that cannot be read.
 */
export function publishedProxies(
  settings: Settings,
  { frontProxyCa }: { readonly frontProxyCa: string },
): PublishedProxies {
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
