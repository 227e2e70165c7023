import { closeSync, openSync, readFileSync } from 'node:fs';
import { type AuditPolicy, parsePolicy } from '../audit/policy.js';
import { ConfigError } from '../api/point.js';
import { namingOf } from '../naming.js';
import { atFlag } from './atFlag.js';
import type { Settings } from './settings.js';

/** The audit policy of the settings; undefined without one. Throws ConfigError. */
export function auditPolicyOf({
  auditPolicyFile: file,
  naming,
}: Pick<Settings, 'auditPolicyFile' | 'naming'>): AuditPolicy | undefined {
  if (file === undefined) return undefined;
  let yaml: string;
  try {
    yaml = readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError('--audit-policy-file', `cannot read ${file}: ${(error as NodeJS.ErrnoException).code}`);
  }
  return atFlag('--audit-policy-file', () => parsePolicy(yaml, file, namingOf(naming).group('audit.orchestrator.io')));
}

function checkWritable(file: string): void {
  try {
    closeSync(openSync(file, 'a', 0o600));
  } catch (error) {
    throw new ConfigError('--audit-log-path', `cannot write ${file}: ${(error as NodeJS.ErrnoException).code}`);
  }
}

/** Checks the settings of the audit log, and makes its file if there is a policy. Throws ConfigError. */
export function checkAudit(settings: Settings): Settings {
  const policy = auditPolicyOf(settings);
  const { auditLogPath } = settings;
  if (policy && auditLogPath !== undefined && auditLogPath !== '-') checkWritable(auditLogPath);
  return settings;
}
