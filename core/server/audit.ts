import { closeSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import type { AuditLogConfig } from '../../plugins/audit/log/index.js';
import type { AuditWebhookConfig } from '../../plugins/audit/webhook.js';
import { ConfigError } from '../api/point.js';
import { auditPolicyOf } from '../settings/audit.js';
import type { Settings } from '../settings/settings.js';
import { readWebhookFile } from '../services/webhooks/kubeconfig.js';
import { atFlag } from '../settings/atFlag.js';
import { WRITE_MS } from '../limits.js';
import type { PluginSpec } from '../threads/data.js';

const at = (path: string): string => new URL(`../../plugins/audit/${path}`, import.meta.url).href;

/** Upstream's default size of a log, in megabytes. */
const DEFAULT_MEGABYTES = 100;
const MEGABYTE = 1024 * 1024;
const DAY_MS = 24 * 3_600_000;

type Delivery = AuditLogConfig['delivery'];

/** The settings of a sink, by the common part of its flags. */
interface SinkSettings {
  readonly mode: Settings['auditLogMode'];
  readonly bufferSize: number;
  readonly maxSize: number;
  readonly maxWaitMs: number;
  readonly isThrottled: boolean;
  readonly perSecond: number;
  readonly burst: number;
  readonly isTruncated: boolean;
  readonly maxBatchBytes: number;
  readonly maxEventBytes: number;
}

const logSettings = (settings: Settings): SinkSettings => ({
  mode: settings.auditLogMode,
  bufferSize: settings.auditLogBatchBufferSize,
  maxSize: settings.auditLogBatchMaxSize,
  maxWaitMs: settings.auditLogBatchMaxWait,
  isThrottled: settings.auditLogBatchThrottleEnable,
  perSecond: settings.auditLogBatchThrottleQps,
  burst: settings.auditLogBatchThrottleBurst,
  isTruncated: settings.auditLogTruncateEnabled,
  maxBatchBytes: settings.auditLogTruncateMaxBatchSize,
  maxEventBytes: settings.auditLogTruncateMaxEventSize,
});

const webhookSettings = (settings: Settings): SinkSettings => ({
  mode: settings.auditWebhookMode,
  bufferSize: settings.auditWebhookBatchBufferSize,
  maxSize: settings.auditWebhookBatchMaxSize,
  maxWaitMs: settings.auditWebhookBatchMaxWait,
  isThrottled: settings.auditWebhookBatchThrottleEnable,
  perSecond: settings.auditWebhookBatchThrottleQps,
  burst: settings.auditWebhookBatchThrottleBurst,
  isTruncated: settings.auditWebhookTruncateEnabled,
  maxBatchBytes: settings.auditWebhookTruncateMaxBatchSize,
  maxEventBytes: settings.auditWebhookTruncateMaxEventSize,
});

const deliveryOf = (sink: SinkSettings): Delivery => ({
  mode: sink.mode,
  batch: {
    bufferSize: sink.bufferSize,
    maxSize: sink.maxSize,
    maxWaitMs: sink.maxWaitMs,
    ...(sink.isThrottled && { throttle: { perSecond: sink.perSecond, burst: sink.burst } }),
  },
  ...(sink.isTruncated && { truncate: { maxEventBytes: sink.maxEventBytes, maxBatchBytes: sink.maxBatchBytes } }),
});

/** Throws ConfigError for settings of a sink that contradict each other. `flags`: the beginning of their names. */
function checkSink(sink: SinkSettings, flags: string): void {
  if (sink.mode === 'batch' && sink.isThrottled) {
    const why = `must be positive with ${flags}-batch-throttle-enable`;
    if (sink.perSecond === 0) throw new ConfigError(`${flags}-batch-throttle-qps`, why);
    if (sink.burst === 0) throw new ConfigError(`${flags}-batch-throttle-burst`, why);
  }
  if (sink.maxBatchBytes < sink.maxEventBytes)
    throw new ConfigError(
      `${flags}-truncate-max-batch-size`,
      `must be at least ${flags}-truncate-max-event-size, which is ${sink.maxEventBytes}`,
    );
}

function checkWritable(file: string): void {
  try {
    closeSync(openSync(file, 'a', 0o600));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const fix = code === 'ENOENT' ? `: make the folder ${dirname(file)}` : '';
    throw new ConfigError('--audit-log-path', `cannot write ${file}: ${code}${fix}`);
  }
}

/** Checks the settings of audit events, and creates the log file if there is a policy. Throws ConfigError. */
export function checkAudit(settings: Settings): Settings {
  const policy = auditPolicyOf(settings);
  const { auditLogPath, auditWebhookConfigFile: webhook } = settings;
  checkSink(logSettings(settings), '--audit-log');
  checkSink(webhookSettings(settings), '--audit-webhook');
  if (policy && auditLogPath !== undefined && auditLogPath !== '-') checkWritable(auditLogPath);
  if (webhook !== undefined)
    atFlag('--audit-webhook-config-file', () => void readWebhookFile(webhook, { allowsHttp: true }));
  return settings;
}

function logConfig(path: string, settings: Settings): AuditLogConfig {
  return {
    path,
    format: settings.auditLogFormat,
    rotation: {
      maxBytes: (settings.auditLogMaxsize || DEFAULT_MEGABYTES) * MEGABYTE,
      maxBackups: settings.auditLogMaxbackup,
      maxAgeMs: settings.auditLogMaxage * DAY_MS,
      compresses: settings.auditLogCompress,
    },
    delivery: deliveryOf(logSettings(settings)),
  };
}

/** The plugins that write audit events, if something is recorded, and the metrics of audit events. */
export function auditPlugins(settings: Settings): readonly PluginSpec[] {
  const {
    auditLogPath,
    auditWebhookConfigFile: file,
    auditPolicyFile,
    auditWebhookInitialBackoff: backoffMs,
  } = settings;
  // An answer may wait for a sink for as long as a request may take.
  const sink = (path: string, config: unknown): PluginSpec => ({
    use: at(path),
    config,
    threads: ['front'],
    timeout: WRITE_MS,
  });
  const specs: PluginSpec[] = [{ use: at('metrics.js'), threads: ['front'] }];
  if (auditPolicyFile === undefined) return specs;
  if (auditLogPath !== undefined) specs.push(sink('log/index.js', logConfig(auditLogPath, settings)));
  if (file === undefined) return specs;
  const config: AuditWebhookConfig = { file, backoffMs, delivery: deliveryOf(webhookSettings(settings)) };
  specs.push(sink('webhook.js', config));
  return specs;
}
