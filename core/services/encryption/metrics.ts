import type { MetricDefinition } from '../../api/observe/metrics.js';
import { serverHash } from '../../runtime/serverHash.js';
import type { KmsConfig, KmsObserver } from './kms/plugin.js';

/** Adds to a metric; see `Host.observe`. */
export type EncryptionObserver = (metric: string, labels: Readonly<Record<string, string>>, value: number) => void;

const RELOADS = 'apiserver_encryption_config_controller_automatic_reload';
const CALLS = 'apiserver_envelope_encryption_kms_operations_latency_seconds';
const RELOAD_LABELS = ['status', 'apiserver_id_hash'];

/** The metrics of encryption at rest, with upstream's names and labels. */
export const ENCRYPTION_METRICS: readonly MetricDefinition[] = [
  {
    name: `${RELOADS}s_total`,
    type: 'counter',
    help: 'Changes of the encryption file, by whether they were used.',
    labels: RELOAD_LABELS,
  },
  {
    name: `${RELOADS}_last_timestamp_seconds`,
    type: 'gauge',
    help: 'When the encryption file last changed, by whether that was used.',
    labels: RELOAD_LABELS,
  },
  {
    name: CALLS,
    type: 'histogram',
    help: 'How long calls of key management plugins took, by plugin, method and gRPC status.',
    labels: ['provider_name', 'method_name', 'grpc_status_code'],
    buckets: [0.0001, 0.001, 0.01, 0.1, 0.5, 1, 2.5, 5, 10, 15, 30, 60],
  },
];

/** Counts a change of the encryption file. */
export function observeReload(
  { observe, now }: { readonly observe: EncryptionObserver; readonly now: () => number },
  status: 'success' | 'failure',
): void {
  const labels = { status, apiserver_id_hash: serverHash() };
  observe(`${RELOADS}s_total`, labels, 1);
  observe(`${RELOADS}_last_timestamp_seconds`, labels, now() / 1000);
}

/** The observer of the calls of a plugin. */
export const observeCalls =
  (observe: EncryptionObserver, { name }: KmsConfig): KmsObserver =>
  (method, code, seconds) =>
    observe(CALLS, { provider_name: name, method_name: method, grpc_status_code: code }, seconds);
