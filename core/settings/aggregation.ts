import { type CertificatePair, certificatePair } from '../files/certificateFiles.js';
import type { AddressRules } from '../services/aggregation/serviceAddress.js';
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
  readonly credentials?: CertificatePair;
  /** Whether answers that redirect the client are refused. */
  readonly refusesRedirects: boolean;
}

/**
 * Reads the rules of the settings. `own` is the certificate that the server has created. Throws ConfigError for a
 * certificate without a key, and for files that cannot be used.
 */
export function aggregationRules(settings: AggregationSettings, own: CertificatePair): AggregationRules {
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
  { proxyClientCertFile, proxyClientKeyFile, requestheaderClientCaFile }: AggregationSettings,
  own: CertificatePair,
): CertificatePair | undefined {
  const pair = certificatePair(
    { flag: '--proxy-client-cert-file', file: proxyClientCertFile },
    { flag: '--proxy-client-key-file', file: proxyClientKeyFile },
  );
  return pair ?? (requestheaderClientCaFile === undefined ? own : undefined);
}
