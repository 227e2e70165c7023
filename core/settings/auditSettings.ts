import { defaulted, file, switchedOff, switchedOn } from './setting.js';
import { count, duration, oneOf, rate, type Reader } from './values.js';

/** How a sink receives audit events: with `batch`, later and together; otherwise, answers wait for them. */
const MODES = ['batch', 'blocking', 'blocking-strict'] as const;

const MODE_HELP = 'batch, blocking or blocking-strict: whether answers wait for their audit events';
const BUFFER_HELP = 'audit events that wait for a batch; more are lost';
const SIZE_HELP = 'audit events of a batch';
const WAIT_HELP = 'how long a batch waits for more audit events';
const THROTTLE_HELP = 'limit the batches per second';
const QPS_HELP = 'batches per second, on average';
const BURST_HELP = 'batches at once after a pause';
const TRUNCATE_HELP = 'shorten audit events that are too large, and split batches that are';
const BATCH_BYTES_HELP = 'bytes of a batch, if they are limited';
const EVENT_BYTES_HELP = 'bytes of an audit event, if they are limited; bodies are left out of larger ones';
const VERSION_HELP = 'version of the audit events';

const BATCH_BYTES = 10 * 1024 * 1024;
const EVENT_BYTES = 100 * 1024;
const WAITING_EVENTS = 10_000;

/**
 * The version of events, which may be given with its group. There is only one; its group is in the naming of the
 * server.
 */
const eventVersion: Reader<'v1'> = (value, path) =>
  oneOf(['v1'] as const)(
    typeof value === 'string' ? value.replace(/^audit\.(?:orchestrator|k8s)\.io\//, '') : value,
    path,
  );

/** The settings of the audit log and of the webhook for audit events. */
export const AUDIT_SETTINGS = {
  /** YAML file that says which requests are recorded. It is read again when it changes. */
  auditPolicyFile: file('audit-policy-file', 'audit policy in YAML; without one, nothing is recorded'),
  /** File of audit events, or `-` for standard output. Absent, or without a policy: no log is written. */
  auditLogPath: file('audit-log-path', 'log of requests as JSON, - for standard output'),
  /** `legacy` writes a line of text for each event. */
  auditLogFormat: defaulted(
    'audit-log-format',
    'FORMAT',
    oneOf(['json', 'legacy'] as const),
    'json',
    'json or legacy: a line of JSON or of text for each event',
  ),
  auditLogVersion: defaulted('audit-log-version', 'VERSION', eventVersion, 'v1', VERSION_HELP),
  /** 0 keeps all. */
  auditLogMaxage: defaulted('audit-log-maxage', 'DAYS', count(0), 0, 'days that rotated logs are kept, 0 for ever'),
  auditLogMaxbackup: defaulted('audit-log-maxbackup', 'COUNT', count(0), 0, 'rotated logs that are kept, 0 for all'),
  auditLogMaxsize: defaulted(
    'audit-log-maxsize',
    'MEGABYTES',
    count(0),
    0,
    'size from which the log is rotated, 0 for 100',
  ),
  auditLogCompress: switchedOff('audit-log-compress', 'compress rotated logs with gzip'),
  auditLogMode: defaulted('audit-log-mode', 'MODE', oneOf(MODES), 'blocking', MODE_HELP),
  auditLogBatchBufferSize: defaulted('audit-log-batch-buffer-size', 'COUNT', count(1), WAITING_EVENTS, BUFFER_HELP),
  auditLogBatchMaxSize: defaulted('audit-log-batch-max-size', 'COUNT', count(1), 1, SIZE_HELP),
  auditLogBatchMaxWait: defaulted('audit-log-batch-max-wait', 'TIME', duration, 0, WAIT_HELP),
  auditLogBatchThrottleEnable: switchedOff('audit-log-batch-throttle-enable', THROTTLE_HELP),
  auditLogBatchThrottleQps: defaulted('audit-log-batch-throttle-qps', 'RATE', rate, 0, QPS_HELP),
  auditLogBatchThrottleBurst: defaulted('audit-log-batch-throttle-burst', 'COUNT', count(0), 0, BURST_HELP),
  auditLogTruncateEnabled: switchedOff('audit-log-truncate-enabled', TRUNCATE_HELP),
  auditLogTruncateMaxBatchSize: defaulted(
    'audit-log-truncate-max-batch-size',
    'BYTES',
    count(1),
    BATCH_BYTES,
    BATCH_BYTES_HELP,
  ),
  auditLogTruncateMaxEventSize: defaulted(
    'audit-log-truncate-max-event-size',
    'BYTES',
    count(1),
    EVENT_BYTES,
    EVENT_BYTES_HELP,
  ),
  /** Kubeconfig of the webhook. Absent, or without a policy: it is sent nothing. */
  auditWebhookConfigFile: file('audit-webhook-config-file', 'kubeconfig of a webhook that gets audit events'),
  auditWebhookVersion: defaulted('audit-webhook-version', 'VERSION', eventVersion, 'v1', VERSION_HELP),
  auditWebhookInitialBackoff: defaulted(
    'audit-webhook-initial-backoff',
    'TIME',
    duration,
    10_000,
    'pause before a batch that the webhook did not take is sent again',
  ),
  auditWebhookMode: defaulted('audit-webhook-mode', 'MODE', oneOf(MODES), 'batch', MODE_HELP),
  auditWebhookBatchBufferSize: defaulted(
    'audit-webhook-batch-buffer-size',
    'COUNT',
    count(1),
    WAITING_EVENTS,
    BUFFER_HELP,
  ),
  auditWebhookBatchMaxSize: defaulted('audit-webhook-batch-max-size', 'COUNT', count(1), 400, SIZE_HELP),
  auditWebhookBatchMaxWait: defaulted('audit-webhook-batch-max-wait', 'TIME', duration, 30_000, WAIT_HELP),
  auditWebhookBatchThrottleEnable: switchedOn('audit-webhook-batch-throttle-enable', THROTTLE_HELP),
  auditWebhookBatchThrottleQps: defaulted('audit-webhook-batch-throttle-qps', 'RATE', rate, 10, QPS_HELP),
  auditWebhookBatchThrottleBurst: defaulted('audit-webhook-batch-throttle-burst', 'COUNT', count(0), 15, BURST_HELP),
  auditWebhookTruncateEnabled: switchedOff('audit-webhook-truncate-enabled', TRUNCATE_HELP),
  auditWebhookTruncateMaxBatchSize: defaulted(
    'audit-webhook-truncate-max-batch-size',
    'BYTES',
    count(1),
    BATCH_BYTES,
    BATCH_BYTES_HELP,
  ),
  auditWebhookTruncateMaxEventSize: defaulted(
    'audit-webhook-truncate-max-event-size',
    'BYTES',
    count(1),
    EVENT_BYTES,
    EVENT_BYTES_HELP,
  ),
};
