import type { Host, Log } from '../../../core/api/host.js';
import { auditSink } from '../../../core/api/observe/audit.js';
import { watchFiles } from '../../../core/files/watchedFile.js';
import { namingOf } from '../../../core/naming.js';
import type { Plugins } from '../../../core/plugin/load/load.js';
import { systemTime } from '../../../core/runtime/clock.js';
import type { AuditPolicy } from '../../../core/services/audit/policy.js';
import { auditPolicyOf } from '../../../core/settings/audit.js';
import type { Settings } from '../../../core/settings/settings.js';
import type { ThreadScope } from '../../../core/threads/thread.js';
import { Audit, type AuditParts } from './audit.js';

/** The parts of the audit of a thread. */
interface AuditSources {
  readonly scope: Pick<ThreadScope, 'log' | 'closers'>;
  readonly plugins: Plugins;
  readonly settings: Pick<Settings, 'naming' | 'auditPolicyFile'>;
  readonly observe: Host<'front'>['observe'];
}

/**
 * The audit of requests; undefined if no plugin takes events, or there is no policy. The policy is read again when its
 * file changes. Throws ConfigError.
 */
export function openAudit({ settings, plugins, scope, observe }: AuditSources): Audit | undefined {
  const { log, closers } = scope;
  const sinks = plugins.at(auditSink);
  if (!sinks) return undefined;
  const policy = auditPolicyOf(settings);
  if (!policy) {
    log.warn({}, 'no audit events are recorded: --audit-policy-file is not set');
    return undefined;
  }
  warnOfUnknown(policy, settings, log);
  closers.add('the audit sinks', () => sinks.close());
  const parts: AuditParts = { policy, sinks, naming: namingOf(settings.naming), now: systemTime, observe };
  const watch = watchFiles([settings.auditPolicyFile!], () => reload(parts, settings, scope));
  closers.add('the audit policy', () => watch.close());
  return new Audit(parts);
}

/** Warns of fields that are ignored: the rules without them may match requests that should be recorded otherwise. */
function warnOfUnknown({ unknown }: AuditPolicy, { auditPolicyFile: file }: AuditSources['settings'], log: Log): void {
  if (unknown.length > 0) log.warn({ file, fields: unknown }, 'the audit policy has unknown fields, which are ignored');
}

/** Reads the policy again. If it cannot be used, that is logged and counted, and the previous policy stays in force. */
function reload(parts: AuditParts, settings: AuditSources['settings'], { log }: AuditSources['scope']): void {
  const count = (status: string): void => parts.observe('apiserver_audit_policy_reloads_total', { status }, 1);
  const { auditPolicyFile: file } = settings;
  try {
    parts.policy = auditPolicyOf(settings)!;
    warnOfUnknown(parts.policy, settings, log);
  } catch (error) {
    log.error({ file }, `the audit policy is not used, and the former one stays: ${(error as Error).message}`);
    count('failure');
    return;
  }
  log.info({ file }, 'the audit policy has changed and is used');
  count('success');
}
