import { ConfigError } from '../api/point.js';
import { checkCertificateFiles } from '../files/certificateFiles.js';
import type { AddressRules, CredentialFiles } from '../services/aggregation/serviceAddress.js';
import type { Settings } from './settings.js';
import { webhookServices } from './webhookServices.js';

/** The settings about the servers of APIServices. */
export type AggregationSettings = Pick<
  Settings,
  | 'proxyClientCertFile'
  | 'proxyClientKeyFile'
  | 'requestheaderClientCaFile'
  | 'enableAggregatorRouting'
  | 'aggregatorRejectForwardingRedirect'
  | 'webhookResolve'
>;

/** The rules by which requests are passed on to the servers of APIServices. */
export interface AggregationRules extends AddressRules {
  /** The certificate with which this server identifies itself to them. */
  readonly credentials?: CredentialFiles;
  /** Whether answers that redirect the client are refused. */
  readonly refusesRedirects: boolean;
}

const CERTIFICATE = '--proxy-client-cert-file';
const KEY = '--proxy-client-key-file';

/**
 * Reads the rules of the settings. `own` is the certificate that the server has created. Throws ConfigError for a
 * certificate without a key, and for files that cannot be used.
 */
export function aggregationRules(settings: AggregationSettings, own: CredentialFiles): AggregationRules {
  const credentials = credentialsOf(settings, own);
  return {
    ...(credentials ? { credentials: { cert: credentials.cert, key: credentials.key } } : {}),
    services: webhookServices(settings),
    routesToEndpoints: settings.enableAggregatorRouting,
    refusesRedirects: settings.aggregatorRejectForwardingRedirect,
  };
}

/** If the settings name a CA, the other servers trust that one; the server's own certificate is not from it. */
function credentialsOf(
  { proxyClientCertFile: cert, proxyClientKeyFile: key, requestheaderClientCaFile }: AggregationSettings,
  own: CredentialFiles,
): CredentialFiles | undefined {
  if (cert !== undefined && key !== undefined) {
    checkCertificateFiles({ flag: CERTIFICATE, file: cert }, { flag: KEY, file: key });
    return { cert, key };
  }
  if (cert !== undefined || key !== undefined)
    throw new ConfigError(key === undefined ? CERTIFICATE : KEY, `needs both ${CERTIFICATE} and ${KEY}`);
  return requestheaderClientCaFile === undefined ? own : undefined;
}
