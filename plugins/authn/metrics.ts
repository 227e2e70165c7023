import { definePlugin, type MetricDefinition, metrics, type Plugin } from '../../core/api/index.js';

const RELOAD_LABELS = ['status', 'apiserver_id_hash'];

/** Upstream's names and labels. */
const AUTHENTICATION: readonly MetricDefinition[] = [
  {
    name: 'apiserver_authentication_config_controller_automatic_reloads_total',
    type: 'counter',
    help: 'Changes of the authentication file, by whether they were used.',
    labels: RELOAD_LABELS,
  },
  {
    name: 'apiserver_authentication_config_controller_automatic_reload_last_timestamp_seconds',
    type: 'gauge',
    help: 'When the authentication file last changed, by whether that was used.',
    labels: RELOAD_LABELS,
  },
  {
    name: 'apiserver_authentication_jwt_authenticator_latency_seconds',
    type: 'histogram',
    help: 'How long tokens of identity providers took that were not known.',
    labels: ['result', 'jwt_issuer_hash'],
    buckets: Array.from({ length: 15 }, (_, i) => 0.001 * 2 ** i),
  },
  {
    name: 'apiserver_delegated_authn_request_total',
    type: 'counter',
    help: 'Calls of the webhook for tokens, by the code of the answer.',
    labels: ['code'],
  },
  {
    name: 'apiserver_delegated_authn_request_duration_seconds',
    type: 'histogram',
    help: 'How long such calls took.',
    labels: ['code'],
    buckets: [0.25, 0.5, 0.7, 1, 1.5, 3, 5, 10],
  },
  {
    name: 'authentication_token_cache_request_total',
    type: 'counter',
    help: 'Bearer tokens of identity providers and of the webhook, by whether they were known.',
    labels: ['status'],
  },
  {
    name: 'authentication_token_cache_fetch_total',
    type: 'counter',
    help: 'Such tokens that were verified, by whether that succeeded.',
    labels: ['status'],
  },
];

/** The metrics of authenticators. */
export default definePlugin({
  name: 'authentication-metrics',
  parse: () => null,
  contribute: () => [metrics.of(() => AUTHENTICATION)],
}) satisfies Plugin<null>;
