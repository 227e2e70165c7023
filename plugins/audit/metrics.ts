import { definePlugin, type MetricDefinition, metrics, type Plugin } from '../../core/api/index.js';

/** Upstream's names and labels, and one of the server for the policy. */
const AUDIT: readonly MetricDefinition[] = [
  { name: 'apiserver_audit_event_total', type: 'counter', help: 'Audit events that sinks were given.' },
  {
    name: 'apiserver_audit_error_total',
    type: 'counter',
    help: 'Audit events that were lost, by the part that has lost them.',
    labels: ['plugin'],
  },
  {
    name: 'apiserver_audit_level_total',
    type: 'counter',
    help: 'Requests by the level that the audit policy gives them.',
    labels: ['level'],
  },
  {
    name: 'apiserver_audit_requests_rejected_total',
    type: 'counter',
    help: 'Requests that were refused because their audit event could not be written.',
  },
  {
    name: 'apiserver_audit_policy_reloads_total',
    type: 'counter',
    help: 'Changes of the audit policy file, by whether they were used.',
    labels: ['status'],
  },
];

/** The metrics of audit events. */
export default definePlugin({
  name: 'audit-metrics',
  parse: () => null,
  contribute: () => [metrics.of(() => AUDIT)],
}) satisfies Plugin<null>;
