import { closeSync, openSync } from 'node:fs';
import { ConfigError } from '../api/point.js';
import { auditPolicyOf } from '../settings/audit.js';
import type { Settings } from '../settings/settings.js';

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
