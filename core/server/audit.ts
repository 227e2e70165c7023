import { readFileSync } from 'node:fs';
import { type AuditPolicy, parsePolicy } from '../audit/policy.js';
import { ConfigError } from '../api/point.js';
import { namingOf } from '../naming.js';
import type { Settings } from './settings.js';

/** The audit policy of the settings; undefined without one. Throws ConfigError. */
export function auditPolicyOf({ auditPolicyFile: file, naming }: Settings): AuditPolicy | undefined {
  if (file === undefined) return undefined;
  let yaml: string;
  try {
    yaml = readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError('--audit-policy-file', `cannot read ${file}: ${(error as NodeJS.ErrnoException).code}`);
  }
  return parsePolicy(yaml, file, namingOf(naming).group('audit.orchestrator.io'));
}

/** Checks the settings of the audit log. Throws ConfigError. */
export function checkAudit(settings: Settings): Settings {
  auditPolicyOf(settings);
  return settings;
}
