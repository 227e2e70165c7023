import { readFileSync } from 'node:fs';
import { ConfigError } from '../api/point.js';
import { unreadableError } from '../files/unreadable.js';
import type { Settings } from './settings.js';
import { webhookServices } from './webhookServices.js';

/** The settings about the servers of APIServices. */
export type AggregationSettings = Pick<
  Settings,
  | 'proxyClientCertFile'
  | 'proxyClientKeyFile'
  | 'enableAggregatorRouting'
  | 'aggregatorRejectForwardingRedirect'
  | 'webhookResolve'
>;

/** How requests are passed on to the servers of APIServices. */
export interface AggregationRules {
  /** The certificate with which this server identifies itself to them, and its key, in PEM. */
  readonly credentials: { readonly certificate: string; readonly key: string } | undefined;
  /** URLs of services by `namespace/name` or `namespace/name:port`, for services that nothing else resolves. */
  readonly services: Readonly<Record<string, string>>;
  /** Whether requests go to an endpoint of a service instead of its cluster IP. */
  readonly routesToEndpoints: boolean;
  /** Whether answers that redirect the client are refused. */
  readonly refusesRedirects: boolean;
}

const CERTIFICATE = '--proxy-client-cert-file';
const KEY = '--proxy-client-key-file';

/** Reads the rules of the settings. Throws ConfigError for a certificate without a key, and unreadable files. */
export function aggregationRules(settings: AggregationSettings): AggregationRules {
  const { proxyClientCertFile, proxyClientKeyFile } = settings;
  if ((proxyClientCertFile === undefined) !== (proxyClientKeyFile === undefined))
    throw new ConfigError(proxyClientKeyFile === undefined ? CERTIFICATE : KEY, `needs both ${CERTIFICATE} and ${KEY}`);
  return {
    credentials:
      proxyClientCertFile === undefined || proxyClientKeyFile === undefined
        ? undefined
        : { certificate: textOf(CERTIFICATE, proxyClientCertFile), key: textOf(KEY, proxyClientKeyFile) },
    services: webhookServices(settings),
    routesToEndpoints: settings.enableAggregatorRouting,
    refusesRedirects: settings.aggregatorRejectForwardingRedirect,
  };
}

function textOf(flag: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw unreadableError(flag, file, error);
  }
}
