import {
  authenticator,
  definePlugin,
  httpDocuments,
  metrics,
  type Plugin,
  tokenIssuer,
} from '../../../core/api/index.js';
import { serviceAccountTokens } from './authenticator.js';
import { parseConfig, type ServiceAccountConfig } from './config.js';
import { issuerDocuments } from './documents.js';
import { tokenIssuerOf } from './issuer.js';
import { TOKEN_METRICS } from './metrics.js';

/** Service accounts: makes and authenticates their tokens, and publishes the keys. */
export default definePlugin({
  name: 'service-account',
  parse: parseConfig,
  contribute: config => [
    authenticator.of(host => serviceAccountTokens(config, host)),
    tokenIssuer.of(host => tokenIssuerOf(config, host)),
    httpDocuments.of(host => issuerDocuments(config, host)),
    metrics.of(() => TOKEN_METRICS),
  ],
}) satisfies Plugin<ServiceAccountConfig>;
